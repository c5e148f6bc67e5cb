"""Follow runs that broke or ended silently: give their grants back and start their successors."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from stackroom.clock import utc_now
from stackroom.concurrency import chunks
from stackroom.model.records import DocumentStatus
from stackroom.model.repositories import Documents
from stackroom.runs.admission import Admission
from stackroom.runs.evidence import DocumentOutcome
from stackroom.runs.run_leases import MAX_FAILURES, Lease, RunLeases, RunRequests, is_shared
from stackroom.runs.verdicts import Settled

SILENT = "an execution that ended silently"

_AT_ONCE = 500  # documents that are kept in memory


@dataclass(frozen=True, kw_only=True)
class Restart:
    """
    The only way to continue a worklist whose run is dead.

    Another run follows, later each time, and its documents wait, because a run usually breaks over
    something that a person soon mends. After `MAX_FAILURES` in a row the documents fail
    (docs/decisions/0002). Somebody else gives the dead run's grant back.
    """

    documents: Documents
    runs: RunLeases
    now: Callable[[], datetime] = utc_now

    def follow(self, lease: Lease, error: str) -> list[Settled]:
        """
        Start a successor of the run that holds the lease and broke with that error. Safe to repeat.

        Returns the documents that fail with the last of many broken runs. Documents of a shared
        data source belong to many catalogs, none of which is known to be at fault, so they wait.
        """
        if is_shared(lease.worklist_id) or lease.failures + 1 < MAX_FAILURES:
            self.runs.recover(lease)
            return []
        # Before the lease moves: a retry of this must still find it, and the documents.
        catalog_id = lease.worklist_id
        reason = (
            f"the ingestion run broke {MAX_FAILURES} times, the last time with {error}; once your "
            "operator has mended it, drop the file again"
        )
        settled = list(self._fail(catalog_id, reason))
        if not self.runs.leases.release(catalog_id, lease.epoch, served=lease.requested):
            self.runs.recover(lease)  # more was dropped meanwhile
        return settled

    def follow_if_silent(self, lease: Lease) -> None:
        """
        Start a successor of the run if it ended silently. A run that was never started is started;
        nothing happens if it lives or has a successor already.
        """
        is_silent = self.runs.is_silent(lease)
        if is_silent and (held := self.runs.held_by(lease.worklist_id, lease.epoch)) is not None:
            self.follow(held, SILENT)

    def _fail(self, catalog_id: str, reason: str) -> Iterator[Settled]:
        at = self.now()
        waiting = (each for each in self.documents.open_in(catalog_id) if each.is_to_ingest)
        for some in chunks(waiting, of=_AT_ONCE):
            failed = self.documents.save_all(
                each.moved(DocumentStatus.FAILED, at=at, reason=reason) for each in some
            )
            yield from (Settled(document=each, outcome=DocumentOutcome.FAILED) for each in failed)


@dataclass
class SweepResult:
    """The runs that were followed, by execution name, and the errors that kept others from it."""

    followed: list[str] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)
    failures: dict[str, Exception] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class BrokenRuns:
    admission: Admission
    runs: RunLeases
    restart: Restart
    requests: RunRequests

    def record(self, worklist_id: str, epoch: int, error: str) -> list[Settled]:
        """Record that a run broke, and return the documents that failed with it."""
        lease = self.runs.held_by(worklist_id, epoch)
        if lease is None:
            return []  # another messenger of the same failure was first
        self.admission.leave(worklist_id, epoch)
        return self.restart.follow(lease, error)

    def sweep(self, leases: Iterable[Lease], *, were_stopped: bool = False) -> SweepResult:
        """
        Start a successor of every run that ended silently, and dispatch what a crash has left
        undone.

        `leases` belong to runs that may have ended so (`RunLeases.expired`). If they `were_stopped`
        with everything else, they have not broken: their successors start at once, and no failure
        is counted. An error with one run is returned with the results, and keeps no other run
        waiting.
        """
        swept = SweepResult()
        try:
            self.admission.dispatch()  # first, so that no broken run keeps the others waiting
        except Exception as error:  # whatever it is, dead runs are followed all the same
            swept.failures["what is free, to be handed out"] = error
        for lease in list(leases):
            try:
                if not self.runs.is_silent(lease):
                    continue
                if were_stopped:
                    self.admission.leave(lease.worklist_id, lease.epoch)
                    self.runs.restart_stopped(lease)
                else:
                    swept.settled += self.record(lease.worklist_id, lease.epoch, SILENT)
                swept.followed.append(lease.execution_name)
            except Exception as error:  # whatever it is, it is this run's
                swept.failures[lease.execution_name] = error
        try:
            self.requests.remind()
        except Exception as error:  # as above
            swept.failures["what was set aside, to be asked for"] = error
        return swept
