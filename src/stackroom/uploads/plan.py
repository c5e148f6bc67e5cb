"""Plan what the state of a key requires, from what was read and nothing else."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from stackroom.model.attributes import MOST_RECORDED
from stackroom.model.bucket import StoredObject, StoredSidecar
from stackroom.model.catalog_counts import is_booked
from stackroom.model.keys import Location, Unplaced, can_have_sidecar, digest
from stackroom.model.records import (
    Catalog,
    CatalogStatus,
    DataSourceType,
    Document,
    DocumentStatus,
    Receipt,
)
from stackroom.uploads.descriptions import (
    Description,
    already_describes,
    describe,
    describe_unplaced,
    quarantine_sidecar,
)
from stackroom.uploads.steps import (
    KeepCatalogOpen,
    KeepReceipt,
    KeepWithObject,
    OpenCatalog,
    RecordAttributes,
    RemoveRecord,
    RemoveSidecar,
    SaveRecord,
    Step,
    UnmarkDeleting,
    WriteSidecar,
)

# The state of one key, as it was read for a plan: the record first, the object second.


@dataclass(frozen=True, kw_only=True)
class KeyState:
    """
    The state of a key that belongs to a catalog, which may not exist yet. `unplaced` is the
    object's record from when it belonged to no catalog. `receipt` is the one that its record names.
    `is_lost` if the object is gone and no deletion of it was seen.
    """

    location: Location
    catalog: Catalog | None
    record: Document | None
    found: StoredObject | None
    sidecar: StoredSidecar | None = None
    unplaced: Document | None = None
    receipt: Receipt | None = None
    is_lost: bool = False

    @property
    def is_crawled(self) -> bool:
        """True if ingestion jobs crawl the key."""
        source = self.catalog.source if self.catalog is not None else None
        return source is not None and source.type is DataSourceType.S3


@dataclass(frozen=True, kw_only=True)
class UnplacedKeyState:
    """
    The state of a key that belongs to no catalog; junk counts as not found. `orphan` is its record
    in a catalog that no longer exists; `has_sidecar` if it has one, which it should not.
    """

    location: Unplaced
    record: Document | None
    found: StoredObject | None
    orphan: Document | None = None
    has_sidecar: bool = False


class UploadOutcome(StrEnum):
    REGISTERED = "registered"
    UNCHANGED = "unchanged"
    REJECTED = "rejected"
    DELETING = "deleting"
    FORGOTTEN = "forgotten"
    IGNORED = "ignored"


_UNMENTIONED = RecordAttributes | KeepCatalogOpen | KeepWithObject


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The steps that a key requires. `run_for` is the catalog that then needs a run, if any."""

    outcome: UploadOutcome
    steps: tuple[Step, ...] = ()
    run_for: str | None = None
    document_id: str | None = None
    receipt_id: str | None = None  # of the removal, if it is one
    reason: str | None = None
    unread: Document | None = None  # the record, if nothing is to be saved and it awaits its text
    awaits_text: bool = False  # after it the document waits for its file to be read

    @property
    def opens(self) -> Catalog | None:
        found = (step.catalog for step in self.steps if isinstance(step, OpenCatalog))
        return next(found, None)

    @property
    def is_of_a_loss(self) -> bool:
        """True if the object is gone and no deletion of it was seen."""
        return any(isinstance(step, KeepReceipt) and step.receipt.lost for step in self.steps)

    @property
    def changes_records(self) -> bool:
        """True if the records and the object disagree."""
        silent = WriteSidecar | RemoveSidecar | _UNMENTIONED
        return not all(isinstance(step, silent) for step in self.steps)

    def __str__(self) -> str:
        return ", ".join(str(step) for step in self.steps if not isinstance(step, _UNMENTIONED))


def plan(
    state: KeyState | UnplacedKeyState, now: datetime, correlation_id: str | None = None
) -> Plan:
    if isinstance(state, UnplacedKeyState):
        return _plan_unplaced(state, now, correlation_id)
    if state.location.is_junk:
        return _plan_junk(state)
    if state.found is not None:
        return _arrived(state, state.found, now, correlation_id)
    return _plan_gone(state, now)


def _plan_gone(state: KeyState, now: datetime) -> Plan:
    """Plan for a key without an object."""
    record, catalog = state.record, state.catalog
    if record is None:
        if state.sidecar is None:
            return Plan(outcome=UploadOutcome.IGNORED)
        left = RemoveSidecar(key=state.location.key)
        return Plan(outcome=UploadOutcome.FORGOTTEN, steps=(left,))
    forgotten = Plan(
        outcome=UploadOutcome.FORGOTTEN,
        steps=(RemoveRecord(document=record),),
        document_id=record.document_id,
    )
    if record.status is DocumentStatus.UPLOADING:
        # It may still be uploaded; once it can't, nothing of it is left, for nothing ever was.
        is_open = catalog is not None and catalog.status is not CatalogStatus.DELETING
        may_come = is_open and not record.has_lapsed(now)
        return Plan(outcome=UploadOutcome.IGNORED) if may_come else forgotten
    if catalog is not None:
        return _removed(state, record, now)
    if record.receipt_id is None or state.location.names_a_catalog_id:  # see KeepCatalogOpen
        return forgotten
    # Lost, for it is not closed while a removal is under way. Only a run of it can end that, and
    # close the receipt.
    opening = OpenCatalog(catalog=catalog_of(state.location, now))
    removal = _removed(state, record, now)
    return replace(removal, steps=(opening, *removal.steps))


def _plan_junk(state: KeyState) -> Plan:
    """Plan for a junk file: no record, no catalog, and no owner where ingestion jobs crawl it."""
    key, steps = state.location.key, list[Step]()
    if state.found is not None and state.is_crawled:
        right = quarantine_sidecar(state.location)
        if state.sidecar is None or state.sidecar.body != right:
            steps.append(WriteSidecar(key=key, body=right, quarantines=True))
    elif state.sidecar is not None:
        steps.append(RemoveSidecar(key=key))
    return Plan(outcome=UploadOutcome.IGNORED, steps=tuple(steps))


def _plan_unplaced(state: UnplacedKeyState, now: datetime, correlation_id: str | None) -> Plan:
    """Plan for an object without a catalog: it is recorded under its user, with the reason."""
    location, steps = state.location, list[Step]()
    if state.has_sidecar:
        steps.append(RemoveSidecar(key=location.key))
    if state.orphan is not None:
        steps.append(RemoveRecord(document=state.orphan))
    if state.found is None:
        if state.record is not None:
            steps.append(RemoveRecord(document=state.record))
        outcome = UploadOutcome.FORGOTTEN if steps else UploadOutcome.IGNORED
        return Plan(outcome=outcome, steps=tuple(steps))
    described = describe_unplaced(location, state.record, state.found, correlation_id, at=now)
    if state.record is None or not already_describes(state.record, described):
        steps.append(SaveRecord(document=described))
        if state.record is None:
            steps.append(KeepWithObject(key=location.key))
    return Plan(
        outcome=UploadOutcome.REJECTED,
        steps=tuple(steps),
        document_id=location.document_id,
        reason=location.reason,
    )


# The plan for an object that is stored in its catalog: its sidecar, its record, and its catalog
# kept.


def _arrived(
    state: KeyState, found: StoredObject, now: datetime, correlation_id: str | None
) -> Plan:
    catalog = state.catalog or catalog_of(state.location, now)
    before = [*_opening(state, catalog), *_calling_removal_off(state, now)]
    record = state.record and _as_it_lies(state.record, found)
    described = describe(state.location, record, found, correlation_id, at=now)
    before += _recording(catalog, described.attribute_types)
    if state.record is not None and record is not None and described.is_known:
        if not _lacks_its_sidecar(state, found, described.sidecar):
            return _unchanged(state.record, record, before)
        after = _with_sidecar_mended(state, record, found, described, now)
    elif described.problem is not None:
        after = _rejected(state, described.document, described.problem, described.sidecar, now)
    else:
        after = _registered(state, described.document, found, described.sidecar, now)
    kept: list[Step] = [KeepCatalogOpen(catalog_id=catalog.catalog_id)]
    if state.record is None:
        kept.append(KeepWithObject(key=state.location.key))
    return replace(after, steps=(*before, *after.steps, *kept))


def _as_it_lies(record: Document, found: StoredObject) -> Document:
    """
    Return the record without the removal that was called off, and without its receipt. The text
    that it awaits is that of the current version.
    """
    version_id = found.version_id if record.unread else record.version_id
    return record.model_copy(update={"receipt_id": None, "version_id": version_id})


def catalog_of(location: Location, now: datetime) -> Catalog:
    """Return the catalog that the first object in its folder opens."""
    return Catalog(
        catalog_id=location.catalog_id,
        user_id=location.user_id,
        name=location.folder,
        s3_prefix=location.prefix,
        created_at=now,
        updated_at=now,
    )


def _opening(state: KeyState, catalog: Catalog) -> list[Step]:
    steps = list[Step]()
    if state.catalog is None:
        steps.append(OpenCatalog(catalog=catalog))
    elif catalog.status is CatalogStatus.DELETING:
        steps.append(UnmarkDeleting(catalog_id=catalog.catalog_id))
    if state.unplaced is not None:
        steps.append(RemoveRecord(document=state.unplaced))
    return steps


def _recording(catalog: Catalog, types: frozenset[str]) -> list[Step]:
    new = types - catalog.attribute_types
    if not new or len(catalog.attribute_types) >= MOST_RECORDED:
        return []
    return [RecordAttributes(catalog_id=catalog.catalog_id, types=new)]


def _calling_removal_off(state: KeyState, now: datetime) -> list[Step]:
    if state.record is None or state.record.receipt_id is None:
        return []
    # The receipt is saved even if it never was: whoever named it may still be about to save it,
    # open.
    receipt = state.receipt or receipt_of(state.record, state.location.user_id)
    if not receipt.is_open:
        return []
    return [KeepReceipt(receipt=receipt.model_copy(update={"superseded_at": now}))]


def _unchanged(before: Document, record: Document, steps: list[Step]) -> Plan:
    is_saved = record == before and is_booked(record)
    if not is_saved:
        steps = [*steps, SaveRecord(document=record)]
    return Plan(
        outcome=UploadOutcome.UNCHANGED,
        steps=tuple(steps),
        run_for=record.catalog_id if record.unread or record.is_unfinished else None,
        document_id=record.document_id,
        unread=record if record.unread and is_saved else None,
    )


def _lacks_its_sidecar(state: KeyState, found: StoredObject, right: bytes) -> bool:
    if state.sidecar is None:
        # An object that we may not read, we may not write beside either; and without a sidecar it
        # is nobody's.
        return can_have_sidecar(state.location.key) and found.unreadable is None
    return state.sidecar.body != right


def _with_sidecar_mended(
    state: KeyState, record: Document, found: StoredObject, right: Description, now: datetime
) -> Plan:
    """
    Plan for a record that is right with a sidecar that is not.

    Writing a sidecar can't be conditional. A slower writer with an older view may have overwritten
    or removed it before its record was refused, or have crashed in between.
    """
    if right.problem is None:
        again = record.model_copy(update={"attempts": 0})
        return _registered(state, again, found, right.sidecar, now)
    # A job may have crawled it meanwhile with the sidecar that should not have been there.
    suspect = record.model_copy(update={"lingering": state.sidecar is not None or record.lingering})
    return _rejected(state, suspect, str(record.status_reason), right.sidecar, now)


def _is_foreign(sidecar: StoredSidecar, document: Document) -> bool:
    """Return True if somebody else wrote the sidecar that lies beside the document."""
    return (sidecar.attributes or {}).get("catalog_id") != document.catalog_id


def _registered(
    state: KeyState, document: Document, found: StoredObject, sidecar: bytes, now: datetime
) -> Plan:
    kept = state.sidecar
    lost = document.lost_sidecar or (kept is not None and _is_foreign(kept, document))
    pending = document.moved(DocumentStatus.PENDING, at=now)
    # What was deleted leaves the index even if this version fails. A job removes it by itself.
    is_deleted = state.record is not None and state.record.status is DocumentStatus.DELETING
    lingering = document.lingering or (is_deleted and not state.is_crawled)
    changes = {"lost_sidecar": lost, "lingering": lingering, **_text_of(state.record, document)}
    pending = pending.model_copy(update=changes)
    steps: tuple[Step, ...]
    if kept is not None and kept.body == sidecar:
        # Left alone, which spares the document another ingestion: the record was lost and is being
        # rebuilt, or another handler of the same event was quicker.
        since = max(kept.last_modified, found.last_modified)
        pending = pending.model_copy(update={"present_since": since})
        steps = (SaveRecord(document=pending, moves=True),)
    else:
        steps = (
            WriteSidecar(key=document.s3_key, body=sidecar),
            SaveRecord(document=pending, moves=True, present_from=found.last_modified),
        )
    return Plan(
        outcome=UploadOutcome.REGISTERED,
        steps=steps,
        run_for=document.catalog_id,
        document_id=document.document_id,
    )


def _text_of(record: Document | None, document: Document) -> dict[str, object]:
    """Return the record's fields about the text: a new version has yet to be read."""
    version = (document.etag, document.version_id)
    if record is None or record.unread or (record.etag, record.version_id) != version:
        return {"unread": True}
    if record.status is DocumentStatus.DELETING or record.is_rejected:
        return {"unread": True}
    return {name: getattr(record, name) for name in ("text_id", "text_tokens", "illegible")}


def _rejected(
    state: KeyState, document: Document, problem: str, sidecar: bytes, now: datetime
) -> Plan:
    # An ingestion job may have crawled it before its sidecar said what it is.
    may_be_there = state.is_crawled or (state.record is not None and state.record.may_be_indexed)
    lingering = document.lingering or may_be_there
    quarantine = WriteSidecar(key=document.s3_key, body=sidecar, quarantines=True)
    failed = document.moved(DocumentStatus.FAILED, at=now, reason=problem)
    failed = failed.model_copy(update={"lingering": lingering})
    # Quarantine before the record says failed: the object lies where jobs crawl.
    steps: list[Step] = [quarantine, SaveRecord(document=failed, moves=True)]
    return Plan(
        outcome=UploadOutcome.REJECTED,
        steps=tuple(steps),
        run_for=document.catalog_id if lingering else None,
        document_id=document.document_id,
        reason=problem,
    )


# The plan for a document whose object is gone: out of the index first, then its record.


def _removed(state: KeyState, record: Document, now: datetime) -> Plan:
    named, steps = _receipted(state, record, now)
    outcome = UploadOutcome.DELETING
    # An ingestion job may have indexed it though it was rejected.
    may_be_indexed = state.is_crawled or record.may_be_indexed
    if record.status is DocumentStatus.FAILED and not may_be_indexed:
        # Nobody's search could ever find it: no version lay there with a sidecar of its own, or a
        # search has shown since that it is out.
        never = receipt_of(named, state.location.user_id)
        closed = never.model_copy(update={"unsearchable_since": never.asked_at})
        outcome = UploadOutcome.FORGOTTEN
        steps = [
            RemoveSidecar(key=record.s3_key),
            *steps,
            KeepReceipt(receipt=closed),
            RemoveRecord(document=named),
        ]
    elif record.status is not DocumentStatus.DELETING:
        deleting = named.moved(DocumentStatus.DELETING, at=now).model_copy(update={"attempts": 0})
        saved = SaveRecord(document=deleting, moves=True)
        steps = [RemoveSidecar(key=record.s3_key), *steps, saved]
    return Plan(
        outcome=outcome,
        steps=tuple(steps),
        run_for=record.catalog_id if outcome is UploadOutcome.DELETING else None,
        document_id=record.document_id,
        receipt_id=named.receipt_id,
    )


def _receipted(state: KeyState, record: Document, now: datetime) -> tuple[Document, list[Step]]:
    """Return the record with the receipt of this removal, and the steps that save the receipt."""
    user_id, receipt = state.location.user_id, state.receipt
    if record.receipt_id is not None and receipt is None:
        # A crash came between naming and keeping it.
        return record, [KeepReceipt(receipt=receipt_of(record, user_id))]
    if receipt is not None and receipt.superseded_at is None:
        # Open, or closed by whoever died before the record was forgotten: an upload that has come
        # since would have made the record name none.
        return record, []
    receipt_id = receipt_id_of(record, now, is_lost=state.is_lost)
    named = record.model_copy(update={"receipt_id": receipt_id})
    return named, [SaveRecord(document=named), KeepReceipt(receipt=receipt_of(named, user_id))]


# The receipt of a removal follows from the document's record alone, which names it before it is
# saved. So any writer may save it any number of times.

_TIME = "%Y%m%dT%H%M%S%fZ"
_LOST = "-lost"


def receipt_id_of(document: Document, asked_at: datetime, *, is_lost: bool = False) -> str:
    """Return an id that sorts by the time of the request and marks a loss that nobody requested."""
    seal = digest(document.document_id, str(document.version))[:8]
    return f"rcpt-{asked_at.astimezone(UTC).strftime(_TIME)}-{seal}{_LOST if is_lost else ''}"


def receipt_of(document: Document, user_id: str) -> Receipt:
    """Return the open receipt that the record names."""
    assert document.receipt_id is not None, "a removal's record names its receipt"
    asked_at = datetime.strptime(document.receipt_id.split("-")[1], _TIME).replace(tzinfo=UTC)
    return Receipt(
        receipt_id=document.receipt_id,
        user_id=user_id,
        catalog_id=document.catalog_id,
        document_id=document.document_id,
        filename=document.filename,
        s3_key=document.s3_key,
        asked_at=asked_at,
        searchable_before=document.indexed_at,
        lost=document.receipt_id.endswith(_LOST),
    )
