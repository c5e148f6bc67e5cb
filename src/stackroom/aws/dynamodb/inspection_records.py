"""
What inspections found, in the control table.

    item          pk                          sk
    inspection    INSPECTION#<document_id>    INSPECTION    etag, expires_at (TTL), title_words,
                                                            gaps; reason, if any

    get some      BatchGetItem
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from stackroom.aws.dynamodb.items import Item, get_all, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.clock import utc_now
from stackroom.documents.model import Document
from stackroom.documents.repositories import Inspected

# A result matters from the upload until the document is settled; the record keeps it after that.
_KEPT = timedelta(days=30)
_PREFIX = "INSPECTION#"


@dataclass(frozen=True, kw_only=True)
class DynamoInspections(DynamoTable):
    """One result a document, that of the version inspected last."""

    now: Callable[[], datetime] = utc_now

    def record(self, document_id: str, etag: str, found: Inspected) -> None:
        expires_at = int((self.now() + _KEPT).timestamp())
        values = {"etag": etag, "expires_at": expires_at, **vars(found)}
        self._keep(_key(document_id) | to_item(values))

    def results_for(self, documents: Iterable[Document]) -> dict[str, Inspected]:
        """By document id; only of the versions that these are."""
        etags = {each.document_id: each.etag for each in documents}
        keys = map(_key, sorted(etags))
        results: dict[str, Inspected] = {}
        for found in get_all(self.client, self.table, keys, consistent=True):
            document_id = str(found["pk"]).removeprefix(_PREFIX)
            if found["etag"] == etags[document_id]:
                results[document_id] = Inspected(
                    reason=found.get("reason"),
                    title_words=found.get("title_words", ""),
                    gaps=tuple(found.get("gaps", ())),
                )
        return results


def _key(document_id: str) -> Item:
    return to_item({"pk": f"{_PREFIX}{document_id}", "sk": "INSPECTION"})
