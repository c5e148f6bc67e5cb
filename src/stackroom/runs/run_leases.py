"""
Worklists, which runs work off: at most one live run each, and no wake-up lost.

A worklist is what is open at one data source. That of a catalog with a data source of its own is
named like the catalog. All catalogs on the shared data source of a knowledge base have one in
common, so that one run ingests for all of them: Bedrock takes ten documents a call, whosever.

Every request raises the worklist's counter; whoever finds no lease takes it under the next epoch,
by the same write, and starts the execution of that name. A run reads the counter before it lists
what to do, and gives the lease back only if the counter still stands there. So a request is either
seen by the run that lists after it, or keeps that run from ending.

That an execution was started is known once its first task has renewed the lease. Until then whoever
finds it starts it again, which its name makes one start.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from stackroom.clock import utc_now
from stackroom.errors import RunSuperseded
from stackroom.model.records import DataSource, PoolMember
from stackroom.model.repositories import Catalogs
from stackroom.runs.lease import Executions, Lease, Leases

# A run renews its lease with every task; the longest silence is one wait (runs/run.py) and the
# retries of one task (about five minutes). Expiry alone decides nothing: Step Functions is asked.
LEASE = timedelta(minutes=15)
# A run that waits for its grant does nothing; ten thousand of them are looked at three a second.
_PARKED = timedelta(hours=1)
# From the lease to its execution's first task, which renews it.
_UNSTARTED = timedelta(minutes=2)
# A run that broke is followed by another after 1, 2, 4 ... at most 60 minutes. After these many in
# a row (about four hours), of which none has settled a document, those that wait fail with the
# error, rather than wait for ever.
MAX_FAILURES = 10
_FIRST_DELAY = 60
LONGEST_DELAY = 3600
# Of a shared data source: everybody's new documents wait for it.
_LONGEST_SHARED_DELAY = 300
_SHARED = "shared-"  # no catalog id begins so: they begin with `cat-`


def worklist_of(catalog_id: str, source: DataSource | None) -> str:
    """`source` is where the catalog is placed; one that isn't yet has a run of its own."""
    if source is not None and source.is_shared:
        return shared_worklist(source.knowledge_base_id)
    return catalog_id


def shared_worklist(knowledge_base_id: str) -> str:
    return _SHARED + knowledge_base_id


def is_shared(worklist_id: str) -> bool:
    return worklist_id.startswith(_SHARED)


def source_of(
    worklist_id: str, catalogs: Catalogs, pool: Sequence[PoolMember]
) -> DataSource | None:
    """
    The worklist's data source; None if its catalog is gone, or its knowledge base in the pool no
    more, and for a catalog that was placed on a shared one meanwhile.
    """
    if is_shared(worklist_id):
        home = home_of(worklist_id, pool)
        return None if home is None else home.shared_source
    catalog = catalogs.get(worklist_id)
    source = None if catalog is None else catalog.source
    return None if source is None or source.is_shared else source


def home_of(worklist_id: str, pool: Sequence[PoolMember]) -> PoolMember | None:
    """The knowledge base whose shared worklist it is; None if that is in the pool no more."""
    members = (each for each in pool if shared_worklist(each.knowledge_base_id) == worklist_id)
    return next(members, None)


@dataclass(frozen=True, kw_only=True)
class RunLeases:
    leases: Leases
    executions: Executions
    now: Callable[[], datetime] = utc_now

    def ask(self, worklist_id: str) -> None:
        """
        See to it that a run lists the catalog's work after this moment. Safe to repeat.

        A dead run is left to those who look for such, at most five minutes after it expired: they
        alone count how often runs broke (stackroom.runs.broken_runs).
        """
        claimed = self.leases.claim(worklist_id, until=self.now() + _UNSTARTED)
        if claimed is not None:
            self._start(claimed, delay=0)
        else:
            self._enliven(self.leases.ask(worklist_id))

    def has_ended(self, worklist_id: str, epoch: int) -> bool:
        """Whether that run has been released, and none has followed it."""
        lease = self.leases.get(worklist_id)
        return lease is not None and lease.epoch == epoch and not lease.held

    def is_live(self, worklist_id: str) -> bool:
        """Whether a run is thought to be at it, or about to begin."""
        lease = self.leases.get(worklist_id)
        return lease is not None and lease.held

    def release(self, worklist_id: str, epoch: int, *, served: int) -> bool:
        """End the run unless there is more to do. Raises RunSuperseded."""
        return self.leases.release(worklist_id, epoch, served=served)

    def renew(self, worklist_id: str, epoch: int, *, parked: bool = False) -> Lease:
        """Go on with the run, or have it wait for its grant. Raises RunSuperseded."""
        until = self.now() + (_PARKED if parked else LEASE)
        return self.leases.renew(worklist_id, epoch, until=until)

    def hand_over(self, worklist_id: str, epoch: int) -> None:
        """Let a fresh execution go on, for a history ends at 25,000 events. Safe to repeat."""
        lease = self.leases.get(worklist_id)
        if lease is not None and lease.epoch == epoch + 1:
            if lease.held:  # else the successor has even ended
                self._enliven(lease)
            return
        self._succeed(self.renew(worklist_id, epoch), failures=0, delay=0)

    def held_by(self, worklist_id: str, epoch: int) -> Lease | None:
        """The lease of a run that broke; None if it ended properly or has been followed already."""
        lease = self.leases.get(worklist_id)
        held = lease is not None and lease.held and lease.epoch == epoch
        return lease if held else None

    def recover(self, lease: Lease) -> None:
        """Follow a run that broke by another one, later each time; once for a lease."""
        failures = lease.failures + 1
        longest = _LONGEST_SHARED_DELAY if is_shared(lease.worklist_id) else LONGEST_DELAY
        delay = min(_FIRST_DELAY * 2 ** (failures - 1), longest)
        self._succeed(lease, failures=failures, delay=delay)

    def go_on(self, lease: Lease) -> None:
        """Follow a run that did not break and was stopped all the same, at once."""
        self._succeed(lease, failures=lease.failures, delay=0)

    def expired(self) -> Iterator[Lease]:
        """The leases of runs that have been silent for too long; read when they are asked for."""
        yield from self.leases.expired(self.now())

    def held(self) -> Iterator[Lease]:
        """The leases of all runs that are thought to be live; read when they are asked for."""
        yield from self.leases.held()

    def is_silent(self, lease: Lease) -> bool:
        """Whether its run has ended without a word; one that was never started is started now."""
        if not lease.started:
            return not self._start_again(lease)
        if not self.executions.is_running(lease.execution_name):
            return True
        with suppress(RunSuperseded):  # should it end in this very moment
            self.renew(lease.worklist_id, lease.epoch, parked=True)
        return False

    def _enliven(self, lease: Lease) -> None:
        if not lease.held:
            self._succeed(lease, failures=lease.failures, delay=0)
        elif not lease.started:
            self._start_again(lease)

    def _start_again(self, lease: Lease) -> bool:
        """
        Whoever took the lease may have died before its run began. False if that run has ended: it
        broke before its first task, and is left to those who look for such.
        """
        return self.executions.start(lease.execution_name, _payload(lease, delay=0))

    def _succeed(
        self, lease: Lease, *, failures: int, delay: int, epoch: int | None = None
    ) -> None:
        # A delayed run must not look expired before it has begun.
        until = self.now() + _UNSTARTED + timedelta(seconds=delay)
        taken = self.leases.take(lease, until=until, failures=failures, epoch=epoch)
        if taken is not None:  # else someone else has, and starts it
            self._start(taken, delay=delay)

    def _start(self, lease: Lease, *, delay: int) -> None:
        """Of a lease that was taken a moment ago."""
        if self.executions.start(lease.execution_name, _payload(lease, delay=delay)):
            if delay:  # until its first task, everybody would start it again
                self.leases.mark_started(lease)
            return
        # The name was used up before the control table was lost, or set back: so is every epoch
        # until now, for there never was one a second.
        unused = max(lease.epoch + 1, int(self.now().timestamp()))
        self._succeed(lease, failures=lease.failures, delay=delay, epoch=unused)


def _payload(lease: Lease, *, delay: int) -> dict[str, object]:
    return {"worklist_id": lease.worklist_id, "epoch": lease.epoch, "progress": {"delay": delay}}
