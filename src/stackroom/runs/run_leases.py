"""
Worklists, which runs work off: at most one live run each, and no wake-up lost.

A worklist is the open work at one data source. A catalog with a data source of its own has a
worklist named like the catalog. All catalogs on the shared data source of a knowledge base have one
in common, so that one run ingests for all of them: Bedrock takes ten documents a call, whoever owns
them. A catalog that asks for its first run joins them if no knowledge base has room for its own.

Every request raises the worklist's counter. If nobody holds the lease, the request takes it under
the next epoch, by the same write, and starts the execution of that name. A run reads the counter
before it lists what to do, and gives the lease back only if the counter is unchanged. So a request
is either seen by the run that lists after it, or keeps that run from ending.

RunRequests is the only way to have a catalog's open documents processed: callers ask after they
have changed a record.

An execution is known to have started once its first task has renewed the lease. Until then, anyone
who finds the lease starts the execution again; its name keeps it the only one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from stackroom.clock import utc_now
from stackroom.errors import RunSuperseded
from stackroom.model.records import Catalog, CatalogStatus, DataSource, PoolMember
from stackroom.model.repositories import Catalogs
from stackroom.runs.capacity import Slots, capacity_of

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


@dataclass(frozen=True, kw_only=True)
class Worklist:
    """
    A worklist's data source, and the catalog that has the worklist to itself.

    `source` is None if the catalog is gone or was placed on a shared data source meanwhile, or if
    the knowledge base is no longer in the pool.
    """

    source: DataSource | None
    catalog: Catalog | None = None

    @property
    def to_take_down(self) -> Catalog | None:
        """The catalog, if all its documents are to go, and its data source with them."""
        catalog = self.catalog
        if catalog is None or catalog.status is not CatalogStatus.DELETING:
            return None
        shares = catalog.source is not None and catalog.source.is_shared
        return None if catalog.document_count or shares else catalog


@dataclass(frozen=True, kw_only=True)
class WorklistReader:
    catalogs: Catalogs
    pool: Sequence[PoolMember]

    def read(self, worklist_id: str) -> Worklist:
        if is_shared(worklist_id):
            for member in self.pool:
                if shared_worklist(member.knowledge_base_id) == worklist_id:
                    return Worklist(source=member.shared_source)
            return Worklist(source=None)
        catalog = self.catalogs.get(worklist_id)
        source = None if catalog is None else catalog.source
        is_own = source is not None and not source.is_shared
        return Worklist(source=source if is_own else None, catalog=catalog)


# The lease that makes one run of a worklist the live one, and the executions that carry runs out.


@dataclass(frozen=True, kw_only=True)
class Lease:
    """A catalog's control item: how often a run was asked for, and which run is live, if any."""

    worklist_id: str
    requested: int
    epoch: int
    held: bool
    started: bool
    until: datetime | None = None
    failures: int = 0  # runs in a row that broke, of which none has settled a document

    @property
    def execution_name(self) -> str:
        return f"{self.worklist_id}-{self.epoch}"


class Leases(Protocol):
    def get(self, worklist_id: str) -> Lease | None: ...

    def ask(self, worklist_id: str) -> Lease:
        """Count one more request for a run."""

    def claim(self, worklist_id: str, *, until: datetime) -> Lease | None:
        """
        Count one more request and take the lease under the next epoch, in one write. Return None,
        and count nothing, if anybody holds it.
        """

    def take(
        self, seen: Lease, *, until: datetime, failures: int, epoch: int | None = None
    ) -> Lease | None:
        """
        Take the lease under that epoch, by default the next. Return None if anyone else has moved
        it since `seen`.
        """

    def mark_started(self, lease: Lease) -> None:
        """Mark the run as started, before its first task renews the lease."""

    def renew(
        self, worklist_id: str, epoch: int, *, until: datetime, is_well: bool = False
    ) -> Lease:
        """
        Renew the lease and return it with its counter. If the run `is_well`, broken runs before it
        no longer count. Raises RunSuperseded.
        """

    def release(self, worklist_id: str, epoch: int, *, served: int) -> bool:
        """Give the lease back if no request came after `served`. Raises RunSuperseded."""

    def held(self) -> Iterator[Lease]:
        """
        Return every lease that is held. This reads all leases: use it for repairs, not every day.
        """

    def expired(self, at: datetime) -> Iterator[Lease]:
        """Return the held leases that expired before that moment, without reading the others."""


class Executions(Protocol):
    def start(self, name: str, payload: Mapping[str, object]) -> bool:
        """
        Start the execution of that name; one that was already started stays the only one.

        Return False if an execution of that name has ended: then nothing runs under it, now or
        later.
        """

    def is_running(self, name: str) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class RunExecution:
    """
    An execution: its `status` in the words of Step Functions, and the name of its current `state`,
    which is None if the execution is over or was not read.
    """

    name: str
    arn: str
    status: str
    began_at: datetime
    ended_at: datetime | None = None
    state: str | None = None

    @property
    def worklist_id(self) -> str:
        return self.name.rpartition("-")[0]  # as Lease.execution_name is made


class RunHistory(Protocol):
    def newest(self, *, limit: int, failed: int) -> Sequence[RunExecution]:
        """
        Return the newest executions first, at most `limit` of all and `failed` that failed. They
        may be a moment old.
        """


@dataclass(frozen=True, kw_only=True)
class WorklistEntry:
    """A catalog in a worklist. Its `stamp` changes with each request for the catalog."""

    catalog_id: str
    stamp: str


class Worklists(Protocol):
    def add(self, worklist_id: str, catalog_id: str) -> None:
        """Add the catalog with a new stamp. Safe to repeat."""

    def entries(
        self, worklist_id: str, *, after: str | None = None, limit: int
    ) -> Iterator[WorklistEntry]:
        """
        Return at most `limit` entries in order of catalog id, after the given one. Reads
        consistently.
        """

    def remove_if_unchanged(self, worklist_id: str, entry: WorklistEntry) -> bool:
        """Remove the entry and return True, unless its stamp has changed since it was read."""


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
class SharedSources:
    """The shared data sources, one in each knowledge base."""

    catalogs: Catalogs
    slots: Slots
    pool: Sequence[PoolMember]

    def join_if_full(self, catalog: Catalog) -> DataSource | None:
        """
        Place a catalog on a shared data source if the pool has no room for one of its own. Return
        None if there may be room, which the catalog's own run finds out. Raises RecordChanged if
        somebody has just placed it elsewhere.
        """
        for member in self.pool:
            holders = self.slots.holders(member.knowledge_base_id)
            if catalog.catalog_id in holders or len(holders) < capacity_of(member).own_sources:
                return None
        return self.join(catalog)

    def join(self, catalog: Catalog) -> DataSource:
        """
        Place the catalog on the shared data source with the fewest catalogs, a MANAGED one last,
        because that has room for catalogs' own. Raises RecordChanged.
        """

        def order(member: PoolMember) -> tuple[bool, int]:
            return member.is_managed, self.slots.sharing(member.knowledge_base_id)

        source = min(self.pool, key=order).shared_source
        self.catalogs.place(catalog.catalog_id, source)
        self.slots.count_sharing(source.knowledge_base_id)
        return source


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
