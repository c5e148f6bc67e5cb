"""What one look at a key asks for, worked out from what was seen and nothing else."""

from dataclasses import replace
from datetime import datetime

from stackroom.model import Catalog, CatalogStatus, Document, DocumentStatus
from stackroom.uploads.arrival import catalog_of, planned_arrival
from stackroom.uploads.descriptions import describe_unplaced, says_the_same
from stackroom.uploads.removal import planned_removal
from stackroom.uploads.seen import Seen, SeenUnplaced
from stackroom.uploads.steps import (
    OpenCatalog,
    Plan,
    RemoveRecord,
    RemoveSidecar,
    SaveRecord,
    Step,
    UploadOutcome,
)


def plan(seen: Seen | SeenUnplaced, now: datetime, correlation_id: str | None = None) -> Plan:
    if isinstance(seen, SeenUnplaced):
        return _plan_unplaced(seen, now, correlation_id)
    if seen.found is not None:
        return planned_arrival(seen, seen.found, now, correlation_id)
    return _plan_gone(seen, now)


def _plan_gone(seen: Seen, now: datetime) -> Plan:
    """No object lies there."""
    if seen.record is None:
        if seen.sidecar is None:
            return Plan(outcome=UploadOutcome.IGNORED)
        left = RemoveSidecar(key=seen.location.key)
        return Plan(outcome=UploadOutcome.FORGOTTEN, steps=(left,))
    if seen.record.status is DocumentStatus.UPLOADING:
        return _plan_announced(seen.record, seen.catalog, now)
    being_removed = seen.record.receipt_id is not None and not seen.location.names_a_catalog_id
    if seen.catalog is None and not being_removed:  # see KeepCatalogOpen
        return Plan(
            outcome=UploadOutcome.FORGOTTEN,
            steps=(RemoveRecord(document=seen.record),),
            document_id=seen.record.document_id,
        )
    removal = planned_removal(
        seen.record,
        seen.location.user_id,
        seen.receipt,
        now,
        is_crawled=seen.is_crawled,
        is_lost=seen.is_lost,
    )
    if seen.catalog is None:
        # Lost, for it is not closed while a removal is under way. Only a run of it can end that,
        # and close the receipt.
        opening = OpenCatalog(catalog=catalog_of(seen.location, now))
        return replace(removal, steps=(opening, *removal.steps))
    return removal


def _plan_announced(record: Document, catalog: Catalog | None, now: datetime) -> Plan:
    """It may still be uploaded; once it can't, nothing of it is left, for nothing ever was."""
    is_open = catalog is not None and catalog.status is not CatalogStatus.DELETING
    if is_open and not record.has_lapsed(now):
        return Plan(outcome=UploadOutcome.IGNORED)
    return Plan(
        outcome=UploadOutcome.FORGOTTEN,
        steps=(RemoveRecord(document=record),),
        document_id=record.document_id,
    )


def _plan_unplaced(seen: SeenUnplaced, now: datetime, correlation_id: str | None) -> Plan:
    """The object is recorded under its user, with the reason, for as long as it lies there."""
    location, steps = seen.location, list[Step]()
    if seen.orphan is not None:
        steps.append(RemoveRecord(document=seen.orphan))
    if seen.found is None:
        if seen.record is not None:
            steps.append(RemoveRecord(document=seen.record))
        outcome = UploadOutcome.FORGOTTEN if steps else UploadOutcome.IGNORED
        return Plan(outcome=outcome, steps=tuple(steps))
    described = describe_unplaced(location, seen.record, seen.found, correlation_id, at=now)
    if seen.record is None or not says_the_same(seen.record, described):
        steps.append(SaveRecord(document=described))
    return Plan(
        outcome=UploadOutcome.REJECTED,
        steps=tuple(steps),
        document_id=location.document_id,
        reason=location.reason,
    )
