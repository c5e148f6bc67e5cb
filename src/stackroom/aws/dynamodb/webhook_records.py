"""
Webhooks in the control table.

    item       pk          sk
    webhook    WEBHOOKS    <owner>#<webhook_id>    webhook (JSON)

    those of a user and of operators    Query, twice
    all, for an operator                Query

In one partition, so that an operator finds one by its id alone: ten of 300 bytes are one read unit.
"""

from collections.abc import Mapping
from typing import Any

from stackroom.aws.dynamodb.items import Item, readable, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.catalogs.webhooks import OPERATORS, Webhook

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


def _key(webhook: Webhook) -> Item:
    return to_item({"pk": _WEBHOOKS, "sk": f"{webhook.owner}#{webhook.id}"})


def _to_webhook(values: Mapping[str, Any]) -> Webhook:
    return Webhook.model_validate_json(values["webhook"])
