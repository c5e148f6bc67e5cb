"""
Delete a document, or a whole catalog, at its owner's request.

The object goes at once, with everything that its event would have set off. The document is removed
only when no search finds it any more: its receipt records that moment
(`Receipt.unsearchable_since`), and until then the deletion counts as requested.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import takewhile

from stackroom.access.tenancy import owned
from stackroom.clock import utc_now
from stackroom.concurrency import RunParallel, result_or_error, run_in_threads
from stackroom.errors import DocumentNotFound, RecordChanged
from stackroom.model.bucket import DocumentBucket
from stackroom.model.keys import (
    Location,
    canonical_name,
    locate,
    may_be_document,
    text_folder,
)
from stackroom.model.records import Catalog, CatalogStatus, Document, DocumentStatus, Receipt
from stackroom.model.repositories import Catalogs, Documents, Receipts
from stackroom.runs.run_leases import RunRequests
from stackroom.uploads.plan import Plan, UploadOutcome, receipt_id_of, receipt_of
from stackroom.uploads.reconcile import Uploads

# Seconds that whoever deletes a catalog waits for its data source to go, and between two looks.
_PATIENCE, _POLL_SECONDS = 20.0, 0.5


@dataclass(frozen=True, kw_only=True)
class CatalogDeletion:
    """
    The effects of a catalog's deletion; the catalog is gone once its record is.

    `documents` and `size` are its counts at the time of the request. Unless it `is_asked_for` as a
    whole, there was not time for every document: repeat the request, and it goes on.
    """

    catalog_id: str
    name: str
    documents: int
    size: int
    receipt_ids: tuple[str, ...]
    is_asked_for: bool = True


@dataclass(frozen=True, kw_only=True)
class DocumentDeletions:
    """
    The result of deleting several documents. `left` are the ids that there was no time for: request
    them again.
    """

    receipts: tuple[Receipt, ...]
    left: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Deletions:
    catalogs: Catalogs
    documents: Documents
    bucket: DocumentBucket
    receipts: Receipts
    uploads: Uploads
    requests: RunRequests
    now: Callable[[], datetime] = utc_now
    seconds: float = 240.0  # of what takes many: what a function of five minutes has for it
    pause: Callable[[float], None] = time.sleep
    run_parallel: RunParallel = run_in_threads

    def delete_document(self, user_id: str, catalog_id: str, document_id: str) -> Receipt:
        """
        Request the document's removal. Safe to repeat: the same removal has the same receipt.
        Raises CatalogNotFound or DocumentNotFound.
        """
        catalog = owned(self.catalogs, user_id, catalog_id)
        document = self.documents.get(catalog_id, document_id)
        if document is None or document.has_lapsed(self.now()):
            raise DocumentNotFound(document_id)
        asked_at = self.now()
        plan = self._remove(document.s3_key)
        is_to_come = document.status is DocumentStatus.UPLOADING
        if is_to_come and plan.outcome is UploadOutcome.IGNORED:
            return self._cancel_upload(document, user_id, asked_at)
        return self._receipt(catalog, document, plan.receipt_id, asked_at)

    def delete_documents(
        self, user_id: str, catalog_id: str, document_ids: Sequence[str]
    ) -> DocumentDeletions:
        """
        Request the removal of several documents, as many as there is time for, each as
        `delete_document` does. Documents that no longer exist are skipped. Raises CatalogNotFound.
        """
        owned(self.catalogs, user_id, catalog_id)
        until = self.now() + timedelta(seconds=self.seconds)
        receipts: list[Receipt] = []
        left = list(document_ids)

        def delete(document_id: str) -> Receipt | None:
            try:
                return self.delete_document(user_id, catalog_id, document_id)
            except DocumentNotFound:
                return None

        while left and (not receipts or self.now() < until):
            some, left = left[:_AT_ONCE], left[_AT_ONCE:]
            receipts += filter(None, self.run_parallel([partial(delete, each) for each in some]))
        return DocumentDeletions(receipts=tuple(receipts), left=tuple(left))

    def delete_unplaced(self, key: str) -> None:
        """Remove an object that belongs to no catalog, and its record. Safe to repeat."""
        self._remove(key)

    def delete_catalog(self, user_id: str, catalog_id: str) -> CatalogDeletion:
        """
        Request the removal of the catalog and everything in it. A file that is dropped after the
        request stays, and keeps the catalog alive.

        After a crash, or if there was not enough time, repeat the request: it goes on. Documents
        that it hasn't reached yet stay searchable. Raises CatalogNotFound, or RecordChanged if late
        events keep unmarking the catalog.
        """
        catalog = owned(self.catalogs, user_id, catalog_id)
        asked_at = self.now()
        emptying = Emptying(self, catalog, asked_at)
        is_asked_for = emptying.remove_all()
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
        """
        Wait for a while, and return True if the deleted catalog has gone with everything that it
        had indexed.
        """
        until = self.now() + timedelta(seconds=_PATIENCE)
        while self.catalogs.get(catalog_id) is not None:
            if self.now() >= until:
                return False
            self.pause(_POLL_SECONDS)
        return True

    def _cancel_upload(self, document: Document, user_id: str, asked_at: datetime) -> Receipt:
        """
        Remove a document that was announced but never processed, whether or not it was uploaded,
        and return its receipt. Raises RecordChanged if it is processed now.
        """
        self.documents.remove(document)
        named = document.model_copy(update={"receipt_id": receipt_id_of(document, asked_at)})
        receipt = receipt_of(named, user_id).model_copy(update={"unsearchable_since": asked_at})
        self.receipts.keep(receipt)
        return receipt

    def _remove(self, key: str) -> Plan:
        """
        Remove the object and everything that its event would have set off; return the plan that did
        it.
        """
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


# All that lies in a catalog removed, and what is on record of it, key by key.
#
# A large catalog takes longer than a function may: when its time is over it is left as it is,
# being deleted, and whoever asks again goes on. Nothing here grows with what lies there.

# Whoever follows the same event may have another clock; so has S3, which tells whole seconds.
SKEW = timedelta(minutes=1)

# Objects that were written within SKEW of the request are distinguished from later ones by a list
# of all, made first. For more documents than this the list alone would take minutes, and the clocks
# of both sides are trusted instead.
_LISTED_FIRST = 10_000
_PAGE = 1000  # documents on record, at a time
_SLICE = 100  # keys, after which time may be over: a second's work, or a few
_MOST_RECEIPTS = 10_000  # that are named

_PASSES = 10
_AT_ONCE = 10  # documents, after which time may be over; each takes a handful of calls

_Purge = Callable[[], Iterator[list[str]]]


@dataclass(frozen=True)
class Emptying:
    """
    Empties one catalog. `failures` are errors of single keys; every key is tried all the same.

    `receipt_ids` are the receipts so far, not all of very many. The time is checked between pages,
    and between slices of one: some are done in any case, so that repeated requests get on. If time
    runs out within a page, its objects are gone, and some of its records have no receipt yet.
    """

    on: Deletions
    catalog: Catalog
    asked_at: datetime
    failures: list[Exception] = field(default_factory=list)
    receipt_ids: set[str] = field(default_factory=set)

    def remove_all(self) -> bool:
        """
        Remove everything that was in the catalog at that moment; return False if time ran out
        first.

        Raises RecordChanged if late events keep unmarking the catalog.
        """
        purge = self._purge_of(self.catalog.s3_prefix)
        for _ in range(_PASSES):
            if self._is_emptied(purge):
                return self._remove_records()
            if self._is_time_over():
                return False
        raise RecordChanged(self.catalog.catalog_id)

    def _is_time_over(self) -> bool:
        return self.on.now() > self.asked_at + timedelta(seconds=self.on.seconds)

    def _purge_of(self, prefix: str) -> _Purge:
        if self.catalog.document_count > _LISTED_FIRST or self._is_old_enough:
            before = self.catalog.deleting_since or self.asked_at
            return partial(self.on.bucket.purge, prefix, before=before)
        before = self.asked_at - SKEW
        there = self.on.bucket.versions_since(prefix, before)
        return partial(self.on.bucket.purge, prefix, before=before, recent=there)

    @property
    def _is_old_enough(self) -> bool:
        """
        Return True if the request is old enough that no clock is in doubt about what came later.
        """
        since = self.catalog.deleting_since
        return since is not None and self.on.now() - since > 2 * SKEW

    def _is_emptied(self, purge: _Purge) -> bool:
        """
        Remove everything under the catalog's prefix; return False if it must be done again.

        A file that was dropped since keeps the catalog alive (`Uploads` unmarks it). Late events of
        objects that we are about to remove do the same, and then all begins anew.
        """
        try:
            self.on.catalogs.mark_deleting(self.catalog.catalog_id, at=self.on.now())
        except RecordChanged:
            return True  # gone already
        for keys in purge():
            is_done = self._reconcile([key for key in keys if may_be_document(key)])
            if not is_done or self._is_time_over():
                return False
        texts = text_folder(self.catalog.user_id, self.catalog.catalog_id)
        for _ in self._purge_of(texts)():
            if self._is_time_over():
                return False
        now = self.on.catalogs.get(self.catalog.catalog_id)
        if now is None or now.status is CatalogStatus.DELETING:
            return True
        return self.on.bucket.holds_any(self.catalog.s3_prefix)

    def _remove_records(self) -> bool:
        """Remove records that are left without an object; return False if time ran out."""
        after: str | None = None
        while True:
            page = self.on.documents.page(self.catalog.catalog_id, after=after, limit=_PAGE)
            left = [each.s3_key for each in page.documents if not self._is_being_removed(each)]
            if not (self._is_purged_beside(left) and self._reconcile(left)):
                return False
            if page.next is None:
                return True
            if left and self._is_time_over():
                return False
            after = page.next

    def _is_purged_beside(self, keys: Iterable[str]) -> bool:
        """
        Purge the folders of the catalog's name in other encodings that hold these keys; return
        False if time ran out first.
        """
        own = self.catalog.s3_prefix
        folders = {each.prefix for each in map(locate, keys) if isinstance(each, Location)} - {own}
        for folder in (each for each in folders if canonical_name(each) == canonical_name(own)):
            for _ in self._purge_of(folder)():
                if self._is_time_over():
                    return False
        return True

    def _is_being_removed(self, document: Document) -> bool:
        if document.status is not DocumentStatus.DELETING or document.receipt_id is None:
            return False
        self._name(document.receipt_id)
        return True

    def _name(self, receipt_id: str) -> None:
        if len(self.receipt_ids) < _MOST_RECEIPTS:
            self.receipt_ids.add(receipt_id)

    def _reconcile(self, keys: Sequence[str]) -> bool:
        """Reconcile each key, whatever fails with others; return False if time ran out first."""
        plans = [
            partial(result_or_error, partial(self.on.uploads.reconcile, each)) for each in keys
        ]
        for start in range(0, len(keys), _SLICE):
            if start and self._is_time_over():
                return False
            for each in self.on.run_parallel(plans[start : start + _SLICE]):
                if isinstance(each, Exception):
                    self.failures.append(each)
                elif each.receipt_id:
                    self._name(each.receipt_id)
        return True
