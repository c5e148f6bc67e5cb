"""
What follows for a document whose object is gone: out of the index first, then forgotten.

Each removal has one receipt. The record names it before it is kept, so that whoever repeats this
after a crash goes on with the same one.
"""

from datetime import datetime

from stackroom.model import Document, DocumentStatus, Receipt
from stackroom.uploads.receipts import receipt_id_of, receipt_of
from stackroom.uploads.steps import (
    KeepReceipt,
    Plan,
    RemoveRecord,
    RemoveSidecar,
    SaveRecord,
    Step,
    UploadOutcome,
)


def planned_removal(record: Document, user_id: str, receipt: Receipt | None, now: datetime) -> Plan:
    """`receipt` is the one that the record names, as it was kept."""
    named, steps = _receipted(record, user_id, receipt, now)
    if record.status is DocumentStatus.DELETING:
        return _removal(UploadOutcome.DELETING, named, steps)
    steps.insert(0, RemoveSidecar(key=record.s3_key))
    if record.status is DocumentStatus.FAILED and not record.may_be_indexed:
        # Nobody's search could ever find it: no version lay there with a sidecar of its own, or a
        # search has shown since that it is out.
        never = receipt_of(named, user_id)
        closed = never.model_copy(update={"unsearchable_since": never.asked_at})
        steps += [KeepReceipt(receipt=closed), RemoveRecord(document=named)]
        return _removal(UploadOutcome.FORGOTTEN, named, steps)
    deleting = named.moved(DocumentStatus.DELETING, at=now).model_copy(update={"attempts": 0})
    steps.append(SaveRecord(document=deleting, moves=True))
    return _removal(UploadOutcome.DELETING, named, steps)


def _receipted(
    record: Document, user_id: str, receipt: Receipt | None, now: datetime
) -> tuple[Document, list[Step]]:
    """The record, naming the receipt of this removal, and what it takes to have it kept."""
    if record.receipt_id is not None and receipt is None:
        # A crash came between naming and keeping it.
        return record, [KeepReceipt(receipt=receipt_of(record, user_id))]
    if receipt is not None and _is_of_this_removal(record, receipt):
        return record, []
    named = record.model_copy(update={"receipt_id": receipt_id_of(record, now)})
    return named, [SaveRecord(document=named), KeepReceipt(receipt=receipt_of(named, user_id))]


def _is_of_this_removal(record: Document, receipt: Receipt) -> bool:
    if record.status is DocumentStatus.DELETING:
        # Else its object was there again, and went before anyone could write that down.
        return receipt.superseded_at is None
    return receipt.is_open  # a closed one belongs to an earlier removal


def _removal(outcome: UploadOutcome, record: Document, steps: list[Step]) -> Plan:
    return Plan(
        outcome=outcome,
        steps=tuple(steps),
        run_for=record.catalog_id if outcome is UploadOutcome.DELETING else None,
        document_id=record.document_id,
        receipt_id=record.receipt_id,
    )
