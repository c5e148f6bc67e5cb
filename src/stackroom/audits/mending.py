"""What is done about discrepancies; in a dry run nothing, and each tells what would be done."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import TypeVar

from stackroom.audits.discrepancies import QUIET, REMEDIES, Discrepancy, Kind
from stackroom.clock import utc_now
from stackroom.errors import RecordChanged
from stackroom.model import Document, DocumentStatus
from stackroom.ports.documents import Documents
from stackroom.runs.leases import Runs
from stackroom.uploads.reconcile import Uploads
from stackroom.uploads.steps import Plan

# Each reconciliation of a key is a handful of calls one after another; boto3's pool has ten
# connections.
_AT_ONCE = 8
_CHUNK = 100

T = TypeVar("T")


class LeftForLater(Exception):
    """Raised by an act that can't be done now; `str()` of it says why."""


@dataclass(frozen=True, kw_only=True)
class Mending:
    """
    `at_once` keys are reconciled at a time; 1 does it without threads. `idle_before`: whatever was
    under way at that moment has ended, as after a power cut.
    """

    uploads: Uploads
    documents: Documents
    runs: Runs
    dry_run: bool = False
    at_once: int = _AT_ONCE
    quiet: timedelta = QUIET
    idle_before: datetime | None = None
    now: Callable[[], datetime] = utc_now

    def is_settled(self, moment: datetime, *, by: datetime | None = None) -> bool:
        """Whether it is long enough ago that nothing of it should be under way now, or by then."""
        ended = self.idle_before is not None and moment < self.idle_before
        return ended or (by or self.now()) - moment >= self.quiet

    def reconciled(self, suspects: Iterable[tuple[str, Kind]]) -> Iterator[Discrepancy]:
        """Do with each key what its event would have done; a run is asked for where one must go."""
        for chunk in _chunks(suspects):
            plans = self._plans([key for key, _ in chunk])
            self._ask({catalog_id for plan in plans if plan for catalog_id in _runs_after(plan)})
            for (key, kind), plan in zip(chunk, plans, strict=True):
                if plan is not None and plan.changes_records:
                    yield self._told(kind, key, remedy=self._remedy(plan))

    def mended(
        self, kind: Kind, *what: str, by: Callable[[], object], remedy: str | None = None
    ) -> Iterator[Discrepancy]:
        """
        Mend all of it by one act, and tell of each. If it has changed since it was found, which the
        act says by RecordChanged, nothing is told: it is in good hands.
        What it leaves for later, by LeftForLater, is told as not mended.
        """
        if not what:
            return
        if not self.dry_run:
            try:
                by()
            except RecordChanged:
                return
            except LeftForLater as why:
                yield from (self.left(kind, each, remedy=str(why)) for each in what)
                return
        yield from (self._told(kind, each, remedy=remedy) for each in what)

    def run_again(self, document: Document, kind: Kind) -> Iterator[Discrepancy]:
        """Have the document taken up anew, as it is now."""
        pending = document.moved(DocumentStatus.PENDING, at=self.now())
        yield from self.saved(pending.model_copy(update={"attempts": 0}), kind)

    def saved(self, document: Document, kind: Kind) -> Iterator[Discrepancy]:
        """Save the document and ask for a run."""

        def mend() -> None:
            self.documents.save(document)
            self.runs.ask(document.catalog_id)

        yield from self.mended(kind, document.s3_key, by=mend)

    def forgotten(self, document: Document, kind: Kind) -> Iterator[Discrepancy]:
        remove = partial(self.documents.remove, document)
        yield from self.mended(kind, document.s3_key, by=remove)

    def left(self, kind: Kind, what: str, *, remedy: str | None = None) -> Discrepancy:
        """One that nothing is done about here: a person, or the next time, has to."""
        return Discrepancy(kind=kind, what=what, remedy=remedy or REMEDIES[kind], mended=False)

    def _told(self, kind: Kind, what: str, *, remedy: str | None) -> Discrepancy:
        told = remedy or REMEDIES[kind]
        return Discrepancy(kind=kind, what=what, remedy=told, mended=not self.dry_run)

    def _plans(self, keys: list[str]) -> list[Plan | None]:
        if self.at_once == 1:
            return list(map(self._planned, keys))
        with ThreadPoolExecutor(self.at_once) as workers:
            return list(workers.map(self._planned, keys))

    def _planned(self, key: str) -> Plan | None:
        """The plan that was carried out, or would be; None if others keep writing the record."""
        if self.dry_run:
            return self.uploads.plan(key)
        try:
            return self.uploads.reconcile(key)
        except RecordChanged:
            return None

    def _remedy(self, plan: Plan) -> str | None:
        if self.dry_run:
            return ", ".join((str(plan), *("ask for a run" for _ in _runs_after(plan))))
        return plan.reason and f"recorded as rejected: {plan.reason}"

    def _ask(self, catalog_ids: Iterable[str]) -> None:
        if not self.dry_run:
            for catalog_id in catalog_ids:
                self.runs.ask(catalog_id)


def _runs_after(plan: Plan) -> set[str]:
    """
    The catalog that needs a run, if any. One that is opened again needs its data source, whether or
    not a document needs a run.
    """
    opened = plan.opens.catalog_id if plan.opens is not None else None
    return {catalog_id for catalog_id in (plan.run_for, opened) if catalog_id is not None}


def _chunks(items: Iterable[T]) -> Iterator[list[T]]:
    remaining = iter(items)
    yield from iter(lambda: list(islice(remaining, _CHUNK)), [])
