"""
All that lies in a catalog removed, and what is on record of it, key by key.

A large catalog takes longer than a function may: when its time is over it is left as it is, being
deleted, and whoever asks again goes on. Nothing here grows with what lies there.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from stackroom.errors import RecordChanged, is_everybodys
from stackroom.keys import is_ours
from stackroom.model import Catalog, CatalogStatus, Document, DocumentStatus
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.uploads.reconcile import Uploads
from stackroom.uploads.steps import Plan

# Whoever follows the same event may have another clock; so has S3, which tells whole seconds.
SKEW = timedelta(minutes=1)

# What was written within SKEW of the asking is told from what came after it by a list of all there
# is, made first. Of more documents than this the list alone would take minutes, and the clocks of
# both sides are trusted instead.
_LISTED_FIRST = 10_000
_PAGE = 1000  # documents on record, at a time
_SLICE = 100  # keys, after which time may be over: a second's work, or a few
_MOST_RECEIPTS = 10_000  # that are named

_PASSES = 10
# Each key takes a handful of calls one after another; boto3's pool has ten connections.
_AT_ONCE = 8

_Purge = Callable[[], Iterator[list[str]]]


@dataclass(frozen=True, kw_only=True)
class Emptying:
    """
    Of one catalog. `failures` are those of single keys; each key has its turn all the same.

    `receipt_ids` are those that there are by now, not all of very many. `is_time_over` is asked
    between pages, and between slices of one: some are done in any case, so that whoever asks again
    gets on. Where time is over within a page its objects are gone, and of its records not all tell.
    """

    catalog: Catalog
    catalogs: Catalogs
    documents: Documents
    bucket: DocumentBucket
    uploads: Uploads
    now: Callable[[], datetime]
    is_time_over: Callable[[], bool]
    failures: list[Exception] = field(default_factory=list)
    receipt_ids: set[str] = field(default_factory=set)

    def remove_all(self, asked_at: datetime) -> bool:
        """
        Everything that lay there at that moment; False if time was over before that was done.

        Raises RecordChanged if late events keep unmarking the catalog.
        """
        purge = self._purge_of(asked_at)
        for _ in range(_PASSES):
            if self._is_emptied(purge):
                return self._remove_records()
            if self.is_time_over():
                return False
        raise RecordChanged(self.catalog.catalog_id)

    def _purge_of(self, asked_at: datetime) -> _Purge:
        prefix = self.catalog.s3_prefix
        if self.catalog.document_count > _LISTED_FIRST or self._goes_on:
            before = self.catalog.deleting_since or asked_at
            return partial(self.bucket.purge, prefix, before=before)
        before = asked_at - SKEW
        there = self.bucket.versions_since(prefix, before)
        return partial(self.bucket.purge, prefix, before=before, recent=there)

    @property
    def _goes_on(self) -> bool:
        """It was asked for long enough ago that no clock is in doubt about what came later."""
        since = self.catalog.deleting_since
        return since is not None and self.now() - since > 2 * SKEW

    def _is_emptied(self, purge: _Purge) -> bool:
        """
        Remove what lies under the catalog's prefix; False if it must be done again.

        What was dropped since keeps the catalog alive (`Uploads` unmarks it). Late events of what
        we are about to remove do the same, and then all begins anew.
        """
        try:
            self.catalogs.mark_deleting(self.catalog.catalog_id, at=self.now())
        except RecordChanged:
            return True  # gone already
        for keys in purge():
            is_done = self._reconcile([key for key in keys if not is_ours(key)])
            if not is_done or self.is_time_over():
                return False
        now = self.catalogs.get(self.catalog.catalog_id)
        if now is None or now.status is CatalogStatus.DELETING:
            return True
        return self.bucket.holds_any(self.catalog.s3_prefix)

    def _remove_records(self) -> bool:
        """Whatever is still on record, though its object is gone; False if time is over."""
        after: str | None = None
        while True:
            page = self.documents.page(self.catalog.catalog_id, after=after, limit=_PAGE)
            left = [each.s3_key for each in page.documents if not self._is_being_removed(each)]
            if not self._reconcile(left):
                return False
            if page.next is None:
                return True
            if left and self.is_time_over():
                return False
            after = page.next

    def _is_being_removed(self, document: Document) -> bool:
        if document.status is not DocumentStatus.DELETING or document.receipt_id is None:
            return False
        self._name(document.receipt_id)
        return True

    def _name(self, receipt_id: str) -> None:
        if len(self.receipt_ids) < _MOST_RECEIPTS:
            self.receipt_ids.add(receipt_id)

    def _reconcile(self, keys: Sequence[str]) -> bool:
        """Each key has its turn, whatever fails with others; False if time is over before that."""
        with ThreadPoolExecutor(_AT_ONCE) as workers:
            for start in range(0, len(keys), _SLICE):
                if start and self.is_time_over():
                    return False
                for each in workers.map(self._tried, keys[start : start + _SLICE]):
                    self._keep(each)
        return True

    def _keep(self, tried: Plan | Exception) -> None:
        if isinstance(tried, Exception):
            self.failures.append(tried)
        elif tried.receipt_id:
            self._name(tried.receipt_id)

    def _tried(self, key: str) -> Plan | Exception:
        try:
            return self.uploads.reconcile(key)
        except Exception as error:
            if is_everybodys(error):
                raise
            return error
