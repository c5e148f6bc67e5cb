"""Runs that broke, or ended without a word: their grants are given back, and others follow."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from stackroom.clock import utc_now
from stackroom.concurrency import chunks
from stackroom.model.records import DocumentStatus
from stackroom.model.repositories import Documents
from stackroom.runs.admission import Admission
from stackroom.runs.lease import Lease
from stackroom.runs.run_leases import MAX_FAILURES, RunLeases, is_shared
from stackroom.runs.run_requests import RunRequests
from stackroom.runs.verdicts import DocumentOutcome, Settled

SILENT = "an execution that ended silently"

_AT_ONCE = 500  # documents that are kept in memory


@dataclass(frozen=True, kw_only=True)
class Restart:
    """
    The one way on for a worklist whose run is dead, whoever finds that out.

    Another run follows, later each time, and its documents wait, for a run mostly breaks over what
    a person mends soon; after `MAX_FAILURES` in a row they fail (docs/decisions/0002). The dead
    run's grant is for others to give back.
    """

    documents: Documents
    runs: RunLeases
    now: Callable[[], datetime] = utc_now

    def follow(self, lease: Lease, error: str) -> list[Settled]:
        """
        Follow the run that holds the lease, and broke with that error.

        Safe to repeat; answers the documents that failed with the last of many. Those of a shared
        data source are of many catalogs, none of which is known to be at fault: they wait.
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
        if not self.runs.release(catalog_id, lease.epoch, served=lease.requested):
            self.runs.recover(lease)  # more was dropped meanwhile
        return settled

    def follow_if_silent(self, lease: Lease) -> None:
        """One that was never started is started; nothing if it lives, or was followed already."""
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
    """By execution name: the runs that were followed, and what went wrong with others."""

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
        """A run broke; answers the documents that failed with it."""
        lease = self.runs.held_by(worklist_id, epoch)
        if lease is None:
            return []  # another messenger of the same failure was first
        self.admission.leave(worklist_id, epoch)
        return self.restart.follow(lease, error)

    def sweep(self, leases: Iterable[Lease], *, were_stopped: bool = False) -> SweepResult:
        """
        Follow every run that ended without a word, and hand out what a crash has forgotten.

        `leases` are of runs that may have ended so (`RunLeases.expired`). They have not broken if
        they `were_stopped` with everything else: then they are followed at once, and nothing is
        counted.
        What goes wrong with one of them is told with the rest, and keeps no other from being looked
        after.
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
                    self.runs.go_on(lease)
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
