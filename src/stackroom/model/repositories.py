"""The ports of the records. Each record is written only at the version that was read."""

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
    A page of a listing, and the cursor of the next; None at its end. `malformed` names what lies
    there and is not an item.
    """

    items: Sequence[T_co]
    next: str | None = None
    malformed: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class DocumentPage:
    """A page of a catalog's documents. `next` is the id after which the next begins, or None."""

    documents: tuple[Document, ...]
    next: str | None


DocumentKey = tuple[str, str]  # the ids of its catalog and of itself


@dataclass(frozen=True, kw_only=True)
class DocumentNotes:
    """
    The report of a document that a search needs: the words of its title, its gaps, the texts and
    versions that its passages may be of, and the state of the newest version.
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
        """True if a newer version failed, so that all passages are of an earlier one."""
        is_other = self.indexed_version_id not in (None, self.version_id)
        return is_other and self.status is DocumentStatus.FAILED

    @property
    def earlier(self) -> str:
        """The sentence for a passage of an earlier version."""
        at = "" if self.indexed_at is None else f" indexed on {self.indexed_at:%Y-%m-%d %H:%M} UTC"
        became = "is not indexed yet"
        if self.status is DocumentStatus.FAILED:
            became = f"failed: {str(self.status_reason).removesuffix(STILL_ANSWERS)}"
        return f"of the version{at}; the newer one {became}"


class StayingDocuments(Protocol):
    def staying(self, keys: Iterable[DocumentKey]) -> Mapping[DocumentKey, DocumentNotes]:
        """
        Return the documents on record whose deletion, or whose catalog's, nobody has requested,
        each with what a search reports of it. Consistent read.
        """


class ListedDocuments(Protocol):
    def open_in(
        self, catalog_id: str, *, limit: int | None = None, newest: bool = False
    ) -> Iterator[Document]:
        """
        Yield the documents that a run of the catalog has yet to process, longest open first, or the
        `newest` first. Consistent read.

        Reads only as many records as are open.
        """

    def failed_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        """Yield the failed documents, by id. Consistent read."""

    def over_in(self, catalog_id: str, *, limit: int | None = None) -> Iterator[Document]:
        """Yield the documents that wait for a cap, longest open first. Consistent read."""


class Documents(ListedDocuments, Protocol):
    """
    The records of documents. Each write also updates the listings and the counts of the catalog;
    documents without a catalog are neither listed nor counted.
    """

    def get(self, catalog_id: str, document_id: str) -> Document | None: ...

    def save(self, document: Document) -> Document:
        """Save the document unless it changed since it was read. Raises RecordChanged."""

    def save_all(self, documents: Iterable[Document]) -> list[Document]:
        """
        Save each document; return those saved, without those that changed since they were read.
        """

    def remove(self, document: Document) -> None:
        """Remove the record unless it changed since it was read. Raises RecordChanged."""

    def page(self, catalog_id: str, *, after: str | None, limit: int) -> DocumentPage:
        """Return a page of a catalog in one request. Consistent read."""

    def of_catalog(self, catalog_id: str) -> Iterator[Document]:
        """Yield all documents of a catalog, for repairs: it reads all of it. Consistent read."""


@dataclass(frozen=True, kw_only=True)
class NamedDocument:
    """An entry of the list of names; its size is 0 until the document is uploaded."""

    document_id: str
    filename: str
    size: int
    uploaded_at: datetime
    has_gaps: bool = False


class NameLists(Protocol):
    def named(
        self, catalog_id: str, *, after: str = "", prefix: str = "", limit: int
    ) -> Sequence[NamedDocument]:
        """Return documents in the order of their UTF-8 names, eventually consistent."""


class DocumentNames(NameLists, Protocol):
    """
    Parts of a catalog's documents, for a person who looks for some. `failed` returns ids of failed
    documents, `waiting` ids of open ones, then of those over a cap.
    """

    def failed(self, catalog_id: str, *, limit: int) -> Sequence[str]: ...

    def waiting(self, catalog_id: str, *, limit: int) -> Sequence[str]: ...

    def records(self, catalog_id: str, document_ids: Iterable[str]) -> Sequence[Document]:
        """Return the records that exist, in this order. Consistent read."""


class Catalogs(Protocol):
    """
    The records of catalogs. Counts of documents are written with the documents; the status follows
    from the counts, except while a catalog is being deleted.
    """

    def get(self, catalog_id: str) -> Catalog | None: ...

    def of_user(self, user_id: str) -> Iterator[Catalog]: ...

    def place(self, catalog_id: str, source: DataSource) -> None:
        """
        Store the data source of its documents, which never changes afterwards. Raises RecordChanged
        if another one is stored already.
        """

    def record_attributes(self, catalog_id: str, types: frozenset[str]) -> None:
        """
        Add types to the attributes on record, up to MOST_RECORDED; does nothing without such a
        catalog.
        """

    def describe(self, catalog_id: str, *, name: str, description: str, at: datetime) -> None:
        """Raises RecordChanged if the catalog is gone or being deleted."""

    def clear_data_source(self, catalog_id: str) -> None:
        """
        Clear the data source of a catalog that is being deleted. Raises RecordChanged if it isn't.
        """

    def recount(self, seen: Catalog, counts: Counts) -> None:
        """Set the counts. Raises RecordChanged if they differ from the ones seen by now."""

    def mark_deleting(self, catalog_id: str, *, at: datetime) -> None:
        """Mark the catalog as being deleted. Raises RecordChanged if there is none."""

    def unmark_deleting(self, catalog_id: str, *, at: datetime) -> None:
        """Undo the mark. Raises RecordChanged if the catalog is gone."""


class CatalogRegister(Catalogs, Protocol):
    """The records of catalogs, with opening and closing, which maintains their number."""

    def open(self, catalog: Catalog) -> Catalog:
        """Save a new catalog, or return the existing one. Raises LimitReached."""

    def close(self, catalog: Catalog) -> None:
        """Remove a catalog that is being deleted. Raises RecordChanged if it isn't any more."""


class Receipts(Protocol):
    """The receipts of removals."""

    def get(self, user_id: str, receipt_id: str) -> Receipt | None: ...

    def keep(self, receipt: Receipt) -> None:
        """Save the receipt, unless the one on record is closed."""

    def of_user(self, user_id: str) -> Iterator[Receipt]:
        """Yield the user's receipts, newest first."""

    def reopen(self, receipt: Receipt, *, at: datetime) -> None:
        """Record that the document was found then. Raises RecordChanged if the receipt changed."""

    def proven(self, cursor: str | None) -> ListingPage[Receipt]:
        """Return closed receipts of all users that are still checked, latest first."""

    def end_checks(self, receipt: Receipt) -> None:
        """End the checks of the receipt."""


class OpenReceipts(Protocol):
    def open_ones(self, *, limit: int) -> list[Receipt]:
        """Return open receipts of all users, oldest request first, eventually consistent."""


@dataclass(frozen=True, kw_only=True)
class Inspected:
    """
    The result of inspecting a version of a file: the problem, if any, the words of its title, its
    gaps, and the id of its text with the number of tokens; None if the file could not be read.
    `version_id` is the version's in the bucket. `illegible` says why a person would see no text in
    a file that was read.
    """

    version_id: str | None = None
    reason: str | None = None
    illegible: str | None = None
    text_id: str | None = None
    text_tokens: int | None = None
    title_words: str = ""
    gaps: tuple[str, ...] = ()

    def applied_to(self, document: Document) -> Document:
        """Return the document, which waited for this, ready for a run."""
        read = {"text_id": self.text_id, "text_tokens": self.text_tokens}
        return document.model_copy(update={**read, "illegible": self.illegible, "unread": False})


class InspectionResults(Protocol):
    """Results of our own inspection of files, since Bedrock gives no reasons."""

    def results_for(self, documents: Iterable[Document]) -> dict[str, Inspected]:
        """Return results by document id, for those documents whose version was inspected."""


class InspectionRequests(Protocol):
    def ask(self, key: str) -> None:
        """Request an inspection of the object's file. Safe to repeat."""
