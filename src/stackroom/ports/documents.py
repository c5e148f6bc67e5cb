"""The documents' records, each written only at the version that was read."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from stackroom.model import Document


class Documents(Protocol):
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

    def of_catalog(self, catalog_id: str) -> Iterator[Document]:
        """All of a catalog, read consistently."""
        ...
