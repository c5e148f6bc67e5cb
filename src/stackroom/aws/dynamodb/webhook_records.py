"""
Webhooks in the control table, and the queue of what they are to be told.

    item       pk          sk
    webhook    WEBHOOKS    <owner>#<webhook_id>    webhook (JSON)

    those of a user and of operators    Query, twice
    all, for an operator                Query

In one partition, so that an operator finds one by its id alone: ten of 300 bytes are one read unit.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stackroom.aws.dynamodb.items import Item, readable, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.aws.error_mapping import store_errors
from stackroom.events.webhooks import OPERATORS, Webhook, WebhookCall

if TYPE_CHECKING:
    from types_boto3_sqs.client import SQSClient

_WEBHOOKS = "WEBHOOKS"


class DynamoWebhooks(DynamoTable):
    def of(self, owner: str) -> list[Webhook]:
        condition = "pk = :pk AND begins_with(sk, :owner)"
        return [
            each
            for name in dict.fromkeys((owner, OPERATORS))
            for each in readable(
                self._query(condition, {":pk": _WEBHOOKS, ":owner": f"{name}#"}), _to_webhook
            )
        ]

    def all(self) -> list[Webhook]:
        return list(readable(self._partition(_WEBHOOKS), _to_webhook))

    def add(self, webhook: Webhook) -> None:
        self._keep(_key(webhook) | to_item({"webhook": webhook.model_dump_json()}))

    def remove(self, webhook: Webhook) -> None:
        self._remove(_key(webhook))


@dataclass(frozen=True, kw_only=True)
class SqsWebhookQueue:
    """
    A FIFO queue: a group is one record at one webhook, so that what keeps it waiting keeps no other
    waiting. What is put in twice within five minutes is there once.
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-exactly-once-processing.html
    """

    client: "SQSClient"
    url: str

    def put(self, call: WebhookCall, *, record: str) -> None:
        with store_errors():
            self.client.send_message(
                QueueUrl=self.url,
                MessageBody=call.model_dump_json(),
                MessageGroupId=_digest(call.webhook_id, record),
                MessageDeduplicationId=_digest(call.webhook_id, str(call.event["id"])),
            )


def _digest(*names: str) -> str:
    """An id of a group or of a message has at most 128 characters, and not every letter."""
    return hashlib.sha256("\n".join(names).encode()).hexdigest()


def _key(webhook: Webhook) -> Item:
    return to_item({"pk": _WEBHOOKS, "sk": f"{webhook.owner}#{webhook.id}"})


def _to_webhook(values: Mapping[str, Any]) -> Webhook:
    return Webhook.model_validate_json(values["webhook"])
