"""
Deleting a document, or a whole catalog, because its owner says so.

The object goes at once, and with it follows what its event would have set off. The document is
removed only when no search finds it any more: its receipt says when (`Receipt.unsearchable_since`),
and until then the answer is that it was asked for.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from stackroom.catalog_access import owned
from stackroom.clock import utc_now
from stackroom.deletions.emptying import SKEW, Emptying
from stackroom.errors import DocumentNotFound
from stackroom.model import Catalog, Document, DocumentStatus, Receipt
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.ports.receipts import Receipts
from stackroom.runs.requests import RunRequests
from stackroom.uploads.reconcile import Uploads
from stackroom.uploads.removal import receipt_id_of, receipt_of
from stackroom.uploads.steps import Plan

# Seconds that whoever deletes a catalog waits for its data source to go, and between two looks.
_PATIENCE, _LOOK = 20.0, 0.5


@dataclass(frozen=True, kw_only=True)
class CatalogDeletion:
    """
    What a catalog's deletion has set off; the catalog is gone once its record is.

    `documents` and `size` are what it counted when this was asked. Unless it `is_asked_for` as a
    whole, time was over before every document was: ask again, and it goes on.
    """

    catalog_id: str
    name: str
    documents: int
    size: int
    receipt_ids: tuple[str, ...]
    is_asked_for: bool = True


@dataclass(frozen=True, kw_only=True)
class Deletions:
    catalogs: Catalogs
    documents: Documents
    bucket: DocumentBucket
    receipts: Receipts
    uploads: Uploads
    requests: RunRequests
    now: Callable[[], datetime] = utc_now
    seconds: float = 240.0  # of a catalog's deletion: what a function of five minutes has for it
    pause: Callable[[float], None] = time.sleep

    def delete_document(self, user_id: str, catalog_id: str, document_id: str) -> Receipt:
        """
        Ask for the document's removal. Safe to repeat: the same removal has the same receipt.

        Raises CatalogNotFound or DocumentNotFound.
        """
        catalog = owned(self.catalogs, user_id, catalog_id)
        document = self.documents.get(catalog_id, document_id)
        if document is None or document.has_lapsed(self.now()):
            raise DocumentNotFound(document_id)
        asked_at = self.now()
        if (
            document.status is DocumentStatus.UPLOADING
            and self.bucket.head(document.s3_key) is None
        ):
            return self._called_off(document, user_id, asked_at)
        plan = self._remove(document.s3_key)
        return self._receipt(catalog, document, plan.receipt_id, asked_at)

    def delete_unplaced(self, key: str) -> None:
        """Remove an object that belongs to no catalog, and its record. Safe to repeat."""
        self._remove(key)

    def delete_catalog(self, user_id: str, catalog_id: str) -> CatalogDeletion:
        """
        Ask for the removal of the catalog and everything in it.

        What is dropped after this was asked stays, and keeps the catalog alive. After a crash,
        repeat it: it goes on; so too where time was over. Until then what it hasn't come to stays
        searchable.
        Raises CatalogNotFound, or RecordChanged if late events keep unmarking the catalog.
        """
        catalog = owned(self.catalogs, user_id, catalog_id)
        asked_at = self.now()
        until = asked_at + timedelta(seconds=self.seconds)
        emptying = Emptying(
            catalog=catalog,
            catalogs=self.catalogs,
            documents=self.documents,
            bucket=self.bucket,
            uploads=self.uploads,
            now=self.now,
            is_time_over=lambda: self.now() > until,
        )
        is_asked_for = emptying.remove_all(asked_at)
        self.requests.ask(catalog_id)
        if emptying.failures:  # what is marked by now waits for none of them
            raise emptying.failures[0]
        recent = self._receipts_since(user_id, asked_at)
        receipt_ids = {each.receipt_id for each in recent if each.catalog_id == catalog_id}
        return CatalogDeletion(
            catalog_id=catalog_id,
            name=catalog.name,
            documents=catalog.document_count,
            size=catalog.total_bytes,
            receipt_ids=tuple(sorted(receipt_ids | emptying.receipt_ids)),
            is_asked_for=is_asked_for,
        )

    def is_gone(self, catalog_id: str) -> bool:
        """Whether a deleted catalog goes, with what it has in an index, while somebody waits."""
        until = self.now() + timedelta(seconds=_PATIENCE)
        while self.catalogs.get(catalog_id) is not None:
            if self.now() >= until:
                return False
            self.pause(_LOOK)
        return True

    def _called_off(self, document: Document, user_id: str, asked_at: datetime) -> Receipt:
        """It was announced, and nobody has uploaded it. Raises RecordChanged if it comes now."""
        self.documents.remove(document)
        named = document.model_copy(update={"receipt_id": receipt_id_of(document, asked_at)})
        receipt = receipt_of(named, user_id).model_copy(update={"unsearchable_since": asked_at})
        self.receipts.keep(receipt)
        return receipt

    def _remove(self, key: str) -> Plan:
        """The object, and what its event would have set off; the plan that it was done by."""
        if self.bucket.head(key) is not None:
            self.bucket.remove(key)
        plan = self.uploads.reconcile(key)
        if plan.run_for is not None:
            self.requests.ask(plan.run_for)
        return plan

    def _receipt(
        self, catalog: Catalog, document: Document, receipt_id: str | None, asked_at: datetime
    ) -> Receipt:
        user_id = catalog.user_id
        if receipt_id is not None:
            receipt = self.receipts.get(user_id, receipt_id)
            assert receipt is not None, "a removal keeps its receipt before it answers"
            return receipt
        # The removal was under way when it was asked for, and is over by now.
        if document.receipt_id is not None and (
            kept := self.receipts.get(user_id, document.receipt_id)
        ):
            return kept
        # The event was quicker, and the document's record may even be gone by now.
        for receipt in self._receipts_since(user_id, asked_at - SKEW):
            if receipt.document_id == document.document_id:
                return receipt
        # Someone dropped the file again before anything followed from its removal.
        later = document.model_copy(update={"receipt_id": receipt_id_of(document, asked_at)})
        receipt = receipt_of(later, user_id).model_copy(update={"superseded_at": self.now()})
        self.receipts.keep(receipt)
        return receipt

    def _receipts_since(self, user_id: str, moment: datetime) -> Iterator[Receipt]:
        newest_first = self.receipts.of_user(user_id)
        return takewhile(lambda each: each.asked_at >= moment, newest_first)
