"""Books that are always right, for the fakes keep none beside their documents."""

from collections.abc import Iterable
from dataclasses import dataclass

from stackroom.counting import Counts, counts_in
from stackroom.errors import RecordChanged
from stackroom.model import Catalog, Document
from stackroom.ports.books import ListingItem
from stackroom.ports.inventory import Page
from tests.fakes.pipeline import FakeDocuments


@dataclass(frozen=True, kw_only=True)
class FakeBooks:
    documents: FakeDocuments

    def listings(self, catalog_id: str, cursor: str | None) -> Page[ListingItem]:
        return Page(items=[])

    def stray(self, items: Iterable[ListingItem]) -> list[ListingItem]:
        return []

    def stands(self, item: ListingItem) -> bool:
        raise AssertionError("none is stray")

    def drop(self, item: ListingItem) -> None:
        raise AssertionError("none is stray")

    def unlisted(self, documents: Iterable[Document]) -> list[Document]:
        return []

    def list_anew(self, document: Document) -> None:
        raise AssertionError("none is unlisted")

    def recount(self, catalog: Catalog, counts: Counts) -> None:
        kept = self.documents.catalogs.kept
        there = kept[catalog.catalog_id]
        if (counts_in(there), there.updated_at) != (counts_in(catalog), catalog.updated_at):
            raise RecordChanged(catalog.catalog_id)
        kept[catalog.catalog_id] = there.model_copy(
            update={
                "document_count": counts.documents,
                "total_bytes": counts.size,
                "failed_count": counts.failed,
                "waiting_count": counts.waiting,
                "open_count": counts.open,
            }
        )
