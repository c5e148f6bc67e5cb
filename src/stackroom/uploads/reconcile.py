"""
Bring a document's record in step with its object: one key, from reading to the last write.

The object is the truth and events are hints: they come late, twice or reordered, and name versions
that no longer exist. So only the key of an event counts. `_read_state` reads the record and the
object, `plan` works out what their state requires, and `_apply` writes it, each record only if it
is unchanged since it was read; otherwise all of it starts again.

The keys of a batch are handled in parallel. Only the last record of each plan waits for those of
the others: the records of one catalog are saved together, because each write changes the catalog's
counters and concurrent writes would conflict.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

from stackroom.clock import utc_now
from stackroom.concurrency import RunParallel, random_pauses, retried, run_in_threads
from stackroom.errors import LimitReached, ObjectRefused, RecordChanged, Unavailable
from stackroom.model.bucket import DocumentBucket
from stackroom.model.keys import (
    Location,
    Unplaced,
    catalog_id_of,
    is_folder_marker,
    is_junk,
    is_ours,
    locate,
    prefix_reason,
    taken_reason,
)
from stackroom.model.records import Catalog, CatalogStatus, Document
from stackroom.model.repositories import (
    CatalogRegister,
    Documents,
    Inspected,
    InspectionResults,
    Receipts,
)
from stackroom.uploads.plan import (
    KeyState,
    Plan,
    UnplacedKeyState,
    UploadOutcome,
    plan,
)
from stackroom.uploads.steps import (
    KeepCatalogOpen,
    KeepReceipt,
    KeepWithObject,
    OpenCatalog,
    RecordAttributes,
    RemoveRecord,
    RemoveSidecar,
    SaveRecord,
    Step,
    UnmarkDeleting,
    WriteSidecar,
)

_Answer = TypeVar("_Answer")

_TRIES = 6
# Up to about a second in all, among those who write the same record.
_among_writers = random_pauses(0.03, 1.0)


class _NameTaken(Exception):
    """Another catalog has been renamed to this name; the message names that catalog's prefix."""


@dataclass(frozen=True, kw_only=True)
class _StartedPlan:
    """A plan carried out up to its last record, `save`; the steps of `rest` follow it."""

    plan: Plan
    save: SaveRecord
    rest: tuple[Step, ...]


@dataclass(frozen=True, kw_only=True)
class Uploads:
    catalogs: CatalogRegister
    documents: Documents
    bucket: DocumentBucket
    receipts: Receipts
    inspections: InspectionResults
    now: Callable[[], datetime] = utc_now
    pause: Callable[[int], None] = _among_writers
    run_parallel: RunParallel = run_in_threads

    def reconcile(
        self, key: str, *, correlation_id: str | None = None, is_audit: bool = False
    ) -> Plan:
        """
        Bring the record of the key's document in step, and return the plan. Safe to repeat.

        In an audit, no event and no person says that a missing object was deleted. If the bucket
        has no record of a deletion either, the object was lost, and its receipt says so.

        Raises RecordChanged if others kept writing the same record; the caller delivers the key
        again.
        """

        def once() -> Plan:
            started = self._start(key, correlation_id, is_audit=is_audit)
            return self._end(started) if isinstance(started, _StartedPlan) else started

        return retried(once, tries=_TRIES, pause=self.pause)

    def reconcile_all(self, correlation_ids: Mapping[str, str]) -> dict[str, Plan | Exception]:
        """
        Reconcile several keys in parallel. Return, by key, the plan or the error that `reconcile`
        would raise: one key's error does not affect the others.
        """
        started = self._each(
            correlation_ids, lambda key: self._start(key, correlation_id=correlation_ids[key])
        )
        outcomes: dict[str, Plan | Exception] = {}
        by_catalog: dict[
            str, dict[str, _StartedPlan]
        ] = {}  # by the catalog whose counters they change
        for key, each in started.items():
            if not isinstance(each, _StartedPlan):
                outcomes[key] = each
                continue
            document = each.save.document
            own = by_catalog.setdefault(document.catalog_id, {})
            if any(document.document_id == one.save.document.document_id for one in own.values()):
                outcomes[key] = RecordChanged(document.document_id)  # by the other of its name
            else:
                own[key] = each
        for ended in self.run_parallel(
            [partial(self._end_all, own) for own in by_catalog.values()]
        ):
            outcomes |= ended
        changed = [key for key, each in outcomes.items() if isinstance(each, RecordChanged)]
        return outcomes | self._each(
            changed, lambda key: self.reconcile(key, correlation_id=correlation_ids[key])
        )

    def plan(self, key: str) -> Plan:
        """Return what `reconcile` would do in an audit, without doing it."""
        if is_ours(key):
            return Plan(outcome=UploadOutcome.IGNORED)
        planned = plan(self._read_state(locate(key), is_audit=True), self.now())
        saved = (step.document for step in planned.steps if isinstance(step, SaveRecord))
        if any(each.unread and self._result_for(each) is None for each in saved):
            return replace(planned, run_for=None, awaits_text=True)
        return planned

    def _start(
        self, key: str, correlation_id: str | None, *, is_audit: bool = False
    ) -> Plan | _StartedPlan:
        """Return the plan once it is carried out, or up to the record that it saves."""
        if is_ours(key):
            return Plan(outcome=UploadOutcome.IGNORED)
        state = self._read_state(locate(key), is_audit=is_audit)
        try:
            return self._carry_out(plan(state, self.now(), correlation_id))
        except (LimitReached, _NameTaken) as refused:
            # Opening the catalog comes first, so nothing of the plan has been done.
            assert isinstance(state, KeyState), "nothing is opened for an object without a catalog"
            unplaced = self._read_unplaced(state.location.unplaced(str(refused)), state.record)
            return self._carry_out(plan(unplaced, self.now(), correlation_id))

    def _carry_out(self, planned: Plan) -> Plan | _StartedPlan:
        """Carry out a plan up to its last record. Raises what `_apply` raises."""
        kept: dict[str, Document] = {}
        for at, step in reversed(list(enumerate(planned.steps))):
            if isinstance(step, SaveRecord):
                self._apply(planned.steps[:at], kept)
                save = replace(step, document=_following(step.document, kept))
                return _StartedPlan(plan=planned, save=save, rest=planned.steps[at + 1 :])
        self._apply(planned.steps, kept)
        return planned if planned.unread is None else self._read(planned, planned.unread)

    def _end(self, started: _StartedPlan) -> Plan:
        return self._rest(started, self.documents.save(self._as_read(started.save)))

    def _rest(self, started: _StartedPlan, saved: Document | None) -> Plan:
        if saved is None:
            raise RecordChanged(started.save.document.document_id)
        self._apply(started.rest, {saved.document_id: saved})
        return self._read(started.plan, saved) if saved.unread else started.plan

    def _as_read(self, save: SaveRecord) -> Document:
        """Return the record to save; it does not wait for its text if that exists by now."""
        document = _as_of(self.now(), save)
        found = self._result_for(document) if document.unread else None
        return document if found is None else found.applied_to(document)

    def _read(self, planned: Plan, document: Document) -> Plan:
        """
        Look once more for the text that the saved record awaits. The writer of the text reads the
        record afterwards, so one of the two sees the other and requests the run.
        """
        found = self._result_for(document)
        if found is None:
            return replace(planned, run_for=None, awaits_text=True)
        self.documents.save(found.applied_to(document))
        return planned

    def _result_for(self, document: Document) -> Inspected | None:
        found = self.inspections.results_for([document]).get(document.document_id)
        is_of_this = found is not None and found.version_id == document.version_id
        return found if is_of_this else None

    def _end_all(self, started: Mapping[str, _StartedPlan]) -> dict[str, Plan | Exception]:
        """Save the last records of one catalog's plans together."""
        try:
            saved = self.documents.save_all(self._as_read(each.save) for each in started.values())
        except Unavailable as error:  # it passes, and is all of theirs
            return dict.fromkeys(started, error)
        except Exception:  # one record may be to blame, and no other shall suffer for it
            return self._each(started, lambda key: self._end(started[key]))
        by_id = {each.document_id: each for each in saved}
        return self._each(
            started,
            lambda key: self._rest(started[key], by_id.get(started[key].save.document.document_id)),
        )

    def _each(
        self, keys: Iterable[str], act: Callable[[str], _Answer]
    ) -> dict[str, _Answer | Exception]:
        """Return, by key, what `act` returns or raises."""

        def attempted(key: str) -> tuple[str, _Answer | Exception]:
            try:
                return key, act(key)
            except Exception as error:  # whatever it is, it is this key's
                return key, error

        return dict(self.run_parallel([partial(attempted, key) for key in keys]))

    def _read_state(
        self, location: Location | Unplaced, *, is_audit: bool
    ) -> KeyState | UnplacedKeyState:
        if isinstance(location, Unplaced):
            return self._read_unplaced(location)
        key, user_id = location.key, location.user_id
        # The record first, the object second: what changes in between makes the write fail.
        record = self.documents.get(location.catalog_id, location.document_id)
        found = self.bucket.head(key)
        # If neither exists, a sidecar may be left of a record that was lost.
        is_read = found is not None or record is None or record.s3_key != key
        sidecar = self.bucket.sidecar_of(key) if is_read else None
        if found is None and sidecar is not None:
            found = self.bucket.head(key)  # whoever put the object anew meanwhile wrote it
        unplaced = self._unplaced(location, record) if found is not None else None
        # The catalog last: of many who drop its first files, few then open it at the same time.
        catalog = self.catalogs.get(location.catalog_id)
        reason = location.unplaced_reason(catalog)
        if reason is not None and catalog is not None:
            own = record if record is not None and record.s3_key == key else None
            return self._read_unplaced(location.unplaced(reason), own)
        if reason is not None and found is not None:
            return self._read_unplaced(location.unplaced(reason), record)
        # Where the record is of another object, whose name is encoded differently, it can't serve
        # both, because it would go with either; if the other is gone, this one takes its place.
        if (
            record is not None
            and record.s3_key != key
            and (found is None or self.bucket.head(record.s3_key) is not None)
        ):
            twin = self._read_unplaced(location.unplaced(taken_reason(record.s3_key)))
            return replace(twin, has_sidecar=sidecar is not None)
        is_missed = is_audit and found is None and record is not None
        is_wanted = catalog is None or catalog.status is not CatalogStatus.DELETING
        receipt = None
        if record is not None and record.receipt_id is not None:
            receipt = self.receipts.get(user_id, record.receipt_id)
        return KeyState(
            location=location,
            catalog=catalog,
            record=record,
            found=found,
            sidecar=sidecar,
            unplaced=unplaced,
            receipt=receipt,
            is_lost=is_missed and is_wanted and not self.bucket.was_deleted(key),
        )

    def _read_unplaced(
        self, location: Unplaced, orphan: Document | None = None
    ) -> UnplacedKeyState:
        record = self.documents.get(location.partition, location.document_id)
        found = self.bucket.head(location.key)
        if found is not None and (is_folder_marker(found.key, found.size) or is_junk(found.key)):
            found = None
        return UnplacedKeyState(location=location, record=record, found=found, orphan=orphan)

    def _unplaced(self, location: Location, record: Document | None) -> Document | None:
        """Return a new object's record from when it belonged to no catalog, if there is one."""
        if record is not None and record.s3_key == location.key:
            return None
        earlier = location.unplaced()
        return self.documents.get(earlier.partition, earlier.document_id)

    def _apply(self, steps: Iterable[Step], kept: dict[str, Document]) -> None:
        """
        Apply the steps in order. `kept` collects the records that the plan has saved.

        Raises RecordChanged, or LimitReached or _NameTaken before anything is written.
        """
        for step in steps:
            match step:
                case OpenCatalog() | UnmarkDeleting() | RecordAttributes() | KeepCatalogOpen():
                    self._apply_to_catalog(step)
                case WriteSidecar():
                    self._write_sidecar(step)
                case RemoveSidecar(key=key):
                    self.bucket.remove_sidecar(key)
                case KeepWithObject(key=key):
                    if self.bucket.head(key) is None:
                        raise RecordChanged(key)
                case KeepReceipt(receipt=receipt):
                    self.receipts.keep(receipt)
                case SaveRecord():
                    document = _as_of(self.now(), step)
                    saved = self.documents.save(_following(document, kept))
                    kept[saved.document_id] = saved
                case RemoveRecord(document=document):
                    self.documents.remove(_following(document, kept))

    def _apply_to_catalog(
        self,
        step: OpenCatalog | UnmarkDeleting | RecordAttributes | KeepCatalogOpen,
    ) -> None:
        match step:
            case OpenCatalog(catalog=catalog):
                self._open(catalog)
            case UnmarkDeleting(catalog_id=catalog_id):
                self.catalogs.unmark_deleting(catalog_id, at=self.now())
            case RecordAttributes(catalog_id=catalog_id, types=types):
                self.catalogs.record_attributes(catalog_id, types)
            case KeepCatalogOpen(catalog_id=catalog_id):
                self._keep_open(catalog_id)

    def _write_sidecar(self, step: WriteSidecar) -> None:
        try:
            self.bucket.write_sidecar(step.key, step.body)
        except ObjectRefused:
            if not step.quarantines:
                raise
            # Its record shall say so all the same: without any sidecar it is nobody's, too.

    def _open(self, catalog: Catalog) -> None:
        for each in self.catalogs.of_user(catalog.user_id):
            has_name = catalog_id_of(each.user_id, each.name) == catalog.catalog_id
            if has_name and each.catalog_id != catalog.catalog_id:
                raise _NameTaken(prefix_reason(each))
        opened = self.catalogs.open(catalog)
        is_as_planned = opened.s3_prefix == catalog.s3_prefix
        if not is_as_planned or opened.status is CatalogStatus.DELETING:
            raise RecordChanged(catalog.catalog_id)  # someone else was first: look at theirs

    def _keep_open(self, catalog_id: str) -> None:
        catalog = self.catalogs.get(catalog_id)
        if catalog is None:
            raise RecordChanged(catalog_id)
        if catalog.status is CatalogStatus.DELETING:
            self.catalogs.unmark_deleting(catalog_id, at=self.now())


def _as_of(now: datetime, step: SaveRecord) -> Document:
    """
    Return the record with its times as of now: a job that began between the plan and the writing of
    the sidecar has not seen this version.
    """
    times = {"updated_at": now} if step.moves else {}
    if step.present_from is not None:
        times["present_since"] = max(now, step.present_from)
    return step.document.model_copy(update=times)


def _following(document: Document, kept: Mapping[str, Document]) -> Document:
    return document.following(kept.get(document.document_id))
