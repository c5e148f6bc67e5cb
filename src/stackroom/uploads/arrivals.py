"""Taking in an object that is there: its sidecar first, its record after."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from stackroom.clock import utc_now
from stackroom.keys import Location
from stackroom.model import Catalog, Document, DocumentStatus
from stackroom.ports.bucket import DocumentBucket, StoredObject
from stackroom.ports.documents import Documents
from stackroom.uploads import sidecars
from stackroom.uploads.acceptance import judge
from stackroom.uploads.descriptions import (
    describe,
    fingerprint_of,
    says_the_same,
)
from stackroom.uploads.reconciled import Outcome, Reconciled, answer


@dataclass(frozen=True, kw_only=True)
class Arrivals:
    documents: Documents
    bucket: DocumentBucket
    now: Callable[[], datetime] = utc_now

    def take_in(
        self,
        place: Location,
        catalog: Catalog,
        record: Document | None,
        found: StoredObject,
        correlation_id: str | None,
    ) -> Reconciled:
        """Bring the record in step with the object. Safe to repeat. Raises RecordChanged."""
        document = describe(place, record, found, correlation_id, at=self.now())
        problem, body = judge(place, catalog, found)
        document = document.model_copy(update={"fingerprint": fingerprint_of(found, problem)})
        if record is not None and says_the_same(record, document):
            return self._unchanged(place, catalog, record, found)
        if problem is not None:
            return self._reject(place, record, document, problem)
        present_since = self._write_sidecar(place.key, body, found)
        document = document.model_copy(update={"present_since": present_since})
        self.documents.save(document.moved(DocumentStatus.PENDING, at=self.now()))
        return answer(Outcome.REGISTERED, place, wanted=True)

    def _unchanged(
        self, place: Location, catalog: Catalog, record: Document, found: StoredObject
    ) -> Reconciled:
        """
        The record is right; is the sidecar?

        Writing a sidecar can't be conditional. Whoever came too late with an older view may have
        laid theirs over it, or removed it, before their record was refused; or have died there.
        """
        _, body = judge(place, catalog, replace(found, last_modified=record.uploaded_at))
        kept = self.bucket.sidecar_of(place.key)
        if kept is not None and kept.body == body:
            return answer(Outcome.UNCHANGED, place, wanted=record.is_unfinished)
        if body == sidecars.QUARANTINED:
            # A job may have crawled it meanwhile with the sidecar that should not have been there.
            suspect = record.model_copy(update={"lingering": kept is not None or record.lingering})
            return self._reject(place, record, suspect, str(record.status_reason))
        self.bucket.write_sidecar(place.key, body)
        mended = record.model_copy(update={"present_since": self.now(), "attempts": 0})
        self.documents.save(mended.moved(DocumentStatus.PENDING, at=self.now()))
        return answer(Outcome.REGISTERED, place, wanted=True)

    def _reject(
        self, place: Location, record: Document | None, document: Document, problem: str
    ) -> Reconciled:
        # Quarantine before the record says failed: the object lies where jobs crawl.
        self.bucket.write_sidecar(place.key, sidecars.QUARANTINED)
        lingering = document.lingering or (record is not None and record.may_be_indexed)
        failed = document.moved(DocumentStatus.FAILED, at=self.now(), reason=problem)
        self.documents.save(failed.model_copy(update={"lingering": lingering}))
        return answer(Outcome.REJECTED, place, wanted=lingering, reason=problem)

    def _write_sidecar(self, key: str, body: bytes, found: StoredObject) -> datetime:
        """
        When object and sidecar were both there as described.

        One that is there already is left alone, which spares the document another ingestion: the
        record was lost and is being rebuilt, or another handler of the same event was quicker.
        """
        kept = self.bucket.sidecar_of(key)
        if kept is not None and kept.body == body:
            return max(kept.last_modified, found.last_modified)
        self.bucket.write_sidecar(key, body)
        return max(self.now(), found.last_modified)
