"""
Worklists, which runs work off: at most one live run each, and no wake-up lost.

A worklist is the open work at one data source. A catalog with a data source of its own has a
worklist named like the catalog. All catalogs on the shared data source of a knowledge base have one
in common, so that one run ingests for all of them: Bedrock takes ten documents a call, whoever owns
them.

Every request raises the worklist's counter. If nobody holds the lease, the request takes it under
the next epoch, by the same write, and starts the execution of that name. A run reads the counter
before it lists what to do, and gives the lease back only if the counter is unchanged. So a request
is either seen by the run that lists after it, or keeps that run from ending.

RunRequests is the only way to have a catalog's open documents processed: callers ask after they
have changed a record.

An execution is known to have started once its first task has renewed the lease. Until then, anyone
who finds the lease starts the execution again; its name keeps it the only one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from stackroom.clock import utc_now
from stackroom.errors import RunSuperseded
from stackroom.model.records import DataSource, PoolMember
from stackroom.model.repositories import Catalogs
from stackroom.runs.lease import Executions, Lease, Leases, Worklists
from stackroom.runs.placement import SharedSources

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
# The longest delay for a shared data source: everybody's new documents wait for it.
_LONGEST_SHARED_DELAY = 300
_SHARED = "shared-"  # no catalog id begins so: they begin with `cat-`


def worklist_of(catalog_id: str, source: DataSource | None) -> str:
    """
    Return the catalog's worklist. `source` is its data source; a catalog without one has a run of
    its own.
    """
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
    Return the worklist's data source. None if its catalog is gone or was placed on a shared data
    source meanwhile, or its knowledge base is no longer in the pool.
    """
    if is_shared(worklist_id):
        home = home_of(worklist_id, pool)
        return None if home is None else home.shared_source
    catalog = catalogs.get(worklist_id)
    source = None if catalog is None else catalog.source
    return None if source is None or source.is_shared else source


def home_of(worklist_id: str, pool: Sequence[PoolMember]) -> PoolMember | None:
    """Return the knowledge base of a shared worklist; None if it is no longer in the pool."""
    members = (each for each in pool if shared_worklist(each.knowledge_base_id) == worklist_id)
    return next(members, None)


@dataclass(frozen=True, kw_only=True)
class RunLeases:
    leases: Leases
    executions: Executions
    now: Callable[[], datetime] = utc_now

    def ask(self, worklist_id: str) -> None:
        """
        Make sure that a run lists the catalog's work after this moment. Safe to repeat.

        A dead run is left to the sweep, at most five minutes after its lease expired: the sweep
        alone counts how often runs broke (stackroom.runs.broken_runs).
        """
        claimed = self.leases.claim(worklist_id, until=self.now() + _UNSTARTED)
        if claimed is not None:
            self._start(claimed, delay=0)
        else:
            self._ensure_running(self.leases.ask(worklist_id))

    def has_ended(self, worklist_id: str, epoch: int) -> bool:
        """Return True if that run has been released and none has followed it."""
        lease = self.leases.get(worklist_id)
        return lease is not None and lease.epoch == epoch and not lease.held

    def is_live(self, worklist_id: str) -> bool:
        """Return True if a run is thought to be at work on the worklist, or about to begin."""
        lease = self.leases.get(worklist_id)
        return lease is not None and lease.held

    def renew(self, worklist_id: str, epoch: int, *, parked: bool = False) -> Lease:
        """Go on with the run, or let it wait for its grant. Raises RunSuperseded."""
        until = self.now() + (_PARKED if parked else LEASE)
        return self.leases.renew(worklist_id, epoch, until=until)

    def hand_over(self, worklist_id: str, epoch: int) -> None:
        """Let a fresh execution go on, because a history ends at 25,000 events. Safe to repeat."""
        lease = self.leases.get(worklist_id)
        if lease is not None and lease.epoch == epoch + 1:
            if lease.held:  # else the successor has even ended
                self._ensure_running(lease)
            return
        self._start_successor(self.renew(worklist_id, epoch), failures=0, delay=0)

    def held_by(self, worklist_id: str, epoch: int) -> Lease | None:
        """
        Return the lease of a run that broke; None if it ended properly or has a successor already.
        """
        lease = self.leases.get(worklist_id)
        held = lease is not None and lease.held and lease.epoch == epoch
        return lease if held else None

    def recover(self, lease: Lease) -> None:
        """Start a successor of a run that broke, later each time; once for a lease."""
        failures = lease.failures + 1
        longest = _LONGEST_SHARED_DELAY if is_shared(lease.worklist_id) else LONGEST_DELAY
        delay = min(_FIRST_DELAY * 2 ** (failures - 1), longest)
        self._start_successor(lease, failures=failures, delay=delay)

    def restart_stopped(self, lease: Lease) -> None:
        """Start a successor at once of a run that was stopped without having broken."""
        self._start_successor(lease, failures=lease.failures, delay=0)

    def expired(self) -> Iterator[Lease]:
        """
        Return the leases of runs that have been silent for too long, reading them as they are
        consumed.
        """
        return self.leases.expired(self.now())

    def is_silent(self, lease: Lease) -> bool:
        """
        Return True if the lease's run has ended silently; one that was never started is started
        now.
        """
        if not lease.started:
            return not self._start_again(lease)
        if not self.executions.is_running(lease.execution_name):
            return True
        with suppress(RunSuperseded):  # should it end in this very moment
            self.renew(lease.worklist_id, lease.epoch, parked=True)
        return False

    def _ensure_running(self, lease: Lease) -> None:
        if not lease.held:
            self._start_successor(lease, failures=lease.failures, delay=0)
        elif not lease.started:
            self._start_again(lease)

    def _start_again(self, lease: Lease) -> bool:
        """
        Start the run again, because the process that took the lease may have died first.

        Return False if the run has ended: it broke before its first task and is left to the sweep.
        """
        return self.executions.start(lease.execution_name, _payload(lease, delay=0))

    def _start_successor(
        self, lease: Lease, *, failures: int, delay: int, epoch: int | None = None
    ) -> None:
        # A delayed run must not look expired before it has begun.
        until = self.now() + _UNSTARTED + timedelta(seconds=delay)
        taken = self.leases.take(lease, until=until, failures=failures, epoch=epoch)
        if taken is not None:  # else someone else has, and starts it
            self._start(taken, delay=delay)

    def _start(self, lease: Lease, *, delay: int) -> None:
        """Start the run of a lease that was taken a moment ago."""
        if self.executions.start(lease.execution_name, _payload(lease, delay=delay)):
            if delay:  # until its first task, everybody would start it again
                self.leases.mark_started(lease)
            return
        # The name was used up before the control table was lost, or set back: so is every epoch
        # until now, because there never was one a second.
        unused = max(lease.epoch + 1, int(self.now().timestamp()))
        self._start_successor(lease, failures=lease.failures, delay=delay, epoch=unused)


def _payload(lease: Lease, *, delay: int) -> dict[str, object]:
    return {"worklist_id": lease.worklist_id, "epoch": lease.epoch, "progress": {"delay": delay}}


@dataclass(frozen=True, kw_only=True)
class RunRequests:
    catalogs: Catalogs
    shared: SharedSources
    worklists: Worklists
    runs: RunLeases
    pool: Sequence[PoolMember]

    def ask(self, catalog_id: str) -> None:
        """
        Request a run for the catalog. Safe to repeat. Does nothing for a catalog that is gone:
        whatever is uploaded to it later asks anew.
        """
        if failures := self.ask_all([catalog_id]):
            raise failures[catalog_id]

    def ask_all(self, catalog_ids: Iterable[str]) -> dict[str, Exception]:
        """Request each worklist's run once, and return errors by catalog."""
        failures: dict[str, Exception] = {}
        asking: dict[str, list[str]] = {}
        for catalog_id in catalog_ids:
            try:
                if (worklist_id := self._entered(catalog_id)) is not None:
                    asking.setdefault(worklist_id, []).append(catalog_id)
            except Exception as error:  # a failure for one catalog doesn't concern the others
                failures[catalog_id] = error
        for worklist_id, listed in asking.items():
            try:
                self.runs.ask(worklist_id)
            except Exception as error:  # as above
                failures |= dict.fromkeys(listed, error)
        return failures

    def remind(self) -> list[str]:
        """
        Request runs for the shared worklists that have entries and no run, and return their ids.
        Such entries are what a run has set aside, or what a crash has left between entering and
        asking.
        """
        shared = (shared_worklist(each.knowledge_base_id) for each in self.pool)
        forgotten = [each for each in shared if self._is_forgotten(each)]
        for worklist_id in forgotten:
            self.runs.ask(worklist_id)
        return forgotten

    def _is_forgotten(self, worklist_id: str) -> bool:
        first = next(self.worklists.entries(worklist_id, limit=1), None)
        return first is not None and not self.runs.is_live(worklist_id)

    def _entered(self, catalog_id: str) -> str | None:
        """
        Enter the catalog and return its worklist; None if the catalog doesn't exist.
        """
        catalog = self.catalogs.get(catalog_id)
        if catalog is None:
            return None
        source = catalog.source or self.shared.join_if_full(catalog)
        worklist_id = worklist_of(catalog_id, source)
        if is_shared(worklist_id):
            self.worklists.add(worklist_id, catalog_id)
        return worklist_id
