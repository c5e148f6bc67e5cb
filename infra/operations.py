"""What an operator looks at, and what calls them: one dashboard, and alarms on one topic."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from infra.access_queries import keep_access_queries
from infra.alarms import Alarms, alarm_topic, monthly_budget
from infra.console import ConsoleStack
from infra.console_figures import console_alarms
from infra.dashboard import Dashboard
from infra.data import DataStack
from infra.deployment import Deployment
from infra.gateway import GatewayStack
from infra.measurements import metric, of_function, of_queue, ours, total
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
        self._prewarm = gateway.prewarm
        # An alarm counts ten figures at most, and what fails in the publisher makes events late.
        # https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-limits.html
        counted = [each for each in pipeline.handlers if each is not pipeline.events.publisher]
        self._handlers = [*counted, *gateway.handlers]
        self._queues, self._dead_letters = [*pipeline.queues], [*pipeline.dead_letters]
        if console is not None:
            # Its other function answers API Gateway, which counts what fails there.
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
            *self._prewarm_alarms(),
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
        keep_access_queries(self, deployment=deployment, readers=[*self._tools, *further])

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
                of_queue(
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
                of_queue(
                    queue.name, "ApproximateAgeOfOldestMessage", period=cdk.Duration.minutes(5)
                ),
                threshold=15 * 60,
                description=f"{queue.name} has a message older than 15 minutes: its function is"
                " failing or throttled.",
            )
            for queue in self._queues
        ]

    def _late_events_alarm(self) -> cloudwatch.Alarm:
        """What a stream holds is gone after a day."""
        return self._alarms.on(
            "EventsLate",
            of_function(self._pipeline.events.publisher, "IteratorAge", statistic="Maximum"),
            threshold=15 * 60 * 1000,
            description="A change was told to nobody for 15 minutes: the log of event_publisher"
            " says why.",
        )

    def _long_wait_alarm(self) -> cloudwatch.Alarm:
        return self._alarms.on(
            "LongWait",
            ours("OldestWaitSeconds", "ingest", statistic="Maximum"),
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
        """No run breaks over what keeps one catalog's documents waiting."""
        figure = ours("CatalogsSetAside", "ingest", statistic="Sum")
        what = "A run set a catalog aside over an error: the log of ingest names both."
        return self._alarms.on("CatalogsSetAside", figure, threshold=1, description=what)

    def _failed_documents_alarm(self) -> cloudwatch.Alarm:
        """Ten, because a person's broken file is no incident and a broken pipeline fails many."""
        services = [handler.service for handler in self._pipeline.handlers]
        failures = [ours("DocumentsSettled", service, outcome="failed") for service in services]
        return self._alarms.on(
            "FailedDocuments",
            total(failures, label="failed documents"),
            threshold=10,
            description="Ten documents failed within five minutes: their records say why.",
        )

    def _failing_bedrock_alarm(self) -> cloudwatch.Alarm:
        """Five, because one may be its own; after the first tries, one at a time is made."""
        return self._alarms.on(
            "BedrockFails",
            ours("DocumentsSettled", "status_poller", outcome="postponed"),
            threshold=5,
            description="Bedrock failed over five documents within five minutes and gave no"
            " reason: they are tried again by themselves for a day.",
        )

    def _tool_faults_alarm(self) -> cloudwatch.Alarm:
        """Five, because a call that fails once is one that its agent repeats."""
        return self._alarms.on(
            "ToolFaults",
            total([ours("ToolFaults", tool.service) for tool in self._tools], label="faults"),
            threshold=5,
            description="Tools failed for reasons of their own within five minutes: their log"
            " groups say why.",
        )

    def _function_throttles_alarm(self) -> cloudwatch.Alarm:
        return self._alarms.on(
            "FunctionThrottles",
            total(self._of_functions("Throttles"), label="throttled"),
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
            total(self._of_functions("Errors"), label="errors"),
            threshold=5,
            description="Functions raised: the log group of the one on the dashboard says why.",
        )

    def _prewarm_alarms(self) -> list[cloudwatch.Alarm]:
        """One of its own, because the others count ten functions already. Lambda tries again."""
        if self._prewarm is None:
            return []
        return [
            self._alarms.on(
                "PrewarmErrors",
                of_function(self._prewarm, "Errors"),
                threshold=2,
                description="Knowledge bases could not be pre-warmed, nor a minute later: the log"
                " of prewarm says why.",
            )
        ]

    def _title(self, queue_name: str) -> str:
        """Of `stackroom-agent-runs`: AgentRuns."""
        return queue_name.removeprefix(f"{self._deployment.project}-").title().replace("-", "")

    def _of_functions(self, name: str) -> Sequence[cloudwatch.Metric]:
        return [of_function(handler, name) for handler in self._handlers]
