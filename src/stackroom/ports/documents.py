"""The documents' records, each written only at the version that was read."""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from stackroom.model import Document

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, kw_only=True)
class Page(Generic[T_co]):
    """
    A part of a listing, and where it goes on; None at its end. `malformed` names what lies there
    and is none of what is listed.
    """

    items: Sequence[T_co]
    next: str | None = None
    malformed: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class DocumentPage:
    """`next` is the id after which the catalog goes on; None at its end."""

    documents: tuple[Document, ...]
    next: str | None


class DocumentPages(Protocol):
    def page(self, catalog_id: str, *, after: str | None, limit: int) -> DocumentPage:
        """At most so many of a catalog, in one request, read consistently."""
        ...


class ListedDocuments(Protocol):
    def open_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        """
        What a run of the catalog has yet to see to, longest open first, read consistently.

        Reads as much as is open, whatever else the catalog holds.
        """
        ...

    def failed_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        """What counts as failed, likewise; by id."""
        ...


DocumentKey = tuple[str, str]  # the ids of its catalog and of itself


class StayingDocuments(Protocol):
    def staying(self, keys: Iterable[DocumentKey]) -> Set[DocumentKey]:
        """
        Those of documents on record that nobody has asked to go, nor their catalog; read
        consistently.
        """
        ...


class DocumentReader(Protocol):
    def of_catalog(self, catalog_id: str) -> Iterator[Document]:
        """All of a catalog, read consistently: for repairs, for it costs as much as it holds."""
        ...


class Documents(DocumentReader, DocumentPages, ListedDocuments, Protocol):
    """
    With each write go the document's open item, there while it is open, and what its catalog counts
    of it; the latter is left out where the catalog is gone, and for objects of no catalog.
    """

    def get(self, catalog_id: str, document_id: str) -> Document | None: ...

    def save(self, document: Document) -> Document:
        """
        Keep it if it is still at the version that was read. Raises RecordChanged.

        Its catalog is `indexing` from then on if it is to be indexed, unless it is being deleted.
        """
        ...

    def save_all(self, documents: Iterable[Document]) -> list[Document]:
        """Save each; answer those saved, leaving out what changed since it was read."""
        ...

    def remove(self, document: Document) -> None:
        """
        Forget it if it is still at the version that was read, or gone by now. Raises RecordChanged.
        """
        ...
