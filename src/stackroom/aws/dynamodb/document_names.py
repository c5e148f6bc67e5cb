"""
A catalog's documents by file name, beside what is open in it and what failed (document_items.py).

    item        catalog_id      sk            filename-index
    document    <catalog_id>    DOC#<id>      catalog_id, filename; with size, uploaded_at, gaps

    list names         Query filename-index: some 150 bytes of each, eventually consistent
    list what failed   Query of a local index, the keys alone, consistent; likewise what waits
    get documents      BatchGetItem, consistent

Hardly anything of the index changes while a document is ingested: it costs one write as the
document comes, one as it goes, and one more if its size is known later, or if it has gaps.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from stackroom.aws.dynamodb.catalog_records import METADATA, key_of
from stackroom.aws.dynamodb.document_items import (
    DOCUMENT,
    FAILED,
    WAITING,
    IndexedState,
    document_key,
    to_document,
)
from stackroom.aws.dynamodb.items import get_all, to_item
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.aws.error_mapping import store_errors
from stackroom.concurrency import RunParallel, chunks, run_in_threads
from stackroom.model.records import CatalogStatus, Document, DocumentStatus, gaps_of
from stackroom.model.repositories import DocumentKey, DocumentNotes, NamedDocument

NAME_INDEX = "filename-index"
_KEYS_AT_ONCE = 100  # of one BatchGetItem [DynamoDB API reference]


@dataclass(frozen=True, kw_only=True)
class DynamoDocumentNames(DynamoTable):
    run_parallel: RunParallel = run_in_threads

    def named(
        self, catalog_id: str, *, after: str = "", prefix: str = "", limit: int
    ) -> list[NamedDocument]:
        assert not (after and prefix), "one condition of a sort key is all that DynamoDB takes"
        condition, values = "catalog_id = :catalog", {":catalog": catalog_id}
        if after:
            condition, values = f"{condition} AND filename > :after", {**values, ":after": after}
        if prefix:
            condition += " AND begins_with(filename, :prefix)"
            values[":prefix"] = prefix
        with store_errors():
            answer = self.client.query(
                TableName=self.table,
                IndexName=NAME_INDEX,
                KeyConditionExpression=condition,
                ExpressionAttributeValues=to_item(values),
                Limit=limit,
            )
        # Read as they are: boto3's own reading takes longer than all the rest, of thousands.
        return [
            NamedDocument(
                document_id=each["sk"]["S"].removeprefix(DOCUMENT),
                filename=each["filename"]["S"],
                size=int(each["size"]["N"]),
                uploaded_at=datetime.fromisoformat(each["uploaded_at"]["S"]),
                has_gaps="gaps" in each,
            )
            for each in answer["Items"]
        ]

    def failed(self, catalog_id: str, *, limit: int) -> list[str]:
        return self._listed(catalog_id, FAILED, limit)

    def waiting(self, catalog_id: str, *, limit: int) -> list[str]:
        return self._listed(catalog_id, WAITING, limit)

    def records(self, catalog_id: str, document_ids: Iterable[str]) -> list[Document]:
        ids = list(document_ids)
        parts = chunks(ids, of=_KEYS_AT_ONCE)
        found = self.run_parallel([partial(self._records, catalog_id, each) for each in parts])
        by_id = {each.document_id: each for part in found for each in part}
        return [by_id[each] for each in ids if each in by_id]

    def _records(self, catalog_id: str, document_ids: Sequence[str]) -> list[Document]:
        keys = [document_key(catalog_id, each) for each in document_ids]
        return list(map(to_document, get_all(self.client, self.table, keys, consistent=True)))

    def _listed(self, catalog_id: str, listing: IndexedState, limit: int) -> list[str]:
        """Return the ids on one page of the listing: a megabyte, some 5,000 of them."""
        with store_errors():
            answer = self.client.query(**listing.query(self.table, catalog_id), Limit=limit)
        return [each["sk"]["S"].removeprefix(DOCUMENT) for each in answer["Items"]]


# Check which documents stay, by a BatchGetItem of their records and of their catalogs'.

_GOING = frozenset({str(CatalogStatus.DELETING), str(DocumentStatus.DELETING)})


class DynamoStayingDocuments(DynamoTable):
    """
    Reads staying documents, apart from `DynamoDocuments`, because a search has no use for writes.
    """

    def staying(self, keys: Iterable[DocumentKey]) -> dict[DocumentKey, DocumentNotes]:
        asked = set(keys)
        items = [document_key(*each) for each in asked]
        items += [key_of(each) for each in {catalog_id for catalog_id, _ in asked}]
        found = get_all(self.client, self.table, items, consistent=True)
        staying = {
            (each["catalog_id"], each["sk"]): each for each in found if each["status"] not in _GOING
        }
        return {
            (catalog_id, document_id): _notes(staying[catalog_id, DOCUMENT + document_id])
            for catalog_id, document_id in asked
            if {(catalog_id, METADATA), (catalog_id, DOCUMENT + document_id)} <= staying.keys()
        }


def _notes(item: Mapping[str, Any]) -> DocumentNotes:
    """Return the same as `DocumentNotes.of`, from a part of the record, which takes less time."""
    gaps: tuple[str, ...] = ()
    if item["status"] == DocumentStatus.INDEXED:
        gaps = gaps_of(
            item.get("gaps", ()),
            lacks_folder=item.get("lacks_folder", False),
            lost_sidecar=item.get("lost_sidecar", False),
        )
    indexed_at = item.get("indexed_at")
    return DocumentNotes(
        title_words=item.get("title_words", ""),
        gaps=gaps,
        text_id=item.get("text_id"),
        indexed_text_id=item.get("indexed_text_id"),
        version_id=item.get("version_id"),
        indexed_version_id=item.get("indexed_version_id"),
        status=DocumentStatus(item["status"]),
        status_reason=item.get("status_reason"),
        indexed_at=datetime.fromisoformat(indexed_at) if indexed_at else None,
    )
