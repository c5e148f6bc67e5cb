"""
What follows for a document whose object is gone: out of the index first, then forgotten.

Each removal has one receipt, and it can be written from the record alone, so that it doesn't matter
who does, or how often: the record names it before it is kept.
"""

import hashlib
from datetime import UTC, datetime

from stackroom.model import Document, DocumentStatus, Receipt
from stackroom.uploads.steps import (
    KeepReceipt,
    Plan,
    RemoveRecord,
    RemoveSidecar,
    SaveRecord,
    SettleCatalog,
    Step,
    UploadOutcome,
)

_TIME = "%Y%m%dT%H%M%S%fZ"
_LOST = "-lost"


def planned_removal(
    record: Document,
    user_id: str,
    receipt: Receipt | None,
    now: datetime,
    *,
    is_crawled: bool,
    is_lost: bool = False,
) -> Plan:
    """
    `receipt` is the one that the record names, as it was kept. Where a file `is_crawled`, a job may
    have indexed it though it was rejected. `is_lost`: no deletion of it was seen.
    """
    named, steps = _receipted(record, user_id, receipt, now, is_lost=is_lost)
    if record.status is DocumentStatus.DELETING:
        return _removal(UploadOutcome.DELETING, named, steps)
    steps.insert(0, RemoveSidecar(key=record.s3_key))
    may_be_indexed = is_crawled or record.may_be_indexed
    if record.status is DocumentStatus.FAILED and not may_be_indexed:
        # Nobody's search could ever find it: no version lay there with a sidecar of its own, or a
        # search has shown since that it is out.
        never = receipt_of(named, user_id)
        closed = never.model_copy(update={"unsearchable_since": never.asked_at})
        steps += [
            KeepReceipt(receipt=closed),
            RemoveRecord(document=named),
            SettleCatalog(catalog_id=named.catalog_id),
        ]
        return _removal(UploadOutcome.FORGOTTEN, named, steps)
    deleting = named.moved(DocumentStatus.DELETING, at=now).model_copy(update={"attempts": 0})
    steps.append(SaveRecord(document=deleting, moves=True))
    return _removal(UploadOutcome.DELETING, named, steps)


def _receipted(
    record: Document, user_id: str, receipt: Receipt | None, now: datetime, *, is_lost: bool
) -> tuple[Document, list[Step]]:
    """The record, naming the receipt of this removal, and what it takes to have it kept."""
    if record.receipt_id is not None and receipt is None:
        # A crash came between naming and keeping it.
        return record, [KeepReceipt(receipt=receipt_of(record, user_id))]
    if receipt is not None and receipt.superseded_at is None:
        # Open, or closed by whoever died before the record was forgotten: an upload that has come
        # since would have made the record name none.
        return record, []
    named = record.model_copy(update={"receipt_id": receipt_id_of(record, now, is_lost=is_lost)})
    return named, [SaveRecord(document=named), KeepReceipt(receipt=receipt_of(named, user_id))]


def _removal(outcome: UploadOutcome, record: Document, steps: list[Step]) -> Plan:
    return Plan(
        outcome=outcome,
        steps=tuple(steps),
        run_for=record.catalog_id if outcome is UploadOutcome.DELETING else None,
        document_id=record.document_id,
        receipt_id=record.receipt_id,
    )


def receipt_id_of(document: Document, asked_at: datetime, *, is_lost: bool = False) -> str:
    """Ids sort by the time of asking, and say of what nobody asked for that it was lost."""
    version = f"{document.document_id}\x00{document.version}"
    seal = hashlib.sha256(version.encode()).hexdigest()[:8]
    return f"rcpt-{asked_at.astimezone(UTC).strftime(_TIME)}-{seal}{_LOST if is_lost else ''}"


def receipt_of(document: Document, user_id: str) -> Receipt:
    """The receipt that the record names, open."""
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
