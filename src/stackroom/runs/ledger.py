"""Who may use which knowledge base now, and who waits for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from pydantic import AwareDatetime


class Mode(StrEnum):
    """How a knowledge base is used: by an ingestion job alone, or by direct calls together."""

    # The values are as they are stored.
    JOB = "exclusive"
    DIRECT = "shared"


@dataclass(frozen=True, kw_only=True)
class Waiter:
    """
    A run that waits for a knowledge base; `token` wakes it.

    `since` is its position.
    """

    worklist_id: str
    epoch: int
    knowledge_base_id: str
    mode: Mode
    since: AwareDatetime
    calls: int  # direct calls that its work takes; 1 for a job
    token: str


@dataclass(frozen=True, kw_only=True)
class Grant:
    """What a run may use: `slots` direct calls at a time, or one job; void after `until`."""

    worklist_id: str
    epoch: int
    knowledge_base_id: str
    mode: Mode
    slots: int
    granted_at: AwareDatetime
    until: AwareDatetime
    start_at: AwareDatetime | None = None  # of a job: it may start then, and not before
    claimed: bool = False  # the run has woken and taken it


@dataclass(frozen=True, kw_only=True)
class Rate:
    """
    How long finished work has taken, the newest counting most: the milliseconds of what is
    small, and for what is not those beyond, of so many bytes of text.
    """

    base_ms: int | None = None
    beyond_ms: int = 0
    size: int = 0


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Every grant there is at the moment, in the whole account, and what earlier ones took."""

    version: int = 0
    grants: tuple[Grant, ...] = ()
    next_start: AwareDatetime | None = None  # of an ingestion job, by the rate of StartIngestionJob
    rates: Mapping[Mode, Rate] = field(default_factory=dict)

    @property
    def direct(self) -> list[Grant]:
        """The grants for direct calls."""
        return [each for each in self.grants if each.mode is Mode.DIRECT]

    def grant_of(self, worklist_id: str, epoch: int) -> Grant | None:
        """The run's own."""
        mine = (worklist_id, epoch)
        return next((each for each in self.grants if (each.worklist_id, each.epoch) == mine), None)


class AdmissionReader(Protocol):
    def read(self) -> Ledger: ...

    def waiting(self, knowledge_base_id: str, mode: Mode, *, limit: int) -> list[Waiter]:
        """The oldest first, read consistently."""


class AdmissionBook(AdmissionReader, Protocol):
    def write(self, ledger: Ledger) -> Ledger:
        """Keep it if nobody has written since it was read. Raises RecordChanged."""

    def enqueue(self, waiter: Waiter) -> None:
        """Keep its position by `since`; the same run again overwrites the token."""

    def dequeue(self, waiter: Waiter) -> bool:
        """Leave the queue, unless another token stands there by now."""


class TaskTokens(Protocol):
    def wake(self, token: str) -> bool:
        """Let the run that waits with this token go on; False if nobody waits with it any more."""
