"""
Change events: the tables' streams, the function that publishes them, and their schemas.

A stream holds each change once, in the order of its item, for a day. A function reads streams free
of charge. https://aws.amazon.com/dynamodb/pricing/on-demand/
"""

import json
from collections.abc import Mapping
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_eventschemas as eventschemas
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.function import HandlerFunction
from infra.queues import DeadLetters
from infra.rights import Rights

_SCHEMAS = Path(__file__).with_name("event_schemas")
# Each record may become a message to twenty webhooks, all within the function's minute.
BATCH = 50
# A record exists for 24 hours; in the last of them an operator can still read it.
_MAX_AGE = 23 * 3600  # seconds
# Documents and catalogs of the catalog table; receipts and reached caps of the control table.
_OF_CATALOGS = {"sk": {"S": [{"prefix": "DOC#"}, "METADATA"]}}
_OF_CONTROL = {"pk": {"S": [{"prefix": "RECEIPTS#"}, {"prefix": "CAPS_REACHED#"}]}}


class Events(Construct):
    def __init__(self, scope: Construct, construct_id: str, *, rights: Rights) -> None:
        super().__init__(scope, construct_id)
        project, data = rights.deployment.project, rights.data
        control = data.control_table.table_arn
        self.publisher = HandlerFunction(
            rights.scope,
            "EventPublisher",
            deployment=rights.deployment,
            package="event_publisher",
            timeout=cdk.Duration.seconds(60),
            memory_size=512,
            environment={"KB_CONTROL_TABLE": data.control_table.table_name},
        )
        for actions, partitions in (
            (("dynamodb:Query", "dynamodb:PutItem"), "EVENTS#*"),
            (("dynamodb:Query",), "WEBHOOKS"),
        ):
            where = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [partitions]}}
            self.publisher.allow(*actions, on=control, where=where)
        self.publisher.allow("events:PutEvents", on=_default_bus(rights.scope))
        self.dead_letters = DeadLetters(self, "DeadLetters", queue_name=f"{project}-events-dead")
        self.publisher.allow("sqs:SendMessage", on=self.dead_letters.queue_arn)
        self._read("Catalogs", data.catalog_table, _OF_CATALOGS)
        self._read("Control", data.control_table, _OF_CONTROL)
        # Not an action on a stream, but AWS requires it of a function that reads one:
        # https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-eventsourcemapping.html
        self.publisher.allow(
            "dynamodb:ListStreams", on="*", because="It knows no resources: AWS takes only * here."
        )
        self._register_schemas(project)

    def _read(self, construct_id: str, table: dynamodb.TableV2, keys: Mapping[str, object]) -> None:
        """
        Consume the stream from its beginning, or writes before the mapping works would be lost.
        """
        stream = table.table_stream_arn
        assert stream is not None, "both tables have one"
        self.publisher.allow(
            "dynamodb:DescribeStream",
            "dynamodb:GetRecords",
            "dynamodb:GetShardIterator",
            on=stream,
        )
        of = lambda_.CfnEventSourceMapping
        to = of.OnFailureProperty(destination=self.dead_letters.queue_arn)
        mapping = of(
            self,
            construct_id,
            function_name=self.publisher.function.function_name,
            event_source_arn=stream,
            starting_position="TRIM_HORIZON",
            batch_size=BATCH,
            maximum_batching_window_in_seconds=1,
            function_response_types=["ReportBatchItemFailures"],
            maximum_record_age_in_seconds=_MAX_AGE,
            destination_config=of.DestinationConfigProperty(on_failure=to),
            filter_criteria=of.FilterCriteriaProperty(
                filters=[of.FilterProperty(pattern=json.dumps({"dynamodb": {"Keys": keys}}))]
            ),
        )
        # Lambda checks the rights when it creates the mapping.
        mapping.node.add_dependency(self.publisher.role)

    def _register_schemas(self, project: str) -> None:
        registry = eventschemas.CfnRegistry(
            self,
            "Registry",
            registry_name=f"{project}-events",
            description="What Stackroom tells of documents, catalogs, deletions and caps.",
        )
        for file in sorted(_SCHEMAS.glob("*.json")):
            eventschemas.CfnSchema(
                self,
                file.stem,
                registry_name=registry.attr_registry_name,
                schema_name=f"stackroom@{file.stem}",
                type="JSONSchemaDraft4",
                content=file.read_text("utf-8"),
            )


def _default_bus(stack: cdk.Stack) -> str:
    return stack.format_arn(service="events", resource="event-bus", resource_name="default")
