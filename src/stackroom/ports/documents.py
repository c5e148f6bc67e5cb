"""The documents' records, each written only at the version that was read."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from stackroom.model import Document


@dataclass(frozen=True, kw_only=True)
class DocumentPage:
    """`next` is the id after which the catalog goes on; None at its end."""

    documents: tuple[Document, ...]
    next: str | None


class DocumentPages(Protocol):
    def page(self, catalog_id: str, *, after: str | None, limit: int) -> DocumentPage:
        """At most so many of a catalog, in one request, read consistently."""
        ...


class DocumentReader(Protocol):
    def of_catalog(self, catalog_id: str) -> Iterator[Document]:
        """All of a catalog, read consistently."""
        ...


class Documents(DocumentReader, Protocol):
    def get(self, catalog_id: str, document_id: str) -> Document | None: ...

    def save(self, document: Document) -> Document:
        """Keep it if it is still at the version that was read. Raises RecordChanged."""
        ...

    def save_all(self, documents: Iterable[Document]) -> list[Document]:
        """Save each; answer those saved, leaving out what changed since it was read."""
        ...

    def remove(self, document: Document) -> None:
        """
        Forget it if it is still at the version that was read, or gone by now. Raises RecordChanged.
        """
        ...
