"""What follows for a record when its object is gone, and when it is back again."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from stackroom.clock import utc_now
from stackroom.model import Document, DocumentStatus
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.documents import Documents
from stackroom.ports.receipts import Receipts
from stackroom.uploads.receipts import receipt_id_of, receipt_of


@dataclass(frozen=True, kw_only=True)
class Removals:
    documents: Documents
    bucket: DocumentBucket
    receipts: Receipts
    now: Callable[[], datetime] = utc_now

    def follow(self, user_id: str, record: Document) -> Document:
        """
        Have a document whose object is gone removed from the index; its record, as it was last.

        That is `deleting`, or it is forgotten, for nothing of it was ever searchable. Safe to
        repeat after a crash at any point. Raises RecordChanged.
        """
        if record.status is DocumentStatus.DELETING:
            return self._receipted(user_id, record)
        self.bucket.remove_sidecar(record.s3_key)
        receipted = self._receipted(user_id, record)
        if record.status is DocumentStatus.FAILED and not record.may_be_indexed:
            # Nobody's search could ever find it: no version lay there with a sidecar of its own,
            # or a search has shown since that it is out.
            receipt = receipt_of(receipted, user_id)
            never = receipt.model_copy(update={"unsearchable_since": receipt.asked_at})
            self.receipts.keep(never)
            self.documents.remove(receipted)
            return receipted
        deleting = receipted.moved(DocumentStatus.DELETING, at=self.now())
        return self.documents.save(deleting.model_copy(update={"attempts": 0}))

    def call_off(self, user_id: str, record: Document) -> Document:
        """
        Supersede the removal of a document whose object is there again.

        Its record may then be described anew. Safe to repeat. Raises RecordChanged.
        """
        if record.receipt_id is None:
            return record
        # Kept even if it never was: whoever named it may still be about to keep it, open.
        receipt = receipt_of(record, user_id)
        kept = self.receipts.get(user_id, receipt.receipt_id) or receipt
        if kept.is_open:
            self.receipts.keep(kept.model_copy(update={"superseded_at": self.now()}))
        if record.status is DocumentStatus.DELETING:
            return record  # about to be written over by a description of what is there
        return self.documents.save(record.model_copy(update={"receipt_id": None}))

    def _receipted(self, user_id: str, record: Document) -> Document:
        """
        The record, naming a receipt that is kept.

        Named first, so that whoever repeats this after a crash goes on with the same receipt.
        """
        if self._is_receipted(user_id, record):
            return record
        receipt_id = receipt_id_of(record, self.now())
        named = self.documents.save(record.model_copy(update={"receipt_id": receipt_id}))
        self.receipts.keep(receipt_of(named, user_id))
        return named

    def _is_receipted(self, user_id: str, record: Document) -> bool:
        if record.receipt_id is None:
            return False
        kept = self.receipts.get(user_id, record.receipt_id)
        if kept is None:  # a crash came between naming and keeping it
            self.receipts.keep(receipt_of(record, user_id))
            return True
        if record.status is DocumentStatus.DELETING:
            # Its object was there again, and went before anyone could write that down.
            return kept.superseded_at is None
        return kept.is_open  # a closed one belongs to an earlier removal
