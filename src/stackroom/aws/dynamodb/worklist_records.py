"""
Which catalogs of a shared data source have open documents, in the control table: an item each.

    pk WORKLIST#<worklist_id>, sk <catalog_id>
    stamp   another one each time that somebody asks for the catalog

    ask for a catalog      UpdateItem
    go through them all    Query, consistent
    done with one          DeleteItem if its stamp is still the one that was read
"""

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from stackroom.aws.dynamodb import writes
from stackroom.aws.dynamodb.items import query, readable, to_item
from stackroom.aws.error_mapping import store_errors
from stackroom.runs.lease import WorklistEntry

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient


@dataclass(frozen=True, kw_only=True)
class DynamoWorklists:
    client: "DynamoDBClient"
    table: str

    def add(self, worklist_id: str, catalog_id: str) -> None:
        item = _key(worklist_id, catalog_id) | to_item({"stamp": secrets.token_hex(8)})
        with store_errors():
            self.client.put_item(TableName=self.table, Item=item)

    def entries(
        self, worklist_id: str, *, after: str | None = None, limit: int
    ) -> Iterator[WorklistEntry]:
        start: dict[str, Any] = {"ExclusiveStartKey": _key(worklist_id, after)} if after else {}
        found = query(
            self.client,
            TableName=self.table,
            KeyConditionExpression="pk = :worklist",
            ExpressionAttributeValues=to_item({":worklist": _partition(worklist_id)}),
            ConsistentRead=True,
            Limit=limit,
            **start,
        )
        return islice(readable(found, _to_entry), limit)

    def drop(self, worklist_id: str, entry: WorklistEntry) -> bool:
        return writes.delete(
            self.client,
            self.table,
            _key(worklist_id, entry.catalog_id),
            condition="stamp = :stamp",
            values={":stamp": entry.stamp},
        )


def _to_entry(values: Mapping[str, Any]) -> WorklistEntry:
    return WorklistEntry(catalog_id=values["sk"], stamp=values["stamp"])


def _partition(worklist_id: str) -> str:
    return f"WORKLIST#{worklist_id}"


def _key(worklist_id: str, catalog_id: str) -> dict[str, Any]:
    return to_item({"pk": _partition(worklist_id), "sk": catalog_id})
