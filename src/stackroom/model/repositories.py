"""The documents' records, each written only at the version that was read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from stackroom.model.catalog_counts import Counts
from stackroom.model.records import (
    STILL_ANSWERS,
    Catalog,
    DataSource,
    Document,
    DocumentStatus,
    Receipt,
)

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, kw_only=True)
class ListingPage(Generic[T_co]):
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


DocumentKey = tuple[str, str]  # the ids of its catalog and of itself


@dataclass(frozen=True, kw_only=True)
class DocumentNotes:
    """
    What a search tells of a document: the words of its title, what can't be found of it, which of
    its texts and versions its passages may be of, and what became of the newest.
    """

    title_words: str = ""
    gaps: tuple[str, ...] = ()
    text_id: str | None = None
    indexed_text_id: str | None = None
    version_id: str | None = None
    indexed_version_id: str | None = None
    status: DocumentStatus = DocumentStatus.INDEXED
    status_reason: str | None = None
    indexed_at: datetime | None = None

    @classmethod
    def of(cls, document: Document) -> "DocumentNotes":
        return cls(
            title_words=document.title_words,
            gaps=document.shown_gaps,
            text_id=document.text_id,
            indexed_text_id=document.indexed_text_id,
            version_id=document.version_id,
            indexed_version_id=document.indexed_version_id,
            status=document.status,
            status_reason=document.status_reason,
            indexed_at=document.indexed_at,
        )

    @property
    def is_left(self) -> bool:
        """True where a newer version failed, so that all passages are of an earlier one."""
        is_other = self.indexed_version_id not in (None, self.version_id)
        return is_other and self.status is DocumentStatus.FAILED

    @property
    def earlier(self) -> str:
        """The sentence beside a passage of an earlier version."""
        at = "" if self.indexed_at is None else f" indexed on {self.indexed_at:%Y-%m-%d %H:%M} UTC"
        became = "is not indexed yet"
        if self.status is DocumentStatus.FAILED:
            became = f"failed: {str(self.status_reason).removesuffix(STILL_ANSWERS)}"
        return f"of the version{at}; the newer one {became}"


class StayingDocuments(Protocol):
    def staying(self, keys: Iterable[DocumentKey]) -> Mapping[DocumentKey, DocumentNotes]:
        """
        Return the documents on record that nobody has asked to delete, nor their catalog, each with
        what a search tells of it; read consistently.
        """


class ListedDocuments(Protocol):
    def open_in(
        self, catalog_id: str, *, limit: int | None = None, newest: bool = False
    ) -> Iterator[Document]:
        """
        What a run of the catalog has yet to see to, longest open first, or the `newest`, read
        consistently.

        Reads as much as is open, whatever else the catalog holds.
        """

    def failed_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        """What counts as failed, likewise; by id."""

    def over_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        """What waits over a cap, likewise; what was open longest comes first."""


class Documents(ListedDocuments, Protocol):
    """
    With each write goes what lists the document and what its catalog counts of it; where the
    catalog is gone, and for objects of no catalog, it is neither listed nor counted.
    """

    def get(self, catalog_id: str, document_id: str) -> Document | None: ...

    def save(self, document: Document) -> Document:
        """Keep it if it is still at the version that was read. Raises RecordChanged."""

    def save_all(self, documents: Iterable[Document]) -> list[Document]:
        """Save each; answer those saved, leaving out what changed since it was read."""

    def remove(self, document: Document) -> None:
        """
        Forget it if it is still at the version that was read, or gone by now. Raises RecordChanged.
        """

    def page(self, catalog_id: str, *, after: str | None, limit: int) -> DocumentPage:
        """At most so many of a catalog, in one request, read consistently."""

    def of_catalog(self, catalog_id: str) -> Iterator[Document]:
        """All of a catalog, read consistently: for repairs, for it costs as much as it holds."""


@dataclass(frozen=True, kw_only=True)
class NamedDocument:
    """What a list of names tells of a document: 0 bytes of one that has yet to be uploaded."""

    document_id: str
    filename: str
    size: int
    uploaded_at: datetime
    has_gaps: bool = False


class NameLists(Protocol):
    def named(
        self, catalog_id: str, *, after: str = "", prefix: str = "", limit: int
    ) -> Sequence[NamedDocument]:
        """By name as UTF-8 sorts it, a moment late: behind a name, or those that begin so."""


class DocumentNames(NameLists, Protocol):
    """
    Parts of a catalog's documents, for somebody who looks for some. `failed` are the ids of what
    counts as failed, `waiting` of what is open and then of what waits over a cap.
    """

    def failed(self, catalog_id: str, *, limit: int) -> Sequence[str]: ...

    def waiting(self, catalog_id: str, *, limit: int) -> Sequence[str]: ...

    def records(self, catalog_id: str, document_ids: Iterable[str]) -> Sequence[Document]:
        """Those that there are, in this order, read consistently."""


class Catalogs(Protocol):
    """
    What they count of their documents is written with these; what they count is their status, but
    for those that are being deleted.
    """

    def get(self, catalog_id: str) -> Catalog | None: ...

    def of_user(self, user_id: str) -> Iterator[Catalog]: ...

    def place(self, catalog_id: str, source: DataSource) -> None:
        """
        Store where its documents are ingested; once stored, that is never changed. Raises
        RecordChanged if it is stored already, and another place.
        """

    def record_attributes(self, catalog_id: str, types: frozenset[str]) -> None:
        """
        Add to what the catalog knows of its documents' attributes, while it knows less than
        MOST_RECORDED; nothing if there is no such catalog.
        """

    def describe(self, catalog_id: str, *, name: str, description: str, at: datetime) -> None:
        """Raises RecordChanged if the catalog is gone or being deleted."""

    def clear_data_source(self, catalog_id: str) -> None:
        """Forget where a catalog that is being deleted lived. Raises RecordChanged if it isn't."""

    def recount(self, seen: Catalog, counts: Counts) -> None:
        """It counts so much. Raises RecordChanged if by now it counts something else than seen."""

    def mark_deleting(self, catalog_id: str, *, at: datetime) -> None:
        """From now on the catalog is being deleted. Raises RecordChanged if there is none."""

    def unmark_deleting(self, catalog_id: str, *, at: datetime) -> None:
        """It is being deleted no more. Raises RecordChanged if it is gone already."""


class CatalogRegister(Catalogs, Protocol):
    """Where catalogs are opened too, which takes counting them."""

    def open(self, catalog: Catalog) -> Catalog:
        """Keep a new catalog, or answer the one that is there. Raises CatalogLimitReached."""

    def close(self, catalog: Catalog) -> None:
        """Forget a catalog that is being deleted. Raises RecordChanged if it isn't any more."""


class Receipts(Protocol):
    """Of removals, kept for whoever asked for them."""

    def get(self, user_id: str, receipt_id: str) -> Receipt | None: ...

    def keep(self, receipt: Receipt) -> None:
        """As it is now; but one that is closed stays as it was closed, whoever comes later."""

    def of_user(self, user_id: str) -> Iterator[Receipt]:
        """The newest first."""

    def reopen(self, receipt: Receipt, *, at: datetime) -> None:
        """Its document was found at that moment. Raises RecordChanged if it isn't as it was."""

    def proven(self, cursor: str | None) -> ListingPage[Receipt]:
        """Everybody's that a search has closed, the latest first, until they are let go of."""

    def let_go(self, receipt: Receipt) -> None:
        """It has been looked at for the last time."""


class OpenReceipts(Protocol):
    def open_ones(self, *, limit: int) -> list[Receipt]:
        """
        Everybody's whose proof is awaited, asked for longest ago first, as they were a moment ago.
        """


@dataclass(frozen=True, kw_only=True)
class Inspected:
    """
    What is wrong with a version of a file, if anything is, the words of its title, what of it
    can't be found, and the id of its text with the tokens in it; None where the file could not be
    read. `version_id` is the version's in the bucket. `illegible` says why a person would see no
    text in a file that was read.
    """

    version_id: str | None = None
    reason: str | None = None
    illegible: str | None = None
    text_id: str | None = None
    text_tokens: int | None = None
    title_words: str = ""
    gaps: tuple[str, ...] = ()

    def applied_to(self, document: Document) -> Document:
        """Return the document, which waited for this, for a run to take up."""
        read = {"text_id": self.text_id, "text_tokens": self.text_tokens}
        return document.model_copy(update={**read, "illegible": self.illegible, "unread": False})


class InspectionResults(Protocol):
    """What our own inspection found in a file, for Bedrock promises no reasons."""

    def results_for(self, documents: Iterable[Document]) -> dict[str, Inspected]:
        """By document id, of those of which this very version was inspected."""


class InspectionRequests(Protocol):
    def ask(self, key: str) -> None:
        """Have the file that lies there inspected; safe to repeat."""
