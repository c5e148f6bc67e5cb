"""What tells webhooks of changes: a queue that keeps the order of each record, and its function."""

import aws_cdk as cdk
from constructs import Construct

from infra.function import HandlerFunction
from infra.queues import ConsumedQueue
from infra.rights import Rights

# The last about a day after the first [stackroom.catalogs.webhook_calls].
_TRIES = 33
# Each call may take ten seconds.
_CALLS_AT_ONCE = 10


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
            batch_size=1,  # its group waits for the one, and nobody waits for another's
            batches=rights.deployment.concurrency.batches(_CALLS_AT_ONCE),
            receives=_TRIES,
        )
        self.dead_letters = self._queue.dead_letters
        # Who takes from a queue may put messages off, too.
        self.sender.tell("WEBHOOKS_QUEUE_URL", self._queue.queue.queue_url)
        self.sender.allow(
            "dynamodb:Query",
            on=control.table_arn,
            where={"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["WEBHOOKS"]}},
        )
        self.sender.allow("secretsmanager:GetSecretValue", on=key.secret_arn)

    def let_send(self, handler: HandlerFunction) -> None:
        self._queue.let_send(handler, "WEBHOOKS_QUEUE_URL")
