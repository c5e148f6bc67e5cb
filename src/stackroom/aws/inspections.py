"""
What inspections found, in the control table.

    item          pk                          sk
    inspection    INSPECTION#<document_id>    INSPECTION    etag, reason, expires_at (TTL)

    get some      BatchGetItem
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from stackroom.aws.items import Item, from_item, to_item
from stackroom.aws.translation import store_errors
from stackroom.clock import utc_now
from stackroom.model import Document

# A finding matters from the upload until the document is settled; the record keeps it after that.
_KEPT = timedelta(days=30)
_PREFIX = "INSPECTION#"
_BATCH = 100  # keys of one BatchGetItem [DynamoDB API reference]


@dataclass(frozen=True, kw_only=True)
class DynamoInspections:
    """One finding a document, that of the version inspected last."""

    client: Any
    table: str
    now: Callable[[], datetime] = utc_now

    def record(self, document_id: str, etag: str, reason: str) -> None:
        values = {
            "etag": etag,
            "reason": reason,
            "expires_at": int((self.now() + _KEPT).timestamp()),
        }
        with store_errors():
            self.client.put_item(TableName=self.table, Item=_key(document_id) | to_item(values))

    def reasons_for(self, documents: Iterable[Document]) -> dict[str, str]:
        """What is wrong, by document id; only of the versions that these are."""
        etags = {each.document_id: each.etag for each in documents}
        ordered, reasons = sorted(etags), {}
        for start in range(0, len(ordered), _BATCH):
            for found in self._batch(ordered[start : start + _BATCH]):
                document_id = str(found["pk"]).removeprefix(_PREFIX)
                if found["etag"] == etags[document_id]:
                    reasons[document_id] = str(found["reason"])
        return reasons

    def _batch(self, document_ids: Iterable[str]) -> Iterator[dict[str, Any]]:
        keys = [_key(each) for each in document_ids]
        wanted: Any = {self.table: {"Keys": keys, "ConsistentRead": True}}
        while wanted:
            with store_errors():
                answer = self.client.batch_get_item(RequestItems=wanted)
            yield from map(from_item, answer["Responses"].get(self.table, []))
            wanted = answer.get("UnprocessedKeys", {})


def _key(document_id: str) -> Item:
    return to_item({"pk": f"{_PREFIX}{document_id}", "sk": "INSPECTION"})
