"""
Where the reconciliation goes on, and how far its round is: one item each in the control table.

    pk RECONCILIATION, sk BOOKMARK or ROUND
    place    a cursor, or a round as JSON
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stackroom.aws.dynamodb.items import from_item, to_item
from stackroom.aws.error_mapping import store_errors

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

BOOKMARK, ROUND = "BOOKMARK", "ROUND"


@dataclass(frozen=True, kw_only=True)
class DynamoBookmark:
    client: "DynamoDBClient"
    table: str
    name: str = BOOKMARK

    def read(self) -> str | None:
        with store_errors():
            answer = self.client.get_item(TableName=self.table, Key=self._key, ConsistentRead=True)
        return from_item(answer["Item"])["place"] if "Item" in answer else None

    def keep(self, cursor: str | None) -> None:
        with store_errors():
            if cursor is None:
                self.client.delete_item(TableName=self.table, Key=self._key)
            else:
                item = {**self._key, **to_item({"place": cursor})}
                self.client.put_item(TableName=self.table, Item=item)

    @property
    def _key(self) -> dict[str, Any]:
        return to_item({"pk": "RECONCILIATION", "sk": self.name})
