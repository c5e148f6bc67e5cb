"""The grants of knowledge bases, the queue for them, and the duration of finished work."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from pydantic import AwareDatetime

from stackroom.clock import Pace


class Mode(StrEnum):
    """The use of a knowledge base: by an ingestion job alone, or by direct calls together."""

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
    """A run's right to `slots` direct calls at a time, or one job; void after `until`."""

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
class WorkDuration:
    """
    Moving average of work duration: base plus milliseconds per byte.

    `base_ms` is the duration of small work. Larger work takes `beyond_ms` more for `size` bytes of
    text.
    """

    base_ms: int | None = None
    beyond_ms: int = 0
    size: int = 0


Rates = Mapping[Mode, WorkDuration]


@dataclass(frozen=True, kw_only=True)
class Ledger:
    """Every grant in the account at this moment, and the duration of earlier work."""

    version: int = 0
    grants: tuple[Grant, ...] = ()
    next_start: AwareDatetime | None = None  # of an ingestion job, by the rate of StartIngestionJob
    rates: Rates = field(default_factory=dict)

    @property
    def direct(self) -> list[Grant]:
        """The grants for direct calls."""
        return [each for each in self.grants if each.mode is Mode.DIRECT]


# The duration of work: nobody documents how fast Bedrock reads and embeds, and a laptop does it at
# its own pace. So every grant whose work is finished reports its duration when it goes back. These
# are seconds on AWS, until some work has been measured: a job, and a call of small documents, as
# the simulator's rules job.shortest and document.duration have them.
_BASES = {Mode.JOB: 18.0, Mode.DIRECT: 4.0}
# Seconds beyond Bedrock's own time: on AWS about, until a search finds what is indexed (the
# simulator's rule job.searchable-lag), and by our clock for our own functions.
_FOUND, _OWN = 3.0, 2.0
# Bytes of text, below which work takes no longer than any does.
SMALL = 20_000
# Measured work allows an estimate for work this many times as large, and no larger.
_FURTHEST = 20
_KEPT = 0.7  # of the average, with each further work


@dataclass(frozen=True, kw_only=True)
class CompletedWork:
    """Finished work: `size` is in bytes of text."""

    mode: Mode
    size: int
    seconds: float


def with_measured(rates: Rates, completed: CompletedWork, pace: Pace) -> Rates:
    """Return the moving averages with finished work added."""
    average, took_ms = (
        rates.get(completed.mode, WorkDuration()),
        round(completed.seconds * 1000),
    )
    if completed.size < SMALL:
        before = took_ms if average.base_ms is None else average.base_ms
        average = replace(average, base_ms=round(before * _KEPT + took_ms * (1 - _KEPT)))
    else:
        beyond = max(0, took_ms - round(_base(average, completed.mode, pace) * 1000))
        kept = _KEPT if average.size else 0
        average = replace(
            average,
            beyond_ms=round(average.beyond_ms * kept + beyond),
            size=round(average.size * kept + completed.size),
        )
    return {**rates, completed.mode: average}


def is_known(rates: Rates, mode: Mode, size: int) -> bool:
    """Return True if work of about this size has been measured."""
    average = rates.get(mode, WorkDuration())
    return average.base_ms is not None if size < SMALL else size <= average.size * _FURTHEST


def duration(rates: Rates, mode: Mode, size: int, pace: Pace) -> float:
    """
    Return the seconds, by our clock, from when so many bytes of text are taken up until they are
    searchable; infinite if nothing like it has been measured yet.
    """
    average = rates.get(mode, WorkDuration())
    least = _base(average, mode, pace) + pace.here(_FOUND) + _OWN
    if size < SMALL:
        return least
    if not is_known(rates, mode, size):
        return math.inf
    return least + size * average.beyond_ms / 1000 / average.size


def _base(average: WorkDuration, mode: Mode, pace: Pace) -> float:
    return pace.here(_BASES[mode]) if average.base_ms is None else average.base_ms / 1000


class AdmissionBook(Protocol):
    def read(self) -> Ledger: ...

    def waiting(self, knowledge_base_id: str, mode: Mode, *, limit: int) -> list[Waiter]:
        """Return waiting runs, the oldest first; reads consistently."""

    def write(self, ledger: Ledger) -> Ledger:
        """Save the ledger if nobody has written since it was read. Raises RecordChanged."""

    def enqueue(self, waiter: Waiter) -> None:
        """
        Enqueue the run at the position of its `since`; the same run again overwrites its token.
        """

    def dequeue(self, waiter: Waiter) -> bool:
        """Remove the run from the queue, unless another token stands there by now."""


class TaskTokens(Protocol):
    def wake(self, token: str) -> bool:
        """Wake the run that waits with this token; False if nobody waits with it any more."""
