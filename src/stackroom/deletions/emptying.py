"""All that lies in a catalog removed, and what is on record of it, key by key."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from stackroom.errors import RecordChanged
from stackroom.isolation import is_everybodys
from stackroom.keys import is_ours
from stackroom.model import Catalog, CatalogStatus, DocumentStatus
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.uploads.reconcile import Uploads
from stackroom.uploads.steps import Plan

# Whoever follows the same event may have another clock; so has S3, which tells whole seconds.
SKEW = timedelta(minutes=1)

_PASSES = 10
# Each key takes a handful of calls one after another; boto3's pool has ten connections.
_AT_ONCE = 8

_Purge = Callable[[], Iterator[list[str]]]


@dataclass(frozen=True, kw_only=True)
class Emptying:
    """Of one catalog. `failures` are those of single keys; each key has its turn all the same."""

    catalog: Catalog
    catalogs: Catalogs
    documents: Documents
    bucket: DocumentBucket
    uploads: Uploads
    now: Callable[[], datetime]
    failures: list[Exception] = field(default_factory=list)

    def remove_all(self, asked_at: datetime) -> set[str]:
        """
        Everything that lay there at that moment; answers the receipts that there are by now.

        Raises RecordChanged if late events keep unmarking the catalog.
        """
        prefix, before = self.catalog.s3_prefix, asked_at - SKEW
        there = self.bucket.versions_since(prefix, before)
        purge = partial(self.bucket.purge, prefix, before=before, recent=there)
        if not any(self._is_emptied(purge) for _ in range(_PASSES)):
            raise RecordChanged(self.catalog.catalog_id)
        return self._remove_records()

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
            self._reconcile(key for key in keys if not is_ours(key))
        now = self.catalogs.get(self.catalog.catalog_id)
        if now is None or now.status is CatalogStatus.DELETING:
            return True
        return self.bucket.holds_any(self.catalog.s3_prefix)

    def _remove_records(self) -> set[str]:
        """Whatever is still on record, though its object is gone; the receipts of all there are."""
        left: list[str] = []
        receipt_ids: set[str] = set()
        for document in self.documents.of_catalog(self.catalog.catalog_id):
            if document.status is DocumentStatus.DELETING and document.receipt_id is not None:
                receipt_ids.add(document.receipt_id)
            else:
                left.append(document.s3_key)
        return receipt_ids | self._reconcile(left)

    def _reconcile(self, keys: Iterable[str]) -> set[str]:
        """The receipts of what is removed; each key has its turn, whatever fails with others."""
        with ThreadPoolExecutor(_AT_ONCE) as workers:
            tried = list(workers.map(self._tried, keys))
        self.failures.extend(each for each in tried if isinstance(each, Exception))
        return {each.receipt_id for each in tried if isinstance(each, Plan) and each.receipt_id}

    def _tried(self, key: str) -> Plan | Exception:
        try:
            return self.uploads.reconcile(key)
        except Exception as error:
            if is_everybodys(error):
                raise
            return error
