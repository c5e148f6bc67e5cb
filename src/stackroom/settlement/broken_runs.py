"""Runs that broke, or ended without a word: their grants are given back, and others follow."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from stackroom.admission.admission import Admission
from stackroom.ports.runs import Lease
from stackroom.runs.leases import Runs
from stackroom.runs.requests import RunRequests
from stackroom.settlement.restart import SILENT, Restart
from stackroom.settlement.verdicts import Settled


@dataclass
class SweepResult:
    """By execution name: the runs that were followed, and what went wrong with others."""

    followed: list[str] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)
    failures: dict[str, Exception] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class BrokenRuns:
    admission: Admission
    runs: Runs
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

        `leases` are of runs that may have ended so (`Runs.expired`). They have not broken if they
        `were_stopped` with everything else: then they are followed at once, and nothing is counted.
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
