"""
Turn a change of a record into the event that its owner sees, if there is one.

These models are the contract with readers of events (docs/events.md), and the source of the schemas
in infra/event_schemas. The fields of version 1 stay; a later version may add more.
"""

from abc import abstractmethod
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from stackroom.model.caps import PERCENTS, CapReached
from stackroom.model.keys import locate, unplaced_partition
from stackroom.model.records import (
    CapKind,
    Catalog,
    CatalogStatus,
    Document,
    DocumentStatus,
    Receipt,
)


class Gone(StrEnum):
    """The state of a record that no longer exists."""

    DELETED = "deleted"


class DeletionState(StrEnum):
    ASKED = "asked"  # the document is on its way out of the index
    REMOVED = "removed"  # a search for it found nothing
    SUPERSEDED = "superseded"  # the file came back before it was out
    FOUND_AGAIN = "found_again"  # after it was removed; it is removed once more


class CapState(StrEnum):
    NEAR = "near"  # 80 % of it
    REACHED = "reached"  # what comes now waits


class _Detail(BaseModel):
    """`event_id` is the same however often a change is told; `at` is when it was recorded."""

    model_config = ConfigDict(frozen=True)

    schema_version: Literal["1"] = "1"
    event_id: str
    user_id: str
    at: AwareDatetime

    @property
    @abstractmethod
    def record(self) -> str:
        """Return the record that changed; its events keep their order."""


class DocumentChanged(_Detail):
    """
    A file that lies in no catalog has no `catalog_id`; `version` counts up. `gaps` say what of an
    indexed file can't be found; it has none if its whole text can.
    """

    catalog_id: str | None = None
    document_id: str
    filename: str
    state: DocumentStatus | Gone
    previous_state: DocumentStatus | None = None
    reason: str | None = None
    gaps: tuple[str, ...] | None = None
    version: int
    correlation_id: str | None = None
    receipt_id: str | None = None

    @property
    def record(self) -> str:
        return self.document_id


class CatalogChanged(_Detail):
    catalog_id: str
    name: str
    state: CatalogStatus | Gone
    previous_state: CatalogStatus | None = None

    @property
    def record(self) -> str:
        return self.catalog_id


class DeletionChanged(_Detail):
    """A change of one document's deletion, named by its receipt."""

    catalog_id: str
    document_id: str
    filename: str
    receipt_id: str
    state: DeletionState
    previous_state: DeletionState | None = None

    @property
    def record(self) -> str:
        return self.receipt_id


class UserCapReached(_Detail):
    """
    A user has reached a percentage of a cap, reported once a month. `used` and `limit` are in
    documents, bytes, or dollars.
    """

    cap: CapKind
    state: CapState
    percent: int
    month: str
    used: float
    limit: float

    @property
    def record(self) -> str:
        return f"{self.month} {self.cap}"

    @property
    def catalog_id(self) -> None:
        """Return None, because a user's cap concerns all of their catalogs."""
        return


Detail = DocumentChanged | CatalogChanged | DeletionChanged | UserCapReached
# EventBridge's word for what kind of thing happened, and the schema of each.
DETAIL_TYPES: dict[str, type[Detail]] = {
    "Document State Changed": DocumentChanged,
    "Catalog State Changed": CatalogChanged,
    "Deletion State Changed": DeletionChanged,
    "Cap Reached": UserCapReached,
}
_TYPE_OF = {model: name for name, model in DETAIL_TYPES.items()}


class Event(BaseModel):
    """An event with the names of EventBridge's envelope, which has an `id` of its own there."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    id: str
    source: Literal["stackroom"] = "stackroom"
    detail_type: Annotated[str, Field(alias="detail-type")]
    time: AwareDatetime
    detail: Detail

    def to_json(self) -> dict[str, Any]:
        """Return the event as JSON, without absent values."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


Stated = Document | Catalog | Receipt | CapReached


def change_of(
    old: Stated | None, new: Stated | None, *, event_id: str, at: datetime
) -> Event | None:
    """
    Return the event of a change, or None. `old` and `new` are the record before and after, None if
    it did not or does not exist; `at` is when it was written.
    """
    detail = _detail(old, new, event_id, at)
    if detail is None:
        return None
    is_same = not isinstance(detail, UserCapReached) and detail.state == detail.previous_state
    if is_same and not _have_changed_gaps(old, new):
        return None
    return Event(id=event_id, detail_type=_TYPE_OF[type(detail)], time=at, detail=detail)


def _have_changed_gaps(old: Stated | None, new: Stated | None) -> bool:
    """Return True if a document's gaps changed; they may be known only after it was indexed."""
    return isinstance(old, Document) and isinstance(new, Document) and old.gaps != new.gaps


def _detail(old: Stated | None, new: Stated | None, event_id: str, at: datetime) -> Detail | None:
    match old, new:
        case ((Document() | None), (Document() | None)) if old or new:
            return _of_document(old, new, event_id, at)
        case ((Catalog() | None), (Catalog() | None)) if old or new:
            return _of_catalog(old, new, event_id, at)
        case ((Receipt() | None), Receipt()):
            return _of_deletion(old, new, event_id, at)
        case None, CapReached():
            return UserCapReached(
                event_id=event_id,
                user_id=new.user_id,
                at=new.at,
                cap=new.cap,
                state=CapState.REACHED if new.percent == max(PERCENTS) else CapState.NEAR,
                percent=new.percent,
                month=new.month,
                used=float(new.used),
                limit=float(new.limit),
            )
    return None  # a receipt, or that a cap was reached, is forgotten after its time


def _of_document(
    old: Document | None, new: Document | None, event_id: str, at: datetime
) -> DocumentChanged | None:
    document = new or old
    assert document is not None, "one of the two is there"
    if new is None and document.has_lapsed(at):
        return None  # a link that nobody used; there was no document
    user_id = locate(document.s3_key).user_id
    is_placed = document.catalog_id != unplaced_partition(user_id)
    return DocumentChanged(
        event_id=event_id,
        user_id=user_id,
        at=new.updated_at if new else at,
        catalog_id=document.catalog_id if is_placed else None,
        document_id=document.document_id,
        filename=document.filename,
        state=new.shown_status if new else Gone.DELETED,
        previous_state=old.shown_status if old else None,
        reason=new.status_reason if new else None,
        gaps=(new.shown_gaps or None) if new else None,
        # Its removal comes after its last version.
        version=document.version if new else document.version + 1,
        correlation_id=document.correlation_id,
        receipt_id=document.receipt_id,
    )


def _of_catalog(
    old: Catalog | None, new: Catalog | None, event_id: str, at: datetime
) -> CatalogChanged:
    catalog = new or old
    assert catalog is not None, "one of the two is there"
    return CatalogChanged(
        event_id=event_id,
        user_id=catalog.user_id,
        at=new.updated_at if new else at,
        catalog_id=catalog.catalog_id,
        name=catalog.name,
        state=new.status if new else Gone.DELETED,
        previous_state=old.status if old else None,
    )


def _of_deletion(old: Receipt | None, new: Receipt, event_id: str, at: datetime) -> DeletionChanged:
    return DeletionChanged(
        event_id=event_id,
        user_id=new.user_id,
        at=at,
        catalog_id=new.catalog_id,
        document_id=new.document_id,
        filename=new.filename,
        receipt_id=new.receipt_id,
        state=_state_of(new),
        previous_state=_state_of(old) if old else None,
    )


def _state_of(receipt: Receipt) -> DeletionState:
    if receipt.superseded_at is not None:
        return DeletionState.SUPERSEDED
    if receipt.unsearchable_since is not None:
        return DeletionState.REMOVED
    return DeletionState.FOUND_AGAIN if receipt.found_again_at is not None else DeletionState.ASKED
