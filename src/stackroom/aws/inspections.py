"""
What inspections found, in the control table.

    item          pk                          sk
    inspection    INSPECTION#<document_id>    INSPECTION    etag, reason, expires_at (TTL)

    get one       GetItem
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from stackroom.aws.items import Item, from_item, to_item
from stackroom.aws.translation import store_errors
from stackroom.clock import utc_now

# A finding matters from the upload until the document is settled; the record keeps it after that.
_KEPT = timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class DynamoInspections:
    """One finding a document, that of the version inspected last."""

    client: Any
    table: str
    now: Callable[[], datetime] = utc_now

    def record(self, document_id: str, etag: str, reason: str | None) -> None:
        values = {
            "etag": etag,
            "reason": reason,
            "expires_at": int((self.now() + _KEPT).timestamp()),
        }
        with store_errors():
            self.client.put_item(TableName=self.table, Item=_key(document_id) | to_item(values))

    def reason_for(self, document_id: str, etag: str) -> str | None:
        """What is wrong with this version; None if nothing is, or nothing is known of it."""
        with store_errors():
            answer = self.client.get_item(
                TableName=self.table, Key=_key(document_id), ConsistentRead=True
            )
        found = from_item(answer.get("Item", {}))
        return str(found["reason"]) if found.get("etag") == etag and "reason" in found else None


def _key(document_id: str) -> Item:
    return to_item({"pk": f"INSPECTION#{document_id}", "sk": "INSPECTION"})
