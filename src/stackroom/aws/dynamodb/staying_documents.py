"""Check which documents stay, by a BatchGetItem of their records and of their catalogs'."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from stackroom.aws.dynamodb.catalog_records import METADATA, key_of
from stackroom.aws.dynamodb.document_items import DOCUMENT, document_key
from stackroom.aws.dynamodb.items import get_all
from stackroom.aws.dynamodb.table import DynamoTable
from stackroom.model.records import CatalogStatus, DocumentStatus, gaps_of
from stackroom.model.repositories import DocumentKey, DocumentNotes

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
