"""One page that answers: is it keeping up, what fails, what does it cost?"""

from collections.abc import Sequence
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra.console import ConsoleStack
from infra.console_figures import what_the_console_does
from infra.costs import consumed, estimated
from infra.data import DataStack
from infra.function import HandlerFunction
from infra.gateway import GatewayStack
from infra.measurements import found, graph, metric, of_function, of_queue, ours, total
from infra.pipeline import PipelineStack
from infra.queues import ConsumedQueue
from infra.search_figures import what_agents_get
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
        dashboard.add_widgets(*self._is_it_keeping_up())
        dashboard.add_widgets(*self._what_waits())
        dashboard.add_widgets(*self._what_fails())
        dashboard.add_widgets(*what_agents_get())
        if self.console is not None:
            dashboard.add_widgets(*what_the_console_does(self.console))
        dashboard.add_widgets(*self._what_it_costs())
        return dashboard

    def _is_it_keeping_up(self) -> list[cloudwatch.IWidget]:
        queues = [queue.name for queue in [*self.pipeline.queues, *self._runs_of_agents()]]
        # Whoever settles a document counts it: `ingest` by direct calls, `status_poller` by jobs.
        delays = [
            found(
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
                [found("DocumentsSettled", "outcome"), found("IndexedWithGaps")],
            ),
            graph(
                "Bedrock polled, and how often it was busy",
                [found("Polls"), found("BusyAnswers")],
            ),
            graph(
                "Messages waiting",
                [of_queue(name, "ApproximateNumberOfMessagesVisible") for name in queues],
            ),
            graph(
                "Age of the oldest message (s)",
                [of_queue(name, "ApproximateAgeOfOldestMessage") for name in queues],
            ),
            graph("Runs", [self._runs("ExecutionsStarted"), self._runs("ExecutionsSucceeded")]),
        ]

    def _what_waits(self) -> list[cloudwatch.IWidget]:
        """What the sweep and the reconciler count when they look."""
        return [
            graph("Longest wait for Bedrock (s)", [_seen("OldestWaitSeconds")]),
            graph("Runs parked, runs admitted", [_seen("ParkedRuns"), _seen("Grants")]),
            graph("Jobs and direct calls", [found("IngestionJobs"), found("DirectCalls")]),
            graph("Discrepancies found, by kind", [found("ReconcilerFindings", "kind")]),
        ]

    def _what_fails(self) -> list[cloudwatch.IWidget]:
        handlers = self._handlers()
        dead = [queue.name for queue in self.pipeline.dead_letters]
        dead += [queue.dead_letters.name for queue in self._runs_of_agents()]
        endings = ("ExecutionsFailed", "ExecutionsTimedOut", "ExecutionsAborted")
        broken: list[cloudwatch.IMetric] = [*map(self._runs, endings), found("CatalogsSetAside")]
        return [
            graph(
                "Dead letters",
                [of_queue(name, "ApproximateNumberOfMessagesVisible") for name in dead],
            ),
            graph("Broken runs, catalogs set aside", broken),
            graph(
                "Rejected uploads, failures without a name",
                [found("RejectedUploads"), found("UnexplainedFailures")],
            ),
            graph(
                "Events and webhook calls",
                [found(each) for each in ("EventsPublished", "WebhookDelivered", "WebhookFailed")],
            ),
            graph("Function errors", [of_function(each, "Errors") for each in handlers]),
            graph(
                "Function duration, p95 (ms)",
                [of_function(each, "Duration", statistic="p95") for each in handlers],
            ),
            graph(
                "Throttled",
                [
                    total([of_function(each, "Throttles") for each in handlers], label="functions"),
                    total(self._table_throttles(), label="tables"),
                    self.gateway.gateway.metric_throttles(label="gateway"),
                ],
            ),
        ]

    def _what_it_costs(self) -> list[cloudwatch.IWidget]:
        tables = self.data.table_names
        pages = [ours(each, "inspect", label=each) for each in ("OcrPages", "OcrPagesFailed")]
        return [
            graph(
                "Estimated dollars per 5 minutes",
                estimated(functions=self._handlers(), tables=tables, ocr=self.ocr),
                stacked=True,
            ),
            graph(
                "Table units consumed",
                [
                    total(consumed(tables, "Read"), label="read"),
                    total(consumed(tables, "Write"), label="written"),
                ],
            ),
            graph("Bytes stored", [self._stored()]),
            *([graph("Pages read by OCR", pages)] if self.ocr else []),
        ]

    def _handlers(self) -> list[HandlerFunction]:
        further = [*(self.console.handlers if self.console else [])]
        if self.gateway.prewarm is not None:
            further.append(self.gateway.prewarm)
        return [*self.pipeline.handlers, *self.gateway.handlers, *further]

    def _runs_of_agents(self) -> list[ConsumedQueue]:
        return [self.console.runs.queue] if self.console else []

    def _runs(self, name: str) -> cloudwatch.Metric:
        label = name.removeprefix("Executions").lower()
        dimensions = {"StateMachineArn": self.state_machine_arn}
        return metric("AWS/States", name, dimensions, label=label)

    def _table_throttles(self) -> list[cloudwatch.Metric]:
        return [
            metric("AWS/DynamoDB", name, {"TableName": table})
            for table in self.data.table_names
            for name in ("ReadThrottleEvents", "WriteThrottleEvents")
        ]

    def _stored(self) -> cloudwatch.Metric:
        """Once a day and free; metrics of S3 requests would cost more than the requests do."""
        return metric(
            "AWS/S3",
            "BucketSizeBytes",
            {"BucketName": self.data.bucket.bucket_name, "StorageType": "StandardStorage"},
            statistic="Average",
            label="documents and their versions",
            period=cdk.Duration.days(1),
        )


def _seen(name: str) -> cloudwatch.Metric:
    """A figure of the sweep, which looks every five minutes."""
    return ours(name, "ingest", statistic="Maximum", label=name)
