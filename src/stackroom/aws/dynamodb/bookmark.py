"""
The reconciliation's cursor, the state of its round, and the ids that it compares.

    pk RECONCILIATION            sk BOOKMARK or ROUND    place: a cursor, or a round as JSON
    pk RECONCILIATION#<reading>  sk <part>               ids (binary), expires_at (TTL)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from stackroom.aws.dynamodb.items import Item, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.clock import utc_now

BOOKMARK, ROUND = "BOOKMARK", "ROUND"
_KEPT = timedelta(days=7)  # ids; millions of documents are compared in hours


@dataclass(frozen=True, kw_only=True)
class DynamoBookmark(DynamoTable):
    name: str = BOOKMARK

    def read(self) -> str | None:
        kept = self._get(self._key)
        return None if kept is None else kept["place"]

    def keep(self, cursor: str | None) -> None:
        if cursor is not None:
            self._keep(self._key | to_item({"place": cursor}))
        else:
            self._remove(self._key)

    @property
    def _key(self) -> Item:
        return to_item({"pk": "RECONCILIATION", "sk": self.name})


@dataclass(frozen=True, kw_only=True)
class DynamoIdParts(DynamoTable):
    def keep(self, reading: str, part: int, ids: bytes) -> None:
        key = {"pk": f"RECONCILIATION#{reading}", "sk": f"{part:06}"}
        expires_at = int((utc_now() + _KEPT).timestamp())
        self._keep(to_item({**key, "ids": ids, "expires_at": expires_at}))

    def parts(self, reading: str) -> Iterator[bytes]:
        for item in self._partition(f"RECONCILIATION#{reading}"):
            yield bytes(item["ids"])
