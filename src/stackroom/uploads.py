"""
Bringing a document's record in step with its object.

The object is the truth and events are hints: they come late, twice, reordered, and speak of
versions that are no longer there. So `Uploads.reconcile` takes nothing but a key, reads the
record, looks at the object as it is now, and writes only if the record is still what it read.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from stackroom import sidecars
from stackroom.acceptance import judge, misfit
from stackroom.clock import utc_now
from stackroom.descriptions import (
    describe,
    describe_stray,
    fingerprint_of,
    is_unfinished,
    may_be_indexed,
    says_the_same,
)
from stackroom.errors import CatalogLimitReached, RecordChanged, ValidationError
from stackroom.keys import Location, Misplaced, is_folder_marker, is_ours, locate, stray_id_of
from stackroom.model import Catalog, Document, DocumentStatus
from stackroom.ports import CatalogRegister, DocumentBucket, Documents, StoredObject

_TRIES = 6


def _pause(attempt: int) -> None:
    """Apart from whoever writes the same record, up to about a second in all."""
    time.sleep(random.uniform(0, 0.03 * 2**attempt))  # noqa: S311 - not security


class Outcome(StrEnum):
    REGISTERED = "registered"
    UNCHANGED = "unchanged"
    REJECTED = "rejected"
    DELETING = "deleting"
    FORGOTTEN = "forgotten"
    IGNORED = "ignored"


@dataclass(frozen=True, kw_only=True)
class Reconciled:
    """What became of a key; `catalog_id` is set if the catalog needs a run."""

    outcome: Outcome
    catalog_id: str | None = None
    document_id: str | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Uploads:
    catalogs: CatalogRegister
    documents: Documents
    bucket: DocumentBucket
    now: Callable[[], datetime] = utc_now
    pause: Callable[[int], None] = _pause

    def reconcile(self, key: str, *, correlation_id: str | None = None) -> Reconciled:
        """
        Bring the record of the key's document in step; safe to repeat at any time.

        Raises RecordChanged if others kept writing the same record; deliver again later.
        """
        if is_ours(key) or is_folder_marker(key):
            return Reconciled(outcome=Outcome.IGNORED)
        for attempt in range(_TRIES):
            try:
                return self._once(key, correlation_id)
            except RecordChanged:
                self.pause(attempt)
        raise RecordChanged(key)

    def _once(self, key: str, correlation_id: str | None) -> Reconciled:
        place = locate(key)
        if isinstance(place, Misplaced):
            return self._misplaced(place, correlation_id)
        catalog = self.catalogs.get(place.catalog_id)
        if catalog is not None and (problem := misfit(place, catalog)):
            return self._misplaced(_out_of_place(place, problem), correlation_id)
        # The record first, the object second: what changes in between makes the write fail.
        record = self.documents.get(place.catalog_id, place.document_id) if catalog else None
        found = self.bucket.head(key)
        if found is None:
            return self._gone(place, record)
        if catalog is None:
            try:
                catalog = self._open(place)
            except (CatalogLimitReached, ValidationError) as error:
                return self._misplaced(_out_of_place(place, str(error)), correlation_id)
            if problem := misfit(place, catalog):  # opened under another spelling just now
                return self._misplaced(_out_of_place(place, problem), correlation_id)
        return self._present(place, catalog, record, found, correlation_id)

    def _present(
        self,
        place: Location,
        catalog: Catalog,
        record: Document | None,
        found: StoredObject,
        correlation_id: str | None,
    ) -> Reconciled:
        document = describe(place, record, found, correlation_id, at=self.now())
        problem, body = judge(place, catalog, found)
        document = document.model_copy(update={"fingerprint": fingerprint_of(found, problem)})
        if record is not None and says_the_same(record, document):
            return self._unchanged(place, catalog, record, found)
        if record is None:
            self._forget_stray(place)
        if problem is not None:
            return self._reject(place, record, document, problem)
        present_since = self._write_sidecar(place.key, body, found)
        document = document.model_copy(update={"present_since": present_since})
        self.documents.save(document.moved(DocumentStatus.PENDING, at=self.now()))
        return _answer(Outcome.REGISTERED, place, wanted=True)

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
            return _answer(Outcome.UNCHANGED, place, wanted=is_unfinished(record))
        if body == sidecars.QUARANTINED:
            # A job may have crawled it meanwhile with the sidecar that should not have been there.
            suspect = record.model_copy(update={"lingering": kept is not None or record.lingering})
            return self._reject(place, record, suspect, str(record.status_reason))
        self.bucket.write_sidecar(place.key, body)
        mended = record.model_copy(update={"present_since": self.now(), "attempts": 0})
        self.documents.save(mended.moved(DocumentStatus.PENDING, at=self.now()))
        return _answer(Outcome.REGISTERED, place, wanted=True)

    def _forget_stray(self, place: Location) -> None:
        """The key may have had no place before, and was shown as rejected."""
        stray = self.documents.get(rejected_shelf(place.user_id), stray_id_of(place.key))
        if stray is not None:
            self.documents.remove(stray)

    def _reject(
        self, place: Location, record: Document | None, document: Document, problem: str
    ) -> Reconciled:
        # Quarantine before the record says failed: the object lies where jobs crawl.
        self.bucket.write_sidecar(place.key, sidecars.QUARANTINED)
        lingering = document.lingering or (record is not None and may_be_indexed(record))
        failed = document.moved(DocumentStatus.FAILED, at=self.now(), reason=problem)
        self.documents.save(failed.model_copy(update={"lingering": lingering}))
        answer = _answer(Outcome.REJECTED, place, wanted=lingering)
        return Reconciled(**{**vars(answer), "reason": problem})

    def _gone(self, place: Location, record: Document | None) -> Reconciled:
        if record is None:
            return Reconciled(outcome=Outcome.IGNORED)
        if record.status is DocumentStatus.DELETING:
            return _answer(Outcome.DELETING, place, wanted=True)
        self.bucket.remove_sidecar(place.key)
        if record.status is DocumentStatus.FAILED and not may_be_indexed(record):
            self.documents.remove(record)
            return Reconciled(outcome=Outcome.FORGOTTEN, document_id=place.document_id)
        deleting = record.moved(DocumentStatus.DELETING, at=self.now())
        self.documents.save(deleting.model_copy(update={"attempts": 0}))
        return _answer(Outcome.DELETING, place, wanted=True)

    def _misplaced(self, place: Misplaced, correlation_id: str | None) -> Reconciled:
        """Keep a record of an object that no catalog holds, for as long as the object is there."""
        shelf = rejected_shelf(place.user_id)
        record = self.documents.get(shelf, place.document_id)
        found = self.bucket.head(place.key)
        if found is None:
            if place.is_crawled:
                self.bucket.remove_sidecar(place.key)
            if record is not None:
                self.documents.remove(record)
            return Reconciled(outcome=Outcome.FORGOTTEN)
        if place.is_crawled:
            self.bucket.write_sidecar(place.key, sidecars.QUARANTINED)
        stray = describe_stray(place, shelf, record, found, correlation_id, at=self.now())
        if record is None or not says_the_same(record, stray):
            self.documents.save(stray)
        return Reconciled(
            outcome=Outcome.REJECTED, document_id=place.document_id, reason=place.reason
        )

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


def rejected_shelf(user_id: str) -> str:
    """The partition that lists a user's objects that belong to no catalog."""
    return f"REJECTED#{user_id}"


def _out_of_place(place: Location, reason: str) -> Misplaced:
    return Misplaced(
        key=place.key, user_id=place.user_id, document_id=stray_id_of(place.key), reason=reason
    )


def _answer(outcome: Outcome, place: Location, *, wanted: bool) -> Reconciled:
    return Reconciled(
        outcome=outcome,
        catalog_id=place.catalog_id if wanted else None,
        document_id=place.document_id,
    )
