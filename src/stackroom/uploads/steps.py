"""
The writes that bring a record in step with its object, as values that a plan puts in order.

The order is part of the plan: the next look at a key must detect whatever a crash leaves undone.
"""

from dataclasses import dataclass
from datetime import datetime

from stackroom.model.records import Catalog, Document, Receipt


@dataclass(frozen=True, kw_only=True)
class OpenCatalog:
    catalog: Catalog

    def __str__(self) -> str:
        return f"open catalog {self.catalog.name!r} of {self.catalog.user_id!r}"


@dataclass(frozen=True, kw_only=True)
class UnmarkDeleting:
    """Keep a catalog that is being deleted, because an object lies in it."""

    catalog_id: str

    def __str__(self) -> str:
        return "keep its catalog, which was to be deleted"


@dataclass(frozen=True, kw_only=True)
class RecordAttributes:
    """
    Record the types of attributes before the document can be found, so that a search can detect a
    filter that can't match.
    """

    catalog_id: str
    types: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class WriteSidecar:
    key: str
    body: bytes
    quarantines: bool = False

    def __str__(self) -> str:
        return "quarantine the object" if self.quarantines else "write its sidecar"


@dataclass(frozen=True, kw_only=True)
class RemoveSidecar:
    key: str

    def __str__(self) -> str:
        return "remove its sidecar"


@dataclass(frozen=True, kw_only=True)
class KeepReceipt:
    receipt: Receipt

    def __str__(self) -> str:
        if self.receipt.is_open:
            return f"keep a receipt of its {'loss' if self.receipt.lost else 'removal'}"
        return "close the receipt of its removal"


@dataclass(frozen=True, kw_only=True)
class SaveRecord:
    """
    Save a document's record. With `moves`, its status changes now. From `present_from` on, the
    object has lain in the bucket; by the time of saving, so has the sidecar.
    """

    document: Document
    moves: bool = False
    present_from: datetime | None = None

    def __str__(self) -> str:
        reason = self.document.status_reason
        if not self.moves and reason is None:
            return "save its record"
        return f"record it as {self.document.status}" + (f": {reason}" if reason else "")


@dataclass(frozen=True, kw_only=True)
class RemoveRecord:
    document: Document

    def __str__(self) -> str:
        return "forget its record"


@dataclass(frozen=True, kw_only=True)
class KeepCatalogOpen:
    """
    Check that the catalog was not marked for deletion or closed since it was read.

    Whoever closes a catalog looks for documents first, and this step looks for the catalog after
    the document was saved, so one of the two sees the other. If the catalog is gone, all of it
    starts again. A crash in between leaves a record without a catalog, which no run takes up.
    """

    catalog_id: str


@dataclass(frozen=True, kw_only=True)
class KeepWithObject:
    """
    Check that the object was not deleted since it was read. Whoever handles the deletion looks for
    a record after the object had gone, and this step looks for the object after its first record
    was saved, so one of the two sees the other. If the object is gone, all of it starts again.
    """

    key: str


Step = (
    OpenCatalog
    | UnmarkDeleting
    | RecordAttributes
    | WriteSidecar
    | RemoveSidecar
    | KeepReceipt
    | SaveRecord
    | RemoveRecord
    | KeepCatalogOpen
    | KeepWithObject
)
