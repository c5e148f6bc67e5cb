"""Books that are always right, for the fakes keep none beside their documents."""

from collections.abc import Iterable
from dataclasses import dataclass

from stackroom.model import Document
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
