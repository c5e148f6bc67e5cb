"""
Catalogs of a shared data source that have open documents: one item each in the control table.

    pk WORKLIST#<worklist_id>, sk <catalog_id>
    stamp   changes with each request for the catalog

    request a catalog      UpdateItem
    list catalogs          Query, consistent
    finish one             DeleteItem if its stamp is unchanged since it was read
"""

import secrets
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from stackroom.aws.dynamodb.items import Item, readable, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.runs.lease import WorklistEntry

_WORKLIST = "WORKLIST#"  # its id follows


class DynamoWorklists(DynamoTable):
    def add(self, worklist_id: str, catalog_id: str) -> None:
        self._keep(_key(worklist_id, catalog_id) | to_item({"stamp": secrets.token_hex(8)}))

    def entries(
        self, worklist_id: str, *, after: str | None = None, limit: int
    ) -> Iterator[WorklistEntry]:
        start: dict[str, Any] = {"ExclusiveStartKey": _key(worklist_id, after)} if after else {}
        found = self._partition(_WORKLIST + worklist_id, Limit=limit, **start)
        return islice(readable(found, _to_entry), limit)

    def remove_if_unchanged(self, worklist_id: str, entry: WorklistEntry) -> bool:
        return self._delete(
            _key(worklist_id, entry.catalog_id),
            condition="stamp = :stamp",
            values={":stamp": entry.stamp},
        )


def _to_entry(values: Mapping[str, Any]) -> WorklistEntry:
    return WorklistEntry(catalog_id=values["sk"], stamp=values["stamp"])


def _key(worklist_id: str, catalog_id: str) -> Item:
    return to_item({"pk": _WORKLIST + worklist_id, "sk": catalog_id})
