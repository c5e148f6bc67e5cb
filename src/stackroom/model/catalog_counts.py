"""
A catalog's counts of its documents, and how one write of a document changes them.

Pure. The repository writes counts and document in one transaction
(aws/dynamodb/document_records.py), so counting needs no reading of documents.
"""

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from datetime import datetime
from operator import add, sub

from stackroom.model.records import Catalog, CatalogStatus, Counted, Document, DocumentStatus

_WAITING = (DocumentStatus.UPLOADING, DocumentStatus.PENDING, DocumentStatus.INDEXING)


@dataclass(frozen=True)
class Counts:
    """
    The counts of a catalog, or a difference of counts; `documents` include `waiting` and `failed`.
    """

    documents: int = 0
    size: int = 0  # bytes
    failed: int = 0
    waiting: int = 0
    open: int = 0
    over: int = 0  # wait over a cap
    over_new: int = 0  # of them, those that were never indexed
    over_new_size: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*map(add, self.each, other.each))

    def __sub__(self, other: "Counts") -> "Counts":
        return Counts(*map(sub, self.each, other.each))

    @property
    def each(self) -> tuple[int, ...]:
        """The counts in the order of the fields."""
        return astuple(self)

    def within(self, there: "Counts") -> "Counts":
        """Return the difference, limited so that no count becomes negative."""
        return Counts(*(max(-some, by) for some, by in zip(there.each, self.each, strict=True)))


def counts_in(catalog: Catalog) -> Counts:
    """Return the counts in a catalog's record."""
    return Counts(
        documents=catalog.document_count,
        size=catalog.total_bytes,
        failed=catalog.failed_count,
        waiting=catalog.waiting_count,
        open=catalog.open_count,
        over=catalog.over_count,
        over_new=catalog.over_new_count,
        over_new_size=catalog.over_new_bytes,
    )


def counts_of(document: Document) -> Counts:
    """Return how the document is counted, by its own record."""
    is_open = int(document.opened_at is not None)
    counted = document.counted
    if counted is None:
        return Counts(open=is_open)
    return Counts(
        documents=1,
        size=counted.size,
        failed=int(counted.failed),
        waiting=int(counted.waiting),
        open=is_open,
        over=int(counted.over_since is not None),
        over_new=int(counted.over_new),
        over_new_size=counted.size if counted.over_new else 0,
    )


def booked(document: Document, opened_at: datetime | None) -> Document:
    """
    Return the document with its present state as the state that is counted.

    `opened_at` is since when it was open before; a document that opens now opens when it is
    written.
    """
    opened = document.opens_at(opened_at) if document.is_open else None
    counted = None
    if document.is_counted:
        is_over = document.over_cap is not None
        was_over = document.counted.over_since if document.counted is not None else None
        counted = Counted(
            size=document.size,
            failed=document.status is DocumentStatus.FAILED,
            waiting=document.status in _WAITING and not is_over,
            over_since=(was_over or opened_at or document.updated_at) if is_over else None,
            over_new=is_over and document.indexed_at is None,
        )
    return document.model_copy(update={"opened_at": opened, "counted": counted})


def status_of(counts: Counts) -> CatalogStatus:
    """
    Return the status of a catalog that counts so much and is not being deleted: `indexing` while
    anything waits, then `failed` if all that it has to show is failures.
    """
    if counts.waiting:
        return CatalogStatus.INDEXING
    is_lost = 0 < counts.failed == counts.documents
    return CatalogStatus.FAILED if is_lost else CatalogStatus.READY


def not_searched(catalogs: Iterable[Catalog]) -> str:
    """
    Return how many documents of these catalogs have a version that no search finds yet, which is
    each document's only version or its newest; empty if there are none.
    """
    staying = [each for each in catalogs if each.status is not CatalogStatus.DELETING]
    indexing = sum(each.waiting_count for each in staying)
    over = sum(each.over_count for each in staying)
    failed = sum(each.failed_count for each in staying)
    total = max(indexing + over, sum(each.document_count for each in staying))
    documents = f"of {total:,} {'document' if total == 1 else 'documents'}"
    reasons = []
    if indexing:
        reasons.append(
            f"{indexing:,} {documents} {'is' if indexing == 1 else 'are'} still being indexed"
        )
    if over:
        reasons.append(f"{over:,} {documents} {'waits' if over == 1 else 'wait'} for a cap")
    if failed:
        reasons.append(f"{failed:,} {documents} could not be indexed")
    return f"{' and '.join(reasons)}; what is new in them was not searched." if reasons else ""


def is_booked(document: Document) -> bool:
    """Return True if what is counted of the document matches its record."""
    return document == booked(document, document.opened_at)


def uncounted(document: Document) -> Document:
    """Return the document as one that no catalog counts and no run takes up."""
    return document.model_copy(update={"opened_at": None, "counted": None})


def awaits_indexing(document: Document) -> bool:
    """Return True if the document makes its catalog's status `indexing`."""
    return document.counted is not None and document.counted.waiting


def indexed_last(documents: Iterable[Document]) -> datetime | None:
    """Return when the last of the documents was indexed, if any was."""
    indexed = (each for each in documents if each.status is DocumentStatus.INDEXED)
    return max((each.indexed_at for each in indexed if each.indexed_at), default=None)
