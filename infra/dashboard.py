"""The CloudWatch dashboard: whether ingestion keeps up, what fails, and what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra.console import ConsoleStack
from infra.console_figures import console_widgets
from infra.costs import consumed_capacity, estimated_costs
from infra.data import DataStack
from infra.function import HandlerFunction
from infra.gateway import GatewayStack
from infra.measurements import (
    function_metric,
    graph,
    metric,
    own_metric,
    queue_metric,
    search_metric,
    total,
)
from infra.pipeline import PipelineStack
from infra.queues import ConsumedQueue
from infra.search_figures import search_widgets
from infra.signals import signals


@dataclass(frozen=True, kw_only=True)
class Dashboard:
    data: DataStack
    pipeline: PipelineStack
    gateway: GatewayStack
    console: ConsoleStack | None
    state_machine_arn: str
    alarms: Sequence[cloudwatch.IAlarm]
    ocr: bool

    def add_to(self, scope: Construct, name: str) -> cloudwatch.Dashboard:
        dashboard = cloudwatch.Dashboard(
            scope,
            "Dashboard",
            dashboard_name=name,
            default_interval=cdk.Duration.hours(12),
            period_override=cloudwatch.PeriodOverride.AUTO,
        )
        dashboard.add_widgets(
            cloudwatch.AlarmStatusWidget(
                title="Alarms", alarms=list(self.alarms), width=24, height=3
            )
        )
        dashboard.add_widgets(*signals(with_chat=self.console is not None))
        dashboard.add_widgets(*self._throughput())
        dashboard.add_widgets(*self._waiting())
        dashboard.add_widgets(*self._failures())
        dashboard.add_widgets(*search_widgets())
        if self.console is not None:
            dashboard.add_widgets(*console_widgets(self.console))
        dashboard.add_widgets(*self._costs())
        return dashboard

    def _throughput(self) -> list[cloudwatch.IWidget]:
        queues = [queue.name for queue in [*self.pipeline.queues, *self._agent_queues()]]
        # `ingest` settles documents of direct calls, `status_poller` those of jobs.
        delays = [
            search_metric(
                "UploadToIndexedSeconds",
                statistic=statistic,
                label=f"${{PROP('Dim.service')}}, {statistic}",
            )
            for statistic in ("p50", "p90", "Maximum")
        ]
        return [
            graph("From upload to searchable (s)", delays),
            graph(
                "Documents settled, by outcome",
                [search_metric("DocumentsSettled", "outcome"), search_metric("IndexedWithGaps")],
            ),
            graph(
                "Bedrock polled, and how often it was busy",
                [search_metric("Polls"), search_metric("BusyAnswers")],
            ),
            graph(
                "Messages waiting",
                [queue_metric(name, "ApproximateNumberOfMessagesVisible") for name in queues],
            ),
            graph(
                "Age of the oldest message (s)",
                [queue_metric(name, "ApproximateAgeOfOldestMessage") for name in queues],
            ),
            graph(
                "Runs",
                [
                    self._execution_metric("ExecutionsStarted"),
                    self._execution_metric("ExecutionsSucceeded"),
                ],
            ),
        ]

    def _waiting(self) -> list[cloudwatch.IWidget]:
        """Return graphs of what the sweep and the reconciler count."""
        return [
            graph("Longest wait for Bedrock (s)", [_sweep_metric("OldestWaitSeconds")]),
            graph(
                "Runs parked, runs admitted", [_sweep_metric("ParkedRuns"), _sweep_metric("Grants")]
            ),
            graph(
                "Jobs and direct calls",
                [search_metric("IngestionJobs"), search_metric("DirectCalls")],
            ),
            graph("Discrepancies found, by kind", [search_metric("ReconcilerFindings", "kind")]),
        ]

    def _failures(self) -> list[cloudwatch.IWidget]:
        handlers = self._handlers()
        dead = [queue.name for queue in self.pipeline.dead_letters]
        dead += [queue.dead_letters.name for queue in self._agent_queues()]
        endings = ("ExecutionsFailed", "ExecutionsTimedOut", "ExecutionsAborted")
        broken: list[cloudwatch.IMetric] = [
            *map(self._execution_metric, endings),
            search_metric("CatalogsSetAside"),
        ]
        return [
            graph(
                "Dead letters",
                [queue_metric(name, "ApproximateNumberOfMessagesVisible") for name in dead],
            ),
            graph("Broken runs, catalogs set aside", broken),
            graph(
                "Rejected uploads, failures without a name",
                [search_metric("RejectedUploads"), search_metric("UnexplainedFailures")],
            ),
            graph(
                "Events and webhook calls",
                [
                    search_metric(each)
                    for each in ("EventsPublished", "WebhookDelivered", "WebhookFailed")
                ],
            ),
            graph("Function errors", [function_metric(each, "Errors") for each in handlers]),
            graph(
                "Function duration, p95 (ms)",
                [function_metric(each, "Duration", statistic="p95") for each in handlers],
            ),
            graph(
                "Throttled",
                [
                    total(
                        [function_metric(each, "Throttles") for each in handlers], label="functions"
                    ),
                    total(self._table_throttles(), label="tables"),
                    self.gateway.gateway.metric_throttles(label="gateway"),
                ],
            ),
        ]

    def _costs(self) -> list[cloudwatch.IWidget]:
        tables = self.data.table_names
        pages = [own_metric(each, "inspect", label=each) for each in ("OcrPages", "OcrPagesFailed")]
        return [
            graph(
                "Estimated dollars per 5 minutes",
                estimated_costs(functions=self._handlers(), tables=tables, ocr=self.ocr),
                stacked=True,
            ),
            graph(
                "Table units consumed",
                [
                    total(consumed_capacity(tables, "Read"), label="read"),
                    total(consumed_capacity(tables, "Write"), label="written"),
                ],
            ),
            graph("Bytes stored", [self._stored_bytes()]),
            *([graph("Pages read by OCR", pages)] if self.ocr else []),
        ]

    def _handlers(self) -> list[HandlerFunction]:
        further = self.console.handlers if self.console else []
        return [*self.pipeline.handlers, *self.gateway.handlers, *further]

    def _agent_queues(self) -> list[ConsumedQueue]:
        return [self.console.runs.queue] if self.console else []

    def _execution_metric(self, name: str) -> cloudwatch.Metric:
        label = name.removeprefix("Executions").lower()
        dimensions = {"StateMachineArn": self.state_machine_arn}
        return metric("AWS/States", name, dimensions, label=label)

    def _table_throttles(self) -> list[cloudwatch.Metric]:
        return [
            metric("AWS/DynamoDB", name, {"TableName": table})
            for table in self.data.table_names
            for name in ("ReadThrottleEvents", "WriteThrottleEvents")
        ]

    def _stored_bytes(self) -> cloudwatch.Metric:
        """
        Return the bucket's size, daily and free; S3's request metrics would cost more than
        requests.
        """
        return metric(
            "AWS/S3",
            "BucketSizeBytes",
            {"BucketName": self.data.bucket.bucket_name, "StorageType": "StandardStorage"},
            statistic="Average",
            label="documents and their versions",
            period=cdk.Duration.days(1),
        )


def _sweep_metric(name: str) -> cloudwatch.Metric:
    """Return a metric of the sweep, which runs every five minutes."""
    return own_metric(name, "ingest", statistic="Maximum", label=name)
