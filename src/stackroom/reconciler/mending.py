"""
What is done about discrepancies; in a dry run nothing, and each tells what would be done.

"Mended" is said only of what was looked at again and found in order. What goes wrong with one item
is told with its name, and the next one's turn comes (stackroom.errors).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from stackroom.clock import utc_now
from stackroom.errors import RecordChanged, is_everybodys
from stackroom.model import Document, DocumentStatus
from stackroom.ports.documents import Documents
from stackroom.reconciler.attempts import AT_ONCE, Attempts, chunks, runs_after
from stackroom.reconciler.discrepancies import QUIET, REMEDIES, Discrepancy, Kind, Outcome
from stackroom.runs.run_requests import RunRequests
from stackroom.uploads.plan import Plan
from stackroom.uploads.reconcile import Uploads

_CHUNK = 100


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
    requests: RunRequests
    dry_run: bool = False
    at_once: int = AT_ONCE
    quiet: timedelta = QUIET
    idle_before: datetime | None = None
    now: Callable[[], datetime] = utc_now

    @property
    def _attempts(self) -> Attempts:
        return Attempts(
            uploads=self.uploads, requests=self.requests, dry_run=self.dry_run, at_once=self.at_once
        )

    def is_settled(self, moment: datetime, *, by: datetime | None = None) -> bool:
        """Whether it is long enough ago that nothing of it should be under way now, or by then."""
        ended = self.idle_before is not None and moment < self.idle_before
        return ended or (by or self.now()) - moment >= self.quiet

    def apart(self, what: str, found: Iterable[Discrepancy]) -> Iterator[Discrepancy]:
        """What is found in looking at one item; and if the look fails, that it did."""
        try:
            yield from found
        except Exception as error:
            if is_everybodys(error):
                raise
            yield Discrepancy.not_compared(what, error)

    def reconciled(self, suspects: Iterable[tuple[str, Kind]]) -> Iterator[Discrepancy]:
        """Do with each key what its event would have done; a run is asked for where one must go."""
        for chunk in chunks(suspects, of=_CHUNK):
            attempts = self._attempts.at([key for key, _ in chunk])
            for (key, kind), each in zip(chunk, attempts, strict=True):
                if each.error is not None:
                    yield self._failed(kind, key, each.error)
                elif each.first is not None and each.first.changes_records:
                    yield self._judged(kind, key, each.first, each.again)

    def mended(
        self,
        kind: Kind,
        *what: str,
        by: Callable[[], object],
        until: Callable[[], bool] | None = None,
        remedy: str | None = None,
    ) -> Iterator[Discrepancy]:
        """
        Mend all of it by one act, and tell of each. If it has changed since it was found, which the
        act says by RecordChanged, nothing is told: it is in good hands.

        `until` looks again, and says whether that was all; without it, the act was to ask somebody
        else. What is left for later, by LeftForLater, is told as not mended.
        """
        if not what:
            return
        outcome = Outcome.LEFT
        if not self.dry_run:
            try:
                by()
                outcome = _outcome(until)
            except RecordChanged:
                return
            except LeftForLater as why:
                yield from (self.left(kind, each, remedy=str(why)) for each in what)
                return
            except Exception as error:
                if is_everybodys(error):
                    raise
                yield from (self._failed(kind, each, error) for each in what)
                return
        yield from (self._told(kind, each, outcome, remedy=remedy) for each in what)

    def run_again(self, document: Document, kind: Kind) -> Iterator[Discrepancy]:
        """Have the document taken up anew, as it is now."""
        pending = document.moved(DocumentStatus.PENDING, at=self.now())
        yield from self.saved(pending.model_copy(update={"attempts": 0}), kind)

    def saved(self, document: Document, kind: Kind) -> Iterator[Discrepancy]:
        """Save the document and ask for a run."""

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

    def left(self, kind: Kind, what: str, *, remedy: str | None = None) -> Discrepancy:
        """One that nothing is done about here: a person, or the next time, has to."""
        return self._told(kind, what, Outcome.LEFT, remedy=remedy)

    def _told(
        self, kind: Kind, what: str, outcome: Outcome, *, remedy: str | None = None
    ) -> Discrepancy:
        told = remedy or REMEDIES[kind]
        if outcome is Outcome.FAILED:
            told = f"not mended, it is out of step again: {told}"
        return Discrepancy(kind=kind, what=what, remedy=told, outcome=outcome)

    def _failed(self, kind: Kind, what: str, error: BaseException) -> Discrepancy:
        why = f"not mended, {type(error).__name__}: {error}"
        return Discrepancy(kind=kind, what=what, remedy=why, outcome=Outcome.FAILED, error=error)

    def _judged(self, kind: Kind, key: str, plan: Plan, again: Plan | None) -> Discrepancy:
        """`again` is what there was to do once the plan had been carried out."""
        if again is None:
            asking = ("ask for a run" for _ in runs_after(plan))
            return self._told(kind, key, Outcome.LEFT, remedy=", ".join((str(plan), *asking)))
        if again.changes_records:
            return self._told(kind, key, Outcome.FAILED, remedy=str(again))
        outcome = Outcome.ASKED_FOR if plan.receipt_id and plan.run_for else Outcome.MENDED
        told = plan.reason and f"recorded as rejected: {plan.reason}"
        if plan.is_of_a_loss:
            told = f"lost, for no deletion of it was seen: drop it again, or else {REMEDIES[kind]}"
        return self._told(kind, key, outcome, remedy=told)


def _outcome(until: Callable[[], bool] | None) -> Outcome:
    if until is None:
        return Outcome.ASKED_FOR
    return Outcome.MENDED if until() else Outcome.FAILED
