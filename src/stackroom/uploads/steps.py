"""
The writes that bring a record in step with its object, each as a value, which a plan orders.

The order is part of the plan: whatever a crash leaves undone, the next look at the key must see.
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
    """The catalog is being deleted, and an object lies in it: it stays."""

    catalog_id: str

    def __str__(self) -> str:
        return "keep its catalog, which was to be deleted"


@dataclass(frozen=True, kw_only=True)
class RecordAttributes:
    """So that a search can tell a filter that can't match: before the document can be found."""

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
    `moves`: the record says when it was saved, for its status is news then. `present_from`: object
    and sidecar both lie there by then, the object since that moment.
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
    The catalog may have been marked for deletion, or closed, since it was read.

    Whoever closes it has looked for documents before, and this looks for the catalog after the
    document was saved: one of the two sees the other. If the catalog is gone, all begins anew. If a
    crash comes in between, a record of no catalog is left; no run ever took it up.
    """

    catalog_id: str


@dataclass(frozen=True, kw_only=True)
class KeepWithObject:
    """
    The object may have been deleted since it was seen. Whoever was told so looked for a record
    after it had gone, and this looks for the object after its first record was saved: one of the
    two sees the other. If the object is gone, all begins anew.
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
