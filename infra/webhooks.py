"""The queue and the function that call webhooks, in the order of each record's changes."""

import aws_cdk as cdk
from constructs import Construct

from infra.function import HandlerFunction
from infra.queues import ConsumedQueue
from infra.rights import Rights

# The last attempt is about a day after the first [stackroom.catalogs.webhooks].
_ATTEMPTS = 33
# Each call may take ten seconds.
_CONCURRENT_CALLS = 10


class Webhooks(Construct):
    def __init__(self, scope: Construct, construct_id: str, *, rights: Rights) -> None:
        super().__init__(scope, construct_id)
        control, key = rights.data.control_table, rights.data.webhook_key
        self.sender = HandlerFunction(
            rights.scope,
            "WebhookSender",
            deployment=rights.deployment,
            package="webhook_sender",
            timeout=cdk.Duration.seconds(30),
            memory_size=512,
            environment={"KB_CONTROL_TABLE": control.table_name, "WEBHOOK_KEY_ARN": key.secret_arn},
        )
        self._queue = ConsumedQueue(
            self,
            "Queue",
            queue_name=f"{rights.deployment.project}-webhooks.fifo",
            consumer=self.sender,
            batch_size=1,  # a failed message blocks its own group only
            batches=rights.deployment.concurrency.batches(_CONCURRENT_CALLS),
            receives=_ATTEMPTS,
        )
        self.dead_letters = self._queue.dead_letters
        # The consumer may delay messages of its queue, too.
        self.sender.set_variable("WEBHOOKS_QUEUE_URL", self._queue.queue.queue_url)
        self.sender.allow(
            "dynamodb:Query",
            on=control.table_arn,
            where={"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["WEBHOOKS"]}},
        )
        self.sender.allow("secretsmanager:GetSecretValue", on=key.secret_arn)

    def grant_send(self, handler: HandlerFunction) -> None:
        self._queue.grant_send(handler, "WEBHOOKS_QUEUE_URL")
