"""Which run of a catalog is live, and the executions that are its body."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


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
        Count one more request and take the lease under the next epoch, in one write; None if
        anybody holds it: then nothing was counted.
        """

    def take(
        self, seen: Lease, *, until: datetime, failures: int, epoch: int | None = None
    ) -> Lease | None:
        """
        The lease under that epoch, by default the next, unless anyone else has moved it since
        `seen`.
        """

    def mark_started(self, lease: Lease) -> None:
        """As `renew` does, before the run's first task comes to that."""

    def renew(
        self, worklist_id: str, epoch: int, *, until: datetime, is_well: bool = False
    ) -> Lease:
        """
        Keep the lease and read the counter; runs that broke before one that is well count no more.
        Raises RunSuperseded.
        """

    def release(self, worklist_id: str, epoch: int, *, served: int) -> bool:
        """Give the lease back if no request came after `served`. Raises RunSuperseded."""

    def held(self) -> Iterator[Lease]:
        """Every lease that is held. Reads all there are: for repairs, not for every day."""

    def expired(self, at: datetime) -> Iterator[Lease]:
        """Those held leases that expired before that moment; found without reading the others."""


class Executions(Protocol):
    def start(self, name: str, payload: Mapping[str, object]) -> bool:
        """
        Start the execution of that name; one that was already started stays the only one.

        False if that one has ended: then nothing runs under this name, now or later.
        """

    def is_running(self, name: str) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class SeenRun:
    """
    An execution: its `status` in the words of Step Functions, and the name of the `state` that it
    is in; None for one that is over, or that wasn't looked at.
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
    def newest(self, *, limit: int, failed: int) -> Sequence[SeenRun]:
        """So many of all and so many that failed, as they were a moment ago; the newest first."""


# Which catalogs of a shared data source have open documents.


@dataclass(frozen=True, kw_only=True)
class WorklistEntry:
    """`stamp` is another one each time that somebody asks for the catalog."""

    catalog_id: str
    stamp: str


class Worklists(Protocol):
    def add(self, worklist_id: str, catalog_id: str) -> None:
        """Let it be looked at; safe to repeat, and news each time."""

    def entries(
        self, worklist_id: str, *, after: str | None = None, limit: int
    ) -> Iterator[WorklistEntry]:
        """At most so many, by catalog id, those after that one; read consistently."""

    def drop(self, worklist_id: str, entry: WorklistEntry) -> bool:
        """Unless somebody has asked for the catalog since the entry was read."""
