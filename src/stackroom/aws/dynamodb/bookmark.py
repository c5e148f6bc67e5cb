"""
Where the reconciliation goes on, and how far its round is: one item each in the control table.

    pk RECONCILIATION, sk BOOKMARK or ROUND
    place    a cursor, or a round as JSON
"""

from dataclasses import dataclass

from stackroom.aws.dynamodb.items import Item, to_item
from stackroom.aws.dynamodb.table import DynamoTable

BOOKMARK, ROUND = "BOOKMARK", "ROUND"


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
