"""Where the reconciliation goes on: pk RECONCILIATION, sk BOOKMARK, attribute `place` (cursor)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stackroom.aws.items import from_item, to_item
from stackroom.aws.translation import store_errors

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

_KEY = to_item({"pk": "RECONCILIATION", "sk": "BOOKMARK"})


@dataclass(frozen=True, kw_only=True)
class DynamoBookmark:
    client: "DynamoDBClient"
    table: str

    def read(self) -> str | None:
        with store_errors():
            answer = self.client.get_item(TableName=self.table, Key=_KEY, ConsistentRead=True)
        return from_item(answer["Item"])["place"] if "Item" in answer else None

    def keep(self, cursor: str | None) -> None:
        with store_errors():
            if cursor is None:
                self.client.delete_item(TableName=self.table, Key=_KEY)
            else:
                item = {**_KEY, **to_item({"place": cursor})}
                self.client.put_item(TableName=self.table, Item=item)
