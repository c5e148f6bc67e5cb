"""From an object in the bucket to a searchable document: queues, functions, state machine."""

import json
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.acknowledgments import accept, accept_wildcard
from infra.bundling import INSPECT, ROOT
from infra.data import PAGE_MAPS, SIDECARS, DataStack
from infra.deployment import Deployment
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from infra.queue import ConsumedQueue, DeadLetters

DEFINITION = ROOT / "statemachines" / "ingest_catalog.asl.json"


class PipelineStack(cdk.Stack):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        data: DataStack,
        knowledge_base: KnowledgeBaseStack,
        definition: Path = DEFINITION,
    ) -> None:
        super().__init__(scope, construct_id)
        self._deployment = deployment
        self._data = data
        self._knowledge_base = knowledge_base

        self.upload_handler = self._upload_handler()
        self.inspect = self._inspect()
        self.ingest = self._ingest()
        self.status_poller = self._status_poller()

        self.uploads = ConsumedQueue(
            self,
            "Uploads",
            queue_name=f"{deployment.project}-uploads",
            consumer=self.upload_handler,
            batch_size=100,
            batch_window=cdk.Duration.seconds(5),
        )
        self.inspections = ConsumedQueue(
            self,
            "Inspections",
            queue_name=f"{deployment.project}-inspections",
            consumer=self.inspect,
            batch_size=5,
            batch_window=cdk.Duration.seconds(0),
        )
        self.queues = [self.uploads, self.inspections]
        self._route_object_events()

        self.state_machine = self._state_machine(definition)
        self.recovery_dead_letters = DeadLetters(
            self, "RecoveryDeadLetters", queue_name=f"{deployment.project}-recovery-dead"
        )
        self._recover_broken_runs()
        self._sweep()

        self.handlers = [self.upload_handler, self.inspect, self.ingest, self.status_poller]
        self.dead_letters = [
            *(consumed.dead_letters for consumed in self.queues),
            self.recovery_dead_letters,
        ]

        cdk.CfnOutput(self, "StateMachineArn", value=self.state_machine.state_machine_arn)
        cdk.CfnOutput(self, "UploadsQueueUrl", value=self.uploads.queue.queue_url)

    def _upload_handler(self) -> HandlerFunction:
        handler = HandlerFunction(
            self,
            "UploadHandler",
            deployment=self._deployment,
            package="upload_handler",
            timeout=cdk.Duration.seconds(60),
            memory_size=512,
            environment={**self._stores(), "STATE_MACHINE_ARN": self._state_machine_arn()},
        )
        for table in self._tables():
            handler.allow(
                "dynamodb:GetItem",
                "dynamodb:PutItem",
                "dynamodb:UpdateItem",
                "dynamodb:DeleteItem",
                "dynamodb:ConditionCheckItem",
                "dynamodb:Query",
                on=table,
            )
        handler.allow("dynamodb:Query", on=self._catalogs_by_user())
        self._let_read_documents(handler)
        handler.allow(
            "s3:PutObject",
            "s3:DeleteObject",
            on=self._deployment.document_arns(self, SIDECARS),
            because="One sidecar per document.",
        )
        self._let_run(handler)
        return handler

    def _inspect(self) -> HandlerFunction:
        handler = HandlerFunction(
            self,
            "Inspect",
            deployment=self._deployment,
            package="inspect",
            timeout=cdk.Duration.seconds(120),
            memory_size=1536,
            environment=self._stores(),
            group=INSPECT,
        )
        for table in self._tables():
            handler.allow("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", on=table)
        self._let_read_documents(handler)
        handler.allow(
            "s3:PutObject",
            "s3:DeleteObject",
            on=self._deployment.document_arns(self, PAGE_MAPS),
            because="One map per document.",
        )
        return handler

    def _ingest(self) -> HandlerFunction:
        handler = HandlerFunction(
            self,
            "Ingest",
            deployment=self._deployment,
            package="ingest",
            timeout=cdk.Duration.seconds(120),
            memory_size=512,
            environment={
                **self._stores(),
                "KB_POOL": self._knowledge_base.pool_json,
                "STATE_MACHINE_ARN": self._state_machine_arn(),
            },
        )
        for table in self._tables():
            handler.allow(
                "dynamodb:GetItem",
                "dynamodb:PutItem",
                "dynamodb:UpdateItem",
                "dynamodb:DeleteItem",
                "dynamodb:Query",
                on=table,
            )
        handler.allow("dynamodb:Scan", on=self._data.control_table.table_arn)
        handler.allow(
            "bedrock:CreateDataSource",
            "bedrock:ListDataSources",
            "bedrock:GetDataSource",
            "bedrock:StartIngestionJob",
            "bedrock:ListIngestionJobs",
            "bedrock:GetIngestionJob",
            on=self._knowledge_base.knowledge_base_arns,
        )
        self._let_run(handler)
        return handler

    def _status_poller(self) -> HandlerFunction:
        handler = HandlerFunction(
            self,
            "StatusPoller",
            deployment=self._deployment,
            package="status_poller",
            timeout=cdk.Duration.seconds(120),
            memory_size=512,
            environment=self._stores(),
        )
        for table in self._tables():
            handler.allow(
                "dynamodb:GetItem",
                "dynamodb:PutItem",
                "dynamodb:UpdateItem",
                "dynamodb:DeleteItem",
                "dynamodb:Query",
                on=table,
            )
        handler.allow(
            "bedrock:GetIngestionJob",
            "bedrock:StopIngestionJob",
            "bedrock:ListKnowledgeBaseDocuments",
            "bedrock:GetKnowledgeBaseDocuments",
            on=self._knowledge_base.knowledge_base_arns,
        )
        return handler

    def _stores(self) -> dict[str, str]:
        return {
            "KB_CATALOG_TABLE": self._data.catalog_table.table_name,
            "KB_CONTROL_TABLE": self._data.control_table.table_name,
            "KB_DOCS_BUCKET": self._data.bucket.bucket_name,
        }

    def _tables(self) -> list[str]:
        return [self._data.catalog_table.table_arn, self._data.control_table.table_arn]

    def _catalogs_by_user(self) -> str:
        return f"{self._data.catalog_table.table_arn}/index/user_id-index"

    def _state_machine_arn(self) -> str:
        """By its name, since the machine itself needs these functions first."""
        return self._deployment.state_machine_arn(self)

    def _let_read_documents(self, handler: HandlerFunction) -> None:
        # ListBucket, or a HEAD of what is gone answers 403 instead of 404.
        handler.allow("s3:ListBucket", on=self._data.bucket.bucket_arn)
        handler.allow(
            "s3:GetObject",
            on=self._deployment.document_arns(self, "*"),
            because="A document may lie under any key.",
        )

    def _let_run(self, handler: HandlerFunction) -> None:
        executions = self._deployment.state_machine_arn(self, "execution")
        handler.allow("states:StartExecution", on=self._state_machine_arn())
        handler.allow("states:DescribeExecution", on=executions, because="One execution per run.")

    def _route_object_events(self) -> None:
        """What we write ourselves, sidecars and page maps, must not come back as an upload."""
        events.Rule(
            self,
            "ObjectEvents",
            description="Every document dropped or removed, for both who look at it.",
            event_pattern=events.EventPattern(
                source=["aws.s3"],
                detail_type=["Object Created", "Object Deleted"],
                detail={
                    "bucket": {"name": [self._data.bucket.bucket_name]},
                    "object": {"key": [{"anything-but": {"wildcard": [SIDECARS, PAGE_MAPS]}}]},
                },
            ),
            targets=[
                targets.SqsQueue(
                    consumed.queue,
                    dead_letter_queue=consumed.dead_letters,
                    max_event_age=cdk.Duration.hours(24),
                    retry_attempts=185,
                )
                for consumed in self.queues
            ],
        )

    def _state_machine(self, definition: Path) -> sfn.StateMachine:
        log_group = logs.LogGroup(
            self,
            "IngestCatalogLogs",
            # Step Functions keeps its log deliveries in one resource policy; names under this
            # prefix don't count against its length.
            # https://docs.aws.amazon.com/step-functions/latest/dg/cw-logs.html
            log_group_name=f"/aws/vendedlogs/states/{self._deployment.state_machine_name()}",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        machine = sfn.StateMachine(
            self,
            "IngestCatalog",
            state_machine_name=self._deployment.state_machine_name(),
            state_machine_type=sfn.StateMachineType.STANDARD,
            # As a string, not as an asset, so that the template says what runs.
            definition_body=sfn.DefinitionBody.from_string(_compact(definition)),
            definition_substitutions={
                "IngestFunctionArn": self.ingest.function.function_arn,
                "StatusPollerFunctionArn": self.status_poller.function.function_arn,
            },
            role=self._state_machine_role(),
            logs=sfn.LogOptions(
                destination=log_group, level=sfn.LogLevel.ERROR, include_execution_data=False
            ),
            tracing_enabled=True,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        accept(
            machine,
            "SF1",
            because="Every other event is in the execution's history, which costs nothing; logging"
            " all of them would cost more than the run.",
        )
        return machine

    def _state_machine_role(self) -> iam.Role:
        invoke = iam.PolicyStatement(
            actions=["lambda:InvokeFunction"],
            resources=[
                self.ingest.function.function_arn,
                self.status_poller.function.function_arn,
            ],
        )
        role = iam.Role(
            self,
            "IngestCatalogRole",
            assumed_by=iam.ServicePrincipal("states.amazonaws.com"),
            inline_policies={"Tasks": iam.PolicyDocument(statements=[invoke])},
        )
        accept_wildcard(
            role,
            "*",
            because="Log deliveries and traces know no resources: AWS takes nothing but * here.",
        )
        return role

    def _recover_broken_runs(self) -> None:
        """An execution that timed out or was aborted can't record its own end."""
        events.Rule(
            self,
            "BrokenRuns",
            description="A run that ended without releasing its catalog.",
            event_pattern=events.EventPattern(
                source=["aws.states"],
                detail_type=["Step Functions Execution Status Change"],
                detail={
                    "stateMachineArn": [self.state_machine.state_machine_arn],
                    "status": ["FAILED", "TIMED_OUT", "ABORTED"],
                },
            ),
            targets=[
                self._ingest_with(
                    {
                        "action": "recover",
                        "execution_name": events.EventField.from_path("$.detail.name"),
                    }
                )
            ],
        )

    def _sweep(self) -> None:
        events.Rule(
            self,
            "Sweep",
            description="Finds what a crash forgot.",
            schedule=events.Schedule.rate(cdk.Duration.minutes(5)),
            targets=[self._ingest_with({"action": "sweep"})],
        )

    def _ingest_with(self, event: dict[str, str]) -> targets.LambdaFunction:
        return targets.LambdaFunction(
            self.ingest.function,
            event=events.RuleTargetInput.from_object(event),
            dead_letter_queue=self.recovery_dead_letters,
            max_event_age=cdk.Duration.hours(24),
            retry_attempts=185,
        )


def _compact(definition: Path) -> str:
    return json.dumps(json.loads(definition.read_text("utf-8")), ensure_ascii=False)
