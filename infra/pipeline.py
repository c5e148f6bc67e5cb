"""From an object in the bucket to a searchable document: queues, functions, state machine."""

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from constructs import Construct

from infra.bucket_policy import PLACE_MAPS, SIDECARS
from infra.data import DataStack
from infra.deployment import Deployment
from infra.events import Events
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from infra.pipeline_functions import PipelineFunctions
from infra.queues import ConsumedQueue
from infra.rights import Rights
from infra.runs import Runs
from infra.webhooks import Webhooks


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
        self.webhooks.let_send(self.events.publisher)
        self.handlers = [upload_handler, inspect, ingest, status_poller, reconciler]
        self.handlers += [self.events.publisher, self.webhooks.sender]

        # At once where it is quiet; in a burst, batches fill while ten of them are at work, and a
        # catalog's counters are not written by a hundred at a time.
        uploads = self._queue(
            "Uploads", upload_handler, batch_size=10, window_seconds=0, batches=10
        )
        inspections = self._queue(
            "Inspections", inspect, batch_size=5, window_seconds=2, batches=100
        )
        self.queues = [uploads, inspections]
        for queue in self.queues:
            queue.take_turns()
        inspections.let_send(reconciler, "INSPECTIONS_QUEUE_URL")
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
        window_seconds: int,
        batches: int,
    ) -> ConsumedQueue:
        return ConsumedQueue(
            self,
            construct_id,
            queue_name=f"{self._deployment.project}-{construct_id.lower()}",
            consumer=consumer,
            batch_size=batch_size,
            batch_window=cdk.Duration.seconds(window_seconds),
            batches=self._deployment.concurrency.batches(batches),
        )

    def _route_object_events(self) -> None:
        """What we write ourselves, sidecars and place maps, must not come back as an upload."""
        events.Rule(
            self,
            "ObjectEvents",
            description="Every document dropped or removed, for both who look at it.",
            event_pattern=events.EventPattern(
                source=["aws.s3"],
                detail_type=["Object Created", "Object Deleted"],
                detail={
                    "bucket": {"name": [self._documents.bucket_name]},
                    "object": {"key": [{"anything-but": {"wildcard": [SIDECARS, PLACE_MAPS]}}]},
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
