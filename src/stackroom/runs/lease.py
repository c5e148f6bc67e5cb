"""
The lease that makes one run of a catalog the live one, and the executions that carry runs out.
"""

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


# The catalogs of a shared data source with open documents.


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
