"""
Deleting a document, or a whole catalog, because its owner says so.

The object goes at once, and with it follows what its event would have set off. The document is
removed only when no search finds it any more: its receipt says when (`Receipt.unsearchable_since`),
and until then the answer is that it was asked for.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import takewhile

from stackroom.clock import utc_now
from stackroom.errors import DocumentNotFound, RecordChanged
from stackroom.isolation import is_everybodys
from stackroom.keys import is_ours
from stackroom.model import Catalog, CatalogStatus, Document, DocumentStatus, Receipt
from stackroom.ownership import owned
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.ports.receipts import Receipts
from stackroom.runs.leases import Runs
from stackroom.uploads.reconcile import Uploads
from stackroom.uploads.removal import receipt_id_of, receipt_of
from stackroom.uploads.steps import Plan

_PASSES = 10
# Each key takes a handful of calls one after another; boto3's pool has ten connections.
_AT_ONCE = 8
# Whoever follows the same event may have another clock; so has S3, which tells whole seconds.
_SKEW = timedelta(minutes=1)

_Purge = Callable[[], Iterator[list[str]]]


@dataclass(frozen=True, kw_only=True)
class CatalogDeletion:
    """What a catalog's deletion has set off; the catalog is gone once its record is."""

    catalog_id: str
    name: str
    documents: int
    size: int
    receipt_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Deletions:
    catalogs: Catalogs
    documents: Documents
    bucket: DocumentBucket
    receipts: Receipts
    uploads: Uploads
    runs: Runs
    now: Callable[[], datetime] = utc_now

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
        repeat it: it goes on. Until then what it hasn't come to stays searchable.
        Raises CatalogNotFound, or RecordChanged if late events keep unmarking the catalog.
        """
        catalog = owned(self.catalogs, user_id, catalog_id)
        uncounted = (DocumentStatus.DELETING, DocumentStatus.UPLOADING)
        documents = self.documents.of_catalog(catalog_id)
        before = [each for each in documents if each.status not in uncounted]
        asked_at = self.now()
        prefix, before_that = catalog.s3_prefix, asked_at - _SKEW
        there = self.bucket.versions_since(prefix, before_that)
        purge = partial(self.bucket.purge, prefix, before=before_that, recent=there)
        failures: list[Exception] = []  # of single keys
        for _ in range(_PASSES):
            if self._is_emptied(catalog, purge, failures):
                break
        else:
            raise RecordChanged(catalog_id)
        receipt_ids = self._remove_records(catalog_id, failures)
        self.runs.ask(catalog_id)
        if failures:  # what is marked by now waits for none of them
            raise failures[0]
        recent = self._receipts_since(user_id, asked_at)
        receipt_ids |= {each.receipt_id for each in recent if each.catalog_id == catalog_id}
        return CatalogDeletion(
            catalog_id=catalog_id,
            name=catalog.name,
            documents=len(before),
            size=sum(each.size for each in before),
            receipt_ids=tuple(sorted(receipt_ids)),
        )

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
            self.runs.ask(plan.run_for)
        return plan

    def _is_emptied(self, catalog: Catalog, purge: _Purge, failures: list[Exception]) -> bool:
        """
        Remove what lies under the catalog's prefix; False if it must be done again.

        What was dropped since keeps the catalog alive (`Uploads` unmarks it). Late events of what
        we are about to remove do the same, and then all begins anew.
        """
        try:
            self.catalogs.mark_deleting(catalog.catalog_id, at=self.now())
        except RecordChanged:
            return True  # gone already
        for keys in purge():
            self._reconcile((key for key in keys if not is_ours(key)), failures)
        now = self.catalogs.get(catalog.catalog_id)
        if now is None or now.status is CatalogStatus.DELETING:
            return True
        return self.bucket.holds_any(catalog.s3_prefix)

    def _remove_records(self, catalog_id: str, failures: list[Exception]) -> set[str]:
        """Whatever is still on record, though its object is gone; the receipts of all there are."""
        left: list[str] = []
        receipt_ids: set[str] = set()
        for document in self.documents.of_catalog(catalog_id):
            if _is_deleting(document) and document.receipt_id is not None:
                receipt_ids.add(document.receipt_id)
            else:
                left.append(document.s3_key)
        return receipt_ids | self._reconcile(left, failures)

    def _reconcile(self, keys: Iterable[str], failures: list[Exception]) -> set[str]:
        """The receipts of what is removed; each key has its turn, whatever fails with others."""
        with ThreadPoolExecutor(_AT_ONCE) as workers:
            tried = list(workers.map(self._tried, keys))
        failures += [each for each in tried if isinstance(each, Exception)]
        return {each.receipt_id for each in tried if isinstance(each, Plan) and each.receipt_id}

    def _tried(self, key: str) -> Plan | Exception:
        try:
            return self.uploads.reconcile(key)
        except Exception as error:
            if is_everybodys(error):
                raise
            return error

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
        for receipt in self._receipts_since(user_id, asked_at - _SKEW):
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


def _is_deleting(document: Document) -> bool:
    return document.status is DocumentStatus.DELETING
