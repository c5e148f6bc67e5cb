"""
Results of inspections, in the control table.

    item          pk                          sk
    inspection    INSPECTION#<document_id>    INSPECTION    etag, expires_at (TTL), title_words,
                                                            gaps; version_id, reason, illegible,
                                                            text_id and text_tokens, if any

    get some      BatchGetItem
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from stackroom.aws.dynamodb.items import Item, from_item, get_all, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.aws.error_mapping import store_errors
from stackroom.clock import utc_now
from stackroom.model.records import Document
from stackroom.model.repositories import Inspected

# A result matters from the upload until the document is settled; the record keeps it after that.
_KEPT = timedelta(days=30)
_PREFIX = "INSPECTION#"


@dataclass(frozen=True, kw_only=True)
class DynamoInspections(DynamoTable):
    """Inspections, one result for each document: that of the version inspected last."""

    now: Callable[[], datetime] = utc_now

    def record(self, document_id: str, etag: str, found: Inspected) -> str | None:
        expires_at = int((self.now() + _KEPT).timestamp())
        values = {"etag": etag, "expires_at": expires_at, **vars(found)}
        with store_errors():
            # Returning the old item costs nothing [DynamoDB API reference: PutItem, ReturnValues].
            answer = self.client.put_item(
                TableName=self.table,
                Item=_key(document_id) | to_item(values),
                ReturnValues="ALL_OLD",
            )
        text_id = from_item(answer.get("Attributes", {})).get("text_id")
        return None if text_id is None else str(text_id)

    def forget(self, document_id: str) -> None:
        self._remove(_key(document_id))

    def results_for(self, documents: Iterable[Document]) -> dict[str, Inspected]:
        """Return results by document id, for exactly these versions."""
        etags = {each.document_id: each.etag for each in documents}
        keys = list(map(_key, sorted(etags)))
        results: dict[str, Inspected] = {}
        for found in self._found(keys):
            document_id = str(found["pk"]).removeprefix(_PREFIX)
            tokens = found.get("text_tokens")  # a Decimal
            if found["etag"] == etags[document_id]:
                results[document_id] = Inspected(
                    version_id=found.get("version_id"),
                    reason=found.get("reason"),
                    illegible=found.get("illegible"),
                    text_id=found.get("text_id"),
                    text_tokens=None if tokens is None else int(tokens),
                    title_words=found.get("title_words", ""),
                    gaps=tuple(found.get("gaps", ())),
                )
        return results

    def _found(self, keys: Sequence[Item]) -> Iterable[dict[str, Any]]:
        """Return the items that exist; one alone without the right to read several at once."""
        if len(keys) == 1:
            return filter(None, [self._get(keys[0])])
        return get_all(self.client, self.table, keys, consistent=True)


def _key(document_id: str) -> Item:
    return to_item({"pk": f"{_PREFIX}{document_id}", "sk": "INSPECTION"})
