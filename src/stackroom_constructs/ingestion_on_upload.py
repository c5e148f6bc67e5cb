"""Starts ingestion jobs when files change: a rule, a queue and a function."""

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as event_sources
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from stackroom_constructs.acknowledgments import accept, accept_wildcard
from stackroom_constructs.knowledge_base_creation import KnowledgeBaseCreation

# A job reads all files that exist when it starts, so one is enough for all messages of a batch, and
# for those that wait until Bedrock accepts another: one at a time, and few in an account
# [https://docs.aws.amazon.com/general/latest/gr/bedrock.html].
_CODE = """\
import os

import boto3

bedrock = boto3.client("bedrock-agent")
busy = (
    bedrock.exceptions.ConflictException,
    bedrock.exceptions.ServiceQuotaExceededException,
    bedrock.exceptions.ThrottlingException,
)


def handler(event, context):
    try:
        started = bedrock.start_ingestion_job(
            knowledgeBaseId=os.environ["KNOWLEDGE_BASE_ID"],
            dataSourceId=os.environ["DATA_SOURCE_ID"],
        )
    except busy as error:
        print(f"tried again: {error}")
        waiting = [{"itemIdentifier": each["messageId"]} for each in event["Records"]]
        return {"batchItemFailures": waiting}
    print(f"started: {started['ingestionJob']['ingestionJobId']}")
    return {"batchItemFailures": []}
"""
_TIMEOUT = cdk.Duration.seconds(30)
# Files that are uploaded together share a job.
_WINDOW = cdk.Duration.seconds(10)
_BATCH = 1_000  # messages; each is an event of some 700 bytes, and an invocation has 6 MB
# The most receives that SQS allows: some days, while jobs take hours.
# https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
_MAX_RECEIVES = 1_000


class IngestionOnUpload(Construct):
    """
    A rule, a queue and a function for one data source of type S3.

    The bucket's events must reach EventBridge; for a bucket of the app, this construct turns it on.

    `queue` holds events that wait for a job, `dead_letters` those for which no job was started.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        creation: KnowledgeBaseCreation,
        knowledge_base_id: str,
        knowledge_base_arn: str,
        data_source_id: str,
    ) -> None:
        super().__init__(scope, construct_id)
        self.dead_letters = self._queue("DeadLetters", retention_period=cdk.Duration.days(14))
        accept(self.dead_letters, "SQS3", because="It is a dead-letter queue.")
        self.queue = self._queue(
            "Queue",
            # Six times the function's timeout plus the window; otherwise a slow batch is delivered
            # twice.
            # https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html
            visibility_timeout=cdk.Duration.seconds(
                6 * int(_TIMEOUT.to_seconds()) + int(_WINDOW.to_seconds())
            ),
            retention_period=cdk.Duration.days(14),
            dead_letter_queue=sqs.DeadLetterQueue(
                queue=self.dead_letters, max_receive_count=_MAX_RECEIVES
            ),
        )
        self.function = self._function(knowledge_base_id, data_source_id)
        self.function.add_to_role_policy(
            iam.PolicyStatement(
                actions=["bedrock:StartIngestionJob"], resources=[knowledge_base_arn]
            )
        )
        self.function.add_event_source(
            event_sources.SqsEventSource(
                self.queue,
                batch_size=_BATCH,
                max_batching_window=_WINDOW,
                max_concurrency=2,  # Lambda's minimum
                report_batch_item_failures=True,
            )
        )
        self._subscribe(creation)

    def _queue(self, construct_id: str, **properties: object) -> sqs.Queue:
        return sqs.Queue(
            self,
            construct_id,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            **properties,  # type: ignore[arg-type]
        )

    def _function(self, knowledge_base_id: str, data_source_id: str) -> lambda_.Function:
        log_group = logs.LogGroup(
            self,
            "Logs",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        role = iam.Role(
            self, "FunctionRole", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com")
        )
        streams = f"{log_group.log_group_arn}:*"
        role.add_to_principal_policy(
            iam.PolicyStatement(
                actions=["logs:CreateLogStream", "logs:PutLogEvents"], resources=[streams]
            )
        )
        accept_wildcard(role, streams, because="Streams are named when an environment starts.")
        function = lambda_.Function(
            self,
            "Function",
            code=lambda_.Code.from_inline(_CODE),
            handler="index.handler",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64,
            memory_size=256,
            timeout=_TIMEOUT,
            role=role,
            log_group=log_group,
            environment={
                "KNOWLEDGE_BASE_ID": knowledge_base_id,
                "DATA_SOURCE_ID": data_source_id,
            },
        )
        accept(function, "L1", because="Python 3.13 is what Stackroom is tested with.")
        return function

    def _subscribe(self, creation: KnowledgeBaseCreation) -> None:
        resource = creation.bucket.node.default_child
        if isinstance(resource, s3.CfnBucket):
            # The bucket's own property: `event_bridge_enabled` would add a function that sets it.
            resource.add_property_override(
                "NotificationConfiguration.EventBridgeConfiguration.EventBridgeEnabled", True
            )
        key = {"object": {"key": [{"prefix": creation.prefix}]}} if creation.prefix else {}
        events.Rule(
            self,
            "Changes",
            description="Files that come and go, for an ingestion job",
            event_pattern=events.EventPattern(
                source=["aws.s3"],
                detail_type=["Object Created", "Object Deleted"],
                detail={"bucket": {"name": [creation.bucket.bucket_name]}, **key},
            ),
            targets=[targets.SqsQueue(self.queue)],
        )
