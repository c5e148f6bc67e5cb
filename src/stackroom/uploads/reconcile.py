"""
Bringing a document's record in step with its object.

The object is the truth and events are hints: they come late, twice, reordered, and speak of
versions that are no longer there. So `Uploads.reconcile` takes nothing but a key, reads the
record, looks at the object as it is now, and writes only if the record is still what it read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from stackroom.clock import utc_now
from stackroom.errors import CatalogLimitReached, RecordChanged, ValidationError
from stackroom.keys import Location, Unplaced, is_folder_marker, is_ours, locate, unplaced_reason
from stackroom.model import Catalog, CatalogStatus, Document, DocumentStatus
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.catalogs import CatalogRegister
from stackroom.ports.documents import Documents
from stackroom.ports.receipts import Receipts
from stackroom.retries import apart, retried
from stackroom.uploads.arrivals import Arrivals
from stackroom.uploads.reconciled import Outcome, Reconciled, answer
from stackroom.uploads.removals import Removals
from stackroom.uploads.unplaced import UnplacedObjects, as_unplaced

_TRIES = 6
# Up to about a second in all, among those who write the same record.
_among_writers = apart(0.03, 1.0)


@dataclass(frozen=True, kw_only=True)
class Uploads:
    catalogs: CatalogRegister
    documents: Documents
    bucket: DocumentBucket
    receipts: Receipts
    now: Callable[[], datetime] = utc_now
    pause: Callable[[int], None] = _among_writers

    def reconcile(self, key: str, *, correlation_id: str | None = None) -> Reconciled:
        """
        Bring the record of the key's document in step; safe to repeat at any time.

        Raises RecordChanged if others kept writing the same record; deliver again later.
        """
        if is_ours(key) or is_folder_marker(key):
            return Reconciled(outcome=Outcome.IGNORED)
        return retried(lambda: self._once(key, correlation_id), tries=_TRIES, pause=self.pause)

    def _once(self, key: str, correlation_id: str | None) -> Reconciled:
        place = locate(key)
        if isinstance(place, Unplaced):
            return self._unplaced(place, correlation_id)
        catalog = self.catalogs.get(place.catalog_id)
        if catalog is not None and (problem := unplaced_reason(place, catalog)):
            return self._unplaced(as_unplaced(place, problem), correlation_id)
        # The record first, the object second: what changes in between makes the write fail.
        record = self.documents.get(place.catalog_id, place.document_id)
        found = self.bucket.head(key)
        if found is None:
            return self._gone(place, catalog, record)
        try:
            catalog = self._opened(place, catalog)
        except (CatalogLimitReached, ValidationError) as error:
            if record is not None:
                self.documents.remove(record)  # see _keep_open
            return self._unplaced(as_unplaced(place, str(error)), correlation_id)
        if record is None:
            self._unplaced_objects.forget(place)
        else:
            record = self._removals.call_off(place.user_id, record)
        reconciled = self._arrivals.take_in(place, catalog, record, found, correlation_id)
        if reconciled.outcome is not Outcome.UNCHANGED:
            self._keep_open(catalog.catalog_id)
        return reconciled

    def _gone(
        self, place: Location, catalog: Catalog | None, record: Document | None
    ) -> Reconciled:
        if record is None:
            return Reconciled(outcome=Outcome.IGNORED)
        if catalog is None:  # see _keep_open
            self.documents.remove(record)
            return answer(Outcome.FORGOTTEN, place, wanted=False)
        removal = self._removals.follow(place.user_id, record)
        is_deleting = removal.status is DocumentStatus.DELETING
        return answer(
            Outcome.DELETING if is_deleting else Outcome.FORGOTTEN,
            place,
            wanted=is_deleting,
            receipt_id=removal.receipt_id,
        )

    def _unplaced(self, place: Unplaced, correlation_id: str | None) -> Reconciled:
        if not self._unplaced_objects.note(place, correlation_id):
            return Reconciled(outcome=Outcome.FORGOTTEN)
        return Reconciled(
            outcome=Outcome.REJECTED, document_id=place.document_id, reason=place.reason
        )

    def _keep_open(self, catalog_id: str) -> None:
        """
        The catalog may have been condemned, or closed, since it was read.

        Whoever closes it has looked for documents before, and we look for the catalog after the
        document was saved: one of us sees the other. Raises RecordChanged; all begins anew then. If
        a crash comes in between, a record of no catalog is left; no run ever took it up.
        """
        catalog = self.catalogs.get(catalog_id)
        if catalog is None:
            raise RecordChanged(catalog_id)
        if catalog.status is CatalogStatus.DELETING:
            self.catalogs.unmark_deleting(catalog_id, at=self.now())

    def _opened(self, place: Location, catalog: Catalog | None) -> Catalog:
        """Raises CatalogLimitReached or ValidationError if there is none and can be none."""
        if catalog is None:
            catalog = self._open(place)
            if problem := unplaced_reason(place, catalog):  # opened under another spelling just now
                raise ValidationError(problem)
        if catalog.status is CatalogStatus.DELETING:
            self.catalogs.unmark_deleting(catalog.catalog_id, at=self.now())
        return catalog

    def _open(self, place: Location) -> Catalog:
        if place.names_a_catalog_id:
            raise ValidationError(f"there is no catalog {place.folder!r}; create it first")
        now = self.now()
        return self.catalogs.open(
            Catalog(
                catalog_id=place.catalog_id,
                user_id=place.user_id,
                name=place.folder,
                s3_prefix=place.prefix,
                created_at=now,
                updated_at=now,
            )
        )

    @property
    def _arrivals(self) -> Arrivals:
        return Arrivals(documents=self.documents, bucket=self.bucket, now=self.now)

    @property
    def _removals(self) -> Removals:
        return Removals(
            documents=self.documents, bucket=self.bucket, receipts=self.receipts, now=self.now
        )

    @property
    def _unplaced_objects(self) -> UnplacedObjects:
        return UnplacedObjects(documents=self.documents, bucket=self.bucket, now=self.now)
