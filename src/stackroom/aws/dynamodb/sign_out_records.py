"""
When users have signed out everywhere, in the control table.

    item        pk                       sk
    sign-out    SIGNED_OUT#<user_id>     SIGNED_OUT    at
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from stackroom.aws.dynamodb import writes
from stackroom.aws.dynamodb.items import Item, from_item, instant, to_item
from stackroom.aws.error_mapping import store_errors

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

_KIND = "SIGNED_OUT"


@dataclass(frozen=True, kw_only=True)
class DynamoSignOuts:
    client: "DynamoDBClient"
    table: str

    def get(self, user_id: str) -> datetime | None:
        # Consistent, because whoever signs out everywhere means at once.
        with store_errors():
            answer = self.client.get_item(
                TableName=self.table, Key=_key(user_id), ConsistentRead=True
            )
        if "Item" not in answer:
            return None
        return datetime.fromisoformat(from_item(answer["Item"])["at"])

    def keep(self, user_id: str, at: datetime) -> None:
        item = _key(user_id) | to_item({"at": instant(at)})
        writes.put(
            self.client,
            self.table,
            item,
            condition="attribute_not_exists(pk) OR #at < :at",
            values={":at": instant(at)},
        )


def _key(user_id: str) -> Item:
    return to_item({"pk": f"{_KIND}#{user_id}", "sk": _KIND})
