"""
The catalogs that users have selected, in the control table.

    item         pk                      sk
    selection    SELECTION#<user_id>     <session_id>    catalog_id, expires_at (TTL)
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from stackroom.aws.dynamodb.items import Item, from_item, to_item
from stackroom.aws.error_mapping import store_errors

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient


@dataclass(frozen=True, kw_only=True)
class DynamoSelections:
    client: "DynamoDBClient"
    table: str

    def get(self, user_id: str, session_id: str, *, at: datetime) -> str | None:
        with store_errors():
            answer = self.client.get_item(
                TableName=self.table, Key=_key(user_id, session_id), ConsistentRead=True
            )
        if "Item" not in answer:
            return None
        kept = from_item(answer["Item"])
        # DynamoDB removes what has expired within days, and answers it until then.
        return str(kept["catalog_id"]) if kept["expires_at"] > at.timestamp() else None

    def keep(self, user_id: str, session_id: str, catalog_id: str, *, until: datetime) -> None:
        values = {"catalog_id": catalog_id, "expires_at": int(until.timestamp())}
        item = _key(user_id, session_id) | to_item(values)
        with store_errors():
            self.client.put_item(TableName=self.table, Item=item)

    def forget(self, user_id: str, session_id: str) -> None:
        with store_errors():
            self.client.delete_item(TableName=self.table, Key=_key(user_id, session_id))


def _key(user_id: str, session_id: str) -> Item:
    return to_item({"pk": f"SELECTION#{user_id}", "sk": session_id})
