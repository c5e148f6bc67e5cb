"""
The pipeline from an object in the bucket to a searchable document: queues, functions, state
machine.
"""

import re
from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from constructs import Construct

from infra.bucket_policy import SIDECARS, TEXTS
from infra.data import DataStack
from infra.deployment import Deployment
from infra.events import Events
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from infra.pipeline_functions import PipelineFunctions
from infra.queues import ConsumedQueue, enable_fair_turns
from infra.rights import Rights
from infra.runs import Runs
from infra.webhooks import Webhooks

LARGE_FILE = 5_000_000  # bytes; reading a larger file may take minutes


class PipelineStack(cdk.Stack):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        data: DataStack,
        knowledge_base: KnowledgeBaseStack,
    ) -> None:
        super().__init__(scope, construct_id)
        self._deployment = deployment
        self._documents = data.bucket
        rights = Rights(scope=self, deployment=deployment, data=data)
        functions = PipelineFunctions(rights=rights, knowledge_base=knowledge_base)
        upload_handler, inspect = functions.upload_handler(), functions.inspect()
        ingest, status_poller = functions.ingest(), functions.status_poller()
        reconciler = functions.reconciler()
        self.webhooks = Webhooks(self, "Webhooks", rights=rights)
        self.events = Events(self, "Events", rights=rights)
        self.webhooks.grant_send(self.events.publisher)
        self.handlers = [upload_handler, inspect, ingest, status_poller, reconciler]
        self.handlers += [self.events.publisher, self.webhooks.sender]

        # Without a window, so that a quiet pipeline starts at once; in a burst, batches fill while
        # ten
        # of them run, and no hundred writes compete for a catalog's counters.
        uploads = self._queue("Uploads", upload_handler, batch_size=10, batches=10)
        # One file per batch, so that no file waits for another's ten minutes; large ones, which may
        # take
        # that long, get at most half of the concurrency.
        # A message returns soon after its function was killed. Its function is never throttled,
        # because
        # Lambda takes no more from such a queue than may run.
        visibility = cdk.Duration.seconds(int(inspect.timeout.to_seconds()) + 60)
        inspections, large = (
            self._queue(name, inspect, batch_size=1, batches=batches, visibility=visibility)
            for name, batches in (("Inspections", 100), ("LargeInspections", 50))
        )
        self.queues = [uploads, inspections, large]
        enable_fair_turns(upload_handler, [uploads], batch=10)
        enable_fair_turns(inspect, [inspections, large], batch=1)
        inspections.grant_send(reconciler, "INSPECTIONS_QUEUE_URL")
        self._route_object_events()

        runs = Runs(
            self,
            "Runs",
            deployment=deployment,
            ingest=ingest,
            status_poller=status_poller,
            reconciler=reconciler,
        )
        self.dead_letters = [each.dead_letters for each in self.queues]
        others = (runs.dead_letters, self.events.dead_letters, self.webhooks.dead_letters)
        self.dead_letters += others

        cdk.CfnOutput(self, "StateMachineArn", value=runs.state_machine.state_machine_arn)
        cdk.CfnOutput(self, "UploadsQueueUrl", value=uploads.queue.queue_url)

    def _queue(
        self,
        construct_id: str,
        consumer: HandlerFunction,
        *,
        batch_size: int,
        batches: int,
        visibility: cdk.Duration | None = None,
    ) -> ConsumedQueue:
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", construct_id).lower()
        return ConsumedQueue(
            self,
            construct_id,
            queue_name=f"{self._deployment.project}-{name}",
            consumer=consumer,
            batch_size=batch_size,
            batches=self._deployment.concurrency.batches(batches),
            visibility=visibility,
        )

    def _route_object_events(self) -> None:
        """
        Send events of documents to their queues, but none of the sidecars and texts that we write.
        """
        uploads, inspections, large = self.queues
        # Events of deleted objects have no size.
        small: list[Mapping[str, object]] = [{"numeric": ["<=", LARGE_FILE]}, {"exists": False}]
        self._route("ObjectEvents", uploads, description="Every document dropped or removed.")
        self._route(
            "SmallFiles", inspections, size=small, description="The same, to be read: small files."
        )
        self._route(
            "LargeFiles",
            large,
            size=[{"numeric": [">", LARGE_FILE]}],
            description="The same, to be read: large files.",
        )

    def _route(
        self,
        construct_id: str,
        to: ConsumedQueue,
        *,
        description: str,
        size: list[Mapping[str, object]] | None = None,
    ) -> None:
        key = [{"anything-but": {"wildcard": [SIDECARS, TEXTS]}}]
        events.Rule(
            self,
            construct_id,
            description=description,
            event_pattern=events.EventPattern(
                source=["aws.s3"],
                detail_type=["Object Created", "Object Deleted"],
                detail={
                    "bucket": {"name": [self._documents.bucket_name]},
                    "object": {"key": key, **({} if size is None else {"size": size})},
                },
            ),
            targets=[
                targets.SqsQueue(
                    to.queue,
                    dead_letter_queue=to.dead_letters,
                    max_event_age=cdk.Duration.hours(24),
                    retry_attempts=185,
                )
            ],
        )
