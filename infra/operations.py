"""The operations stack: one dashboard, and alarms on one topic."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra.access_queries import save_access_queries
from infra.alarms import Alarms, alarm_topic, monthly_budget
from infra.console import ConsoleStack
from infra.console_figures import console_alarms
from infra.dashboard import Dashboard
from infra.data import DataStack
from infra.deployment import Deployment
from infra.gateway import GatewayStack
from infra.measurements import function_metric, metric, own_metric, queue_metric, total
from infra.pipeline import PipelineStack
from infra.search_figures import unready_indexes_alarm, withheld_passages_alarm


class OperationsStack(cdk.Stack):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        data: DataStack,
        pipeline: PipelineStack,
        gateway: GatewayStack,
        console: ConsoleStack | None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._deployment = deployment
        self._data = data
        self._pipeline = pipeline
        self._tools = gateway.tools
        # An alarm may have ten metrics, and errors of the publisher show as late events.
        # https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-limits.html
        counted = [each for each in pipeline.handlers if each is not pipeline.events.publisher]
        self._handlers = [*counted, *gateway.handlers]
        self._queues, self._dead_letters = [*pipeline.queues], [*pipeline.dead_letters]
        if console is not None:
            # API Gateway counts the errors of the console's other function.
            self._handlers.append(console.runs.runner)
            self._queues.append(console.runs.queue)
            self._dead_letters.append(console.runs.queue.dead_letters)
        settings = deployment.operations
        topic = alarm_topic(self, project=deployment.project, email=settings.alarm_email)
        if settings.monthly_budget:
            # Budgets are global to an account, as dashboards are.
            monthly_budget(
                self,
                name=deployment.dashboard_name,
                dollars=settings.monthly_budget,
                topic=topic,
            )
        self._alarms = Alarms(scope=self, project=deployment.project, topic=topic)

        alarms = [
            *self._dead_letter_alarms(),
            *self._age_alarms(),
            self._late_events_alarm(),
            self._long_wait_alarm(),
            self._broken_runs_alarm(),
            self._set_aside_alarm(),
            self._failed_documents_alarm(),
            self._failing_bedrock_alarm(),
            withheld_passages_alarm(self._alarms),
            unready_indexes_alarm(self._alarms),
            self._tool_faults_alarm(),
            self._function_throttles_alarm(),
            self._table_throttles_alarm(),
            self._errors_alarm(),
            *console_alarms(self._alarms, console),
        ]
        dashboard = Dashboard(
            data=data,
            pipeline=pipeline,
            gateway=gateway,
            console=console,
            state_machine_arn=deployment.state_machine_arn(self),
            alarms=alarms,
            ocr=deployment.ingestion.ocr != "none",
        ).add_to(self, deployment.dashboard_name)

        further = console.handlers if console else []
        save_access_queries(self, deployment=deployment, readers=[*self._tools, *further])

        cdk.CfnOutput(self, "AlarmTopicArn", value=topic.topic_arn)
        page = f"https://{self.region}.console.aws.amazon.com/cloudwatch/home"
        cdk.CfnOutput(
            self,
            "DashboardUrl",
            value=f"{page}?region={self.region}#dashboards/dashboard/{dashboard.dashboard_name}",
        )

    def _dead_letter_alarms(self) -> list[cloudwatch.Alarm]:
        return [
            self._alarms.on(
                f"{self._title(queue.name.removesuffix('.fifo').removesuffix('-dead'))}Undeliverable",
                queue_metric(
                    queue.name,
                    "ApproximateNumberOfMessagesVisible",
                    period=cdk.Duration.minutes(1),
                ),
                threshold=1,
                description=f"Messages in {queue.name}: read one, mend its cause, then redrive or"
                " purge the queue, as docs/operations.md says.",
            )
            for queue in self._dead_letters
        ]

    def _age_alarms(self) -> list[cloudwatch.Alarm]:
        return [
            self._alarms.on(
                f"{self._title(queue.name)}Late",
                queue_metric(
                    queue.name, "ApproximateAgeOfOldestMessage", period=cdk.Duration.minutes(5)
                ),
                threshold=15 * 60,
                description=f"{queue.name} has a message older than 15 minutes: its function is"
                " failing or throttled.",
            )
            for queue in self._queues
        ]

    def _late_events_alarm(self) -> cloudwatch.Alarm:
        """Create the alarm on late events: a stream drops its records after a day."""
        return self._alarms.on(
            "EventsLate",
            function_metric(self._pipeline.events.publisher, "IteratorAge", statistic="Maximum"),
            threshold=15 * 60 * 1000,
            description="A change was told to nobody for 15 minutes: the log of event_publisher"
            " says why.",
        )

    def _long_wait_alarm(self) -> cloudwatch.Alarm:
        return self._alarms.on(
            "LongWait",
            own_metric("OldestWaitSeconds", "ingest", statistic="Maximum"),
            threshold=60 * 60,
            description="A run has waited an hour to be admitted to Bedrock: more arrives than"
            " the account's quotas let in, or admissions are not given back.",
        )

    def _broken_runs_alarm(self) -> cloudwatch.Alarm:
        machine = {"StateMachineArn": self._deployment.state_machine_arn(self)}
        endings = ("ExecutionsFailed", "ExecutionsTimedOut", "ExecutionsAborted")
        return self._alarms.on(
            "BrokenRuns",
            total([metric("AWS/States", name, machine) for name in endings], label="broken runs"),
            threshold=1,
            description="A run failed, timed out or was aborted: its history says where.",
        )

    def _set_aside_alarm(self) -> cloudwatch.Alarm:
        """Create the alarm on catalogs that were set aside, over which no run fails."""
        metric = own_metric("CatalogsSetAside", "ingest", statistic="Sum")
        description = "A run set a catalog aside over an error: the log of ingest names both."
        return self._alarms.on("CatalogsSetAside", metric, threshold=1, description=description)

    def _failed_documents_alarm(self) -> cloudwatch.Alarm:
        """
        Create the alarm on ten failures: one broken file is no incident, a broken pipeline fails
        many.
        """
        services = [handler.service for handler in self._pipeline.handlers]
        failures = [
            own_metric("DocumentsSettled", service, outcome="failed") for service in services
        ]
        return self._alarms.on(
            "FailedDocuments",
            total(failures, label="failed documents"),
            threshold=10,
            description="Ten documents failed within five minutes: their records say why.",
        )

    def _failing_bedrock_alarm(self) -> cloudwatch.Alarm:
        """
        Create the alarm on five failures: a single file may fail by itself, and is retried alone.
        """
        return self._alarms.on(
            "BedrockFails",
            own_metric("DocumentsSettled", "status_poller", outcome="postponed"),
            threshold=5,
            description="Bedrock failed over five documents within five minutes and gave no"
            " reason: they are tried again by themselves for a day.",
        )

    def _tool_faults_alarm(self) -> cloudwatch.Alarm:
        """Create the alarm on five faults: an agent repeats a call that fails once."""
        return self._alarms.on(
            "ToolFaults",
            total([own_metric("ToolFaults", tool.service) for tool in self._tools], label="faults"),
            threshold=5,
            description="Tools failed for reasons of their own within five minutes: their log"
            " groups say why.",
        )

    def _function_throttles_alarm(self) -> cloudwatch.Alarm:
        return self._alarms.on(
            "FunctionThrottles",
            total(self._function_metrics("Throttles"), label="throttled"),
            threshold=10,
            description="Functions were throttled: raise the account's concurrency limit.",
        )

    def _table_throttles_alarm(self) -> cloudwatch.Alarm:
        throttles = [
            metric("AWS/DynamoDB", name, {"TableName": table})
            for table in self._data.table_names
            for name in ("ReadThrottleEvents", "WriteThrottleEvents")
        ]
        return self._alarms.on(
            "TableThrottles",
            total(throttles, label="throttled"),
            threshold=10,
            description="Tables were throttled: on demand that means a hot key.",
        )

    def _errors_alarm(self) -> cloudwatch.Alarm:
        return self._alarms.on(
            "FunctionErrors",
            total(self._function_metrics("Errors"), label="errors"),
            threshold=5,
            description="Functions raised: the log group of the one on the dashboard says why.",
        )

    def _title(self, queue_name: str) -> str:
        """Return `AgentRuns` for the queue `stackroom-agent-runs`."""
        return queue_name.removeprefix(f"{self._deployment.project}-").title().replace("-", "")

    def _function_metrics(self, name: str) -> Sequence[cloudwatch.Metric]:
        return [function_metric(handler, name) for handler in self._handlers]
