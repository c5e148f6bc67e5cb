"""
Repair discrepancies; in a dry run, only report what would be done.

"Mended" is reported only for what was checked again and found in order. A failure with one item is
reported with its name, and the next item follows (stackroom.errors).
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from stackroom.clock import utc_now
from stackroom.concurrency import RunParallel, chunks, result_or_error, run_in_threads
from stackroom.errors import RecordChanged, is_systemic
from stackroom.model.records import Catalog, DataSourceType, Document, DocumentStatus
from stackroom.model.repositories import Documents, InspectionRequests
from stackroom.reconciler.discrepancies import QUIET, Discrepancy, Kind, Outcome
from stackroom.runs.run_leases import RunRequests
from stackroom.uploads.plan import Plan
from stackroom.uploads.reconcile import Uploads

_CHUNK = 100  # keys


class LeftForLater(Exception):
    """Raised by a repair that is not possible now; its text says why."""


@dataclass(frozen=True, kw_only=True)
class _Attempt:
    """
    The plan that was carried out for a key, or would be, and the plan afterwards; `error` if any of
    it failed. Without `first`, others kept writing the record and take care of it.
    """

    first: Plan | None = None
    again: Plan | None = None
    error: Exception | None = None

    @property
    def runs(self) -> set[str]:
        """The catalogs that need a run after it."""
        plans = (each for each in (self.first, self.again) if each is not None)
        return {catalog_id for plan in plans for catalog_id in _runs_after(plan)}


@dataclass(frozen=True, kw_only=True)
class Mending:
    """Repairs. `idle_before`: whatever was under way then has ended, as after a power failure."""

    uploads: Uploads
    documents: Documents
    requests: RunRequests
    inspections: InspectionRequests
    dry_run: bool = False
    run_parallel: RunParallel = run_in_threads
    quiet: timedelta = QUIET
    idle_before: datetime | None = None
    now: Callable[[], datetime] = utc_now

    def is_settled(
        self, moment: datetime, *, by: datetime | None = None, after: timedelta = QUIET
    ) -> bool:
        """
        Return True if nothing from that moment should be under way now, or at `by`. `after` is the
        time that takes on AWS.
        """
        ended = self.idle_before is not None and moment < self.idle_before
        return ended or (by or self.now()) - moment >= self.quiet * (after / QUIET)

    def reconciled(self, suspects: Iterable[tuple[str, Kind]]) -> Iterator[Discrepancy]:
        """
        Do with each key what its event would have done, request the runs that are needed, and the
        reading of files whose text is missing.
        """
        for chunk in chunks(suspects, of=_CHUNK):
            attempts = self.run_parallel([partial(self._attempt, key) for key, _ in chunk])
            unasked = self._unasked(attempts)
            for (key, kind), each in zip(chunk, attempts, strict=True):
                failed = each.runs & unasked.keys()
                error = each.error or (unasked[min(failed)] if failed else None)
                if error is not None:
                    yield _failed(kind, key, error)
                elif each.first is not None and each.first.changes_records:
                    yield _judged(kind, key, each.first, each.again)

    def mended(
        self,
        kind: Kind,
        *what: str,
        by: Callable[[], object],
        until: Callable[[], bool] | None = None,
        remedy: str | None = None,
    ) -> Iterator[Discrepancy]:
        """
        Repair all of it by one act, and yield a discrepancy for each. If the act raises
        RecordChanged, somebody else is taking care of it, and nothing is yielded.

        `until` checks again whether that was enough; without it, the act has requested the repair
        from somebody else. After LeftForLater the discrepancy is yielded as not repaired.
        """
        outcome = Outcome.LEFT
        if not self.dry_run:
            try:
                by()
                outcome = _outcome(until)
            except RecordChanged:
                return
            except LeftForLater as why:
                remedy = str(why)
            except Exception as error:
                if is_systemic(error):
                    raise
                yield from (_failed(kind, each, error) for each in what)
                return
        yield from (_discrepancy(kind, each, outcome, remedy=remedy) for each in what)

    def run_again(self, document: Document, kind: Kind) -> Iterator[Discrepancy]:
        """Have a run take up the document as it is now."""
        pending = document.moved(DocumentStatus.PENDING, at=self.now())
        yield from self.saved(pending.model_copy(update={"attempts": 0}), kind)

    def evicted(self, document: Document, catalog: Catalog | None) -> Iterator[Discrepancy]:
        """
        Have a rejected file removed from the index, and the removal proven. Where ingestion jobs
        crawl, it stays, without an owner by its sidecar.
        """
        source = catalog.source if catalog is not None else None
        if source is None or source.type is not DataSourceType.S3:
            lingering = document.model_copy(update={"lingering": True, "attempts": 0})
            yield from self.saved(lingering, Kind.REJECTED_IN_INDEX)

    def saved(self, document: Document, kind: Kind) -> Iterator[Discrepancy]:
        def mend() -> None:
            self.documents.save(document)
            self.requests.ask(document.catalog_id)

        yield from self.mended(kind, document.s3_key, by=mend)

    def forgotten(self, document: Document, kind: Kind) -> Iterator[Discrepancy]:
        yield from self.mended(
            kind,
            document.s3_key,
            by=partial(self.documents.remove, document),
            until=lambda: self.documents.get(document.catalog_id, document.document_id) is None,
        )

    def _attempt(self, key: str) -> _Attempt:
        first = again = None
        try:
            if self.dry_run:
                return _Attempt(first=self.uploads.plan(key))
            first = again = self.uploads.reconcile(key, is_audit=True)
            if first.changes_records:
                again = self.uploads.reconcile(key, is_audit=True)
                if again.awaits_text:  # no event will come
                    self.inspections.ask(key)
        except RecordChanged:
            return _Attempt()
        except Exception as error:
            if is_systemic(error):
                raise
            return _Attempt(first=first, error=error)
        return _Attempt(first=first, again=again)

    def _unasked(self, attempts: Iterable[_Attempt]) -> dict[str, Exception]:
        """Return, by catalog, why no run could be requested."""
        needed = set() if self.dry_run else {one for each in attempts for one in each.runs}
        asked = {each: result_or_error(partial(self.requests.ask, each)) for each in needed}
        return {each: why for each, why in asked.items() if isinstance(why, Exception)}


def isolate_failures(what: str, found: Iterable[Discrepancy]) -> Generator[Discrepancy, None, Any]:
    """
    Yield what the check of one item finds, and return its result; yield its failure.
    """
    try:
        return (yield from found)
    except Exception as error:
        if is_systemic(error):
            raise
        yield Discrepancy.not_compared(what, error)
        return None


def report_unrepaired(kind: Kind, what: str, *, remedy: str | None = None) -> Discrepancy:
    """Return a discrepancy that is left to a person or to the next round."""
    return _discrepancy(kind, what, Outcome.LEFT, remedy=remedy)


def _runs_after(plan: Plan) -> set[str]:
    """
    Return the catalog that needs a run, if any. A catalog that is reopened needs its data source,
    whether or not a document needs a run.
    """
    opened = plan.opens.catalog_id if plan.opens is not None else None
    return {catalog_id for catalog_id in (plan.run_for, opened) if catalog_id is not None}


def _outcome(until: Callable[[], bool] | None) -> Outcome:
    if until is None:
        return Outcome.ASKED_FOR
    return Outcome.MENDED if until() else Outcome.FAILED


def _discrepancy(
    kind: Kind, what: str, outcome: Outcome, *, remedy: str | None = None
) -> Discrepancy:
    remedy = remedy or kind.remedy
    if outcome is Outcome.FAILED:
        remedy = f"not mended, it is out of step again: {remedy}"
    return Discrepancy(kind=kind, what=what, remedy=remedy, outcome=outcome)


def _failed(kind: Kind, what: str, error: BaseException) -> Discrepancy:
    why = f"not mended, {type(error).__name__}: {error}"
    return Discrepancy(kind=kind, what=what, remedy=why, outcome=Outcome.FAILED, error=error)


def _judged(kind: Kind, key: str, plan: Plan, again: Plan | None) -> Discrepancy:
    """Return the discrepancy. `again` is the plan after the first was carried out."""
    if again is None:
        asking = ["ask for a run" for _ in _runs_after(plan)]
        asking += ["have the file read"] if plan.awaits_text else []
        return _discrepancy(kind, key, Outcome.LEFT, remedy=", ".join((str(plan), *asking)))
    if again.changes_records:
        return _discrepancy(kind, key, Outcome.FAILED, remedy=str(again))
    outcome = Outcome.ASKED_FOR if plan.receipt_id and plan.run_for else Outcome.MENDED
    remedy = plan.reason and f"recorded as rejected: {plan.reason}"
    if plan.is_of_a_loss:
        remedy = f"lost, for no deletion of it was seen: drop it again, or else {kind.remedy}"
    return _discrepancy(kind, key, outcome, remedy=remedy)
