"""What is kept beside a catalog's documents, to be mended: what lists them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from stackroom.model import Document


@dataclass(frozen=True, kw_only=True)
class ListingItem:
    """What lists a document as open or failed; `name` is the store's own."""

    catalog_id: str
    document_id: str
    name: str


class ListingItems(Protocol):
    """All readings are consistent; nothing is written on what may have changed since."""

    def stray(self, catalog_id: str) -> Iterator[ListingItem]:
        """Those whose documents' records don't say that they stand there."""
        ...

    def is_gone(self, item: ListingItem) -> bool: ...

    def drop(self, item: ListingItem) -> None:
        """Raises RecordChanged if the document's record says by now that it stands there."""
        ...

    def unlisted(self, documents: Iterable[Document]) -> list[Document]:
        """Those of one catalog whose record says that an item lists them, and there is none."""
        ...

    def list_anew(self, document: Document) -> None:
        """Raises RecordChanged if the document changed since it was read."""
        ...
