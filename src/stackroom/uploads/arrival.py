"""
What follows from an object that lies in its catalog: its sidecar, its record, and its catalog kept.
"""

from dataclasses import replace
from datetime import datetime

from stackroom.catalog_counts import is_booked
from stackroom.keys import Location, can_have_sidecar
from stackroom.model import Catalog, CatalogStatus, Document, DocumentStatus
from stackroom.ports.bucket import StoredObject
from stackroom.uploads.descriptions import Description, describe
from stackroom.uploads.removal import receipt_of
from stackroom.uploads.seen import Seen
from stackroom.uploads.steps import (
    KeepCatalogOpen,
    KeepReceipt,
    OpenCatalog,
    Plan,
    RemoveRecord,
    SaveRecord,
    SettleCatalog,
    Step,
    UnmarkDeleting,
    UploadOutcome,
    WriteSidecar,
)


def planned_arrival(
    seen: Seen, found: StoredObject, now: datetime, correlation_id: str | None
) -> Plan:
    """`found` is the object that was seen."""
    catalog = seen.catalog or catalog_of(seen.location, now)
    before = [*_opening(seen, catalog), *_calling_removal_off(seen, now)]
    # A removal that was called off is no more; the record must not name its receipt.
    record = seen.record and seen.record.model_copy(update={"receipt_id": None})
    described = describe(seen.location, catalog, record, found, correlation_id, at=now)
    if seen.record is not None and record is not None and described.is_known:
        if not _lacks_its_sidecar(seen, found, described.sidecar):
            return _unchanged(seen.record, record, before)
        after = _with_sidecar_mended(seen, record, found, described, now)
    elif described.problem is not None:
        after = _rejected(seen, described.document, described.problem, described.sidecar, now)
    else:
        after = _registered(seen, described.document, found, described.sidecar, now)
    kept_open = KeepCatalogOpen(catalog_id=catalog.catalog_id)
    return replace(after, steps=(*before, *after.steps, kept_open))


def catalog_of(location: Location, now: datetime) -> Catalog:
    """The catalog as the first object in its folder opens it."""
    return Catalog(
        catalog_id=location.catalog_id,
        user_id=location.user_id,
        name=location.folder,
        s3_prefix=location.prefix,
        created_at=now,
        updated_at=now,
    )


def _opening(seen: Seen, catalog: Catalog) -> list[Step]:
    steps = list[Step]()
    if seen.catalog is None:
        steps.append(OpenCatalog(catalog=catalog))
    elif catalog.status is CatalogStatus.DELETING:
        steps.append(UnmarkDeleting(catalog_id=catalog.catalog_id))
    if seen.unplaced is not None:
        steps.append(RemoveRecord(document=seen.unplaced))
    return steps


def _calling_removal_off(seen: Seen, now: datetime) -> list[Step]:
    if seen.record is None or seen.record.receipt_id is None:
        return []
    # Kept even if it never was: whoever named it may still be about to keep it, open.
    receipt = seen.receipt or receipt_of(seen.record, seen.location.user_id)
    if not receipt.is_open:
        return []
    return [KeepReceipt(receipt=receipt.model_copy(update={"superseded_at": now}))]


def _unchanged(before: Document, record: Document, steps: list[Step]) -> Plan:
    if record != before or not is_booked(record):
        steps = [*steps, SaveRecord(document=record)]
    return Plan(
        outcome=UploadOutcome.UNCHANGED,
        steps=tuple(steps),
        run_for=record.catalog_id if record.is_unfinished else None,
        document_id=record.document_id,
    )


def _lacks_its_sidecar(seen: Seen, found: StoredObject, right: bytes) -> bool:
    if seen.sidecar is None:
        # Where we may not read, we may not write either; and without a sidecar it is nobody's.
        return can_have_sidecar(seen.location.key) and found.unreadable is None
    return seen.sidecar.body != right


def _with_sidecar_mended(
    seen: Seen, record: Document, found: StoredObject, right: Description, now: datetime
) -> Plan:
    """
    The record is right and the sidecar is not.

    Writing a sidecar can't be conditional. Whoever came too late with an older view may have laid
    theirs over it, or removed it, before their record was refused; or have died there.
    """
    if right.problem is None:
        again = record.model_copy(update={"attempts": 0})
        return _registered(seen, again, found, right.sidecar, now)
    # A job may have crawled it meanwhile with the sidecar that should not have been there.
    suspect = record.model_copy(update={"lingering": seen.sidecar is not None or record.lingering})
    return _rejected(seen, suspect, str(record.status_reason), right.sidecar, now)


def _registered(
    seen: Seen, document: Document, found: StoredObject, sidecar: bytes, now: datetime
) -> Plan:
    kept, steps = seen.sidecar, list[Step]()
    pending = document.moved(DocumentStatus.PENDING, at=now)
    if kept is not None and kept.body == sidecar:
        # Left alone, which spares the document another ingestion: the record was lost and is being
        # rebuilt, or another handler of the same event was quicker.
        since = max(kept.last_modified, found.last_modified)
        pending = pending.model_copy(update={"present_since": since})
        steps.append(SaveRecord(document=pending, moves=True))
    else:
        steps.append(WriteSidecar(key=document.s3_key, body=sidecar))
        saved = SaveRecord(document=pending, moves=True, present_from=found.last_modified)
        steps.append(saved)
    return Plan(
        outcome=UploadOutcome.REGISTERED,
        steps=tuple(steps),
        run_for=document.catalog_id,
        document_id=document.document_id,
    )


def _rejected(seen: Seen, document: Document, problem: str, sidecar: bytes, now: datetime) -> Plan:
    # Where jobs crawl, one may have gone over it before its sidecar said what it is.
    may_be_there = seen.is_crawled or (seen.record is not None and seen.record.may_be_indexed)
    lingering = document.lingering or may_be_there
    quarantine = WriteSidecar(key=document.s3_key, body=sidecar, quarantines=True)
    failed = document.moved(DocumentStatus.FAILED, at=now, reason=problem)
    failed = failed.model_copy(update={"lingering": lingering})
    # Quarantine before the record says failed: the object lies where jobs crawl.
    steps: list[Step] = [quarantine, SaveRecord(document=failed, moves=True)]
    if not lingering:
        steps.append(SettleCatalog(catalog_id=document.catalog_id))
    return Plan(
        outcome=UploadOutcome.REJECTED,
        steps=tuple(steps),
        run_for=document.catalog_id if lingering else None,
        document_id=document.document_id,
        reason=problem,
    )
