"""
The minimum time in which Bedrock's limits allow work to be settled, by any method.

Any document may use an ingestion job or a direct call of any knowledge base, together with any
others. The ideal scheduler knows all durations and all later documents, wastes nothing, and starts
when the first document arrives. docs/scaling.md derives the bound.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from math import inf
from statistics import median
from typing import Self

from bedrock_kb_simulator.assumptions import Assumptions
from bedrock_kb_simulator.rules import (
    DIRECT_CONCURRENCY,
    DIRECT_DURATION,
    JOB_AT_A_TIME,
    JOB_STARTING,
    JOBS_PER_ACCOUNT,
    RATES,
    SEARCHABLE_LAG,
)
from benchmarks.traffic import Upload
from simulated_time.account import CALL, CREATED, event_delay
from simulated_time.bedrock import Durations
from simulated_time.functions import OVERHEAD
from simulated_time.walk import TRANSITION

# Minimum seconds from an event to a call of Bedrock: one state or warm function, and one call.
TELLING = min(OVERHEAD, TRANSITION) + CALL
_MOMENTS = 24  # arrivals from which the remaining work is examined
_EXACT = 1e-3  # seconds


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """
    A document to index or, with 0 `seconds`, to remove; `at` is its arrival, `submitted` the
    earliest time at which Bedrock can have it.
    """

    at: float
    submitted: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Limits:
    """An account's limits with VECTOR knowledge bases; times are seconds."""

    calls: int = DIRECT_CONCURRENCY.limit
    per_call: int = 10  # documents [API model bedrock-agent: KnowledgeBaseDocuments]
    call: float = DIRECT_DURATION.value
    jobs: int = JOBS_PER_ACCOUNT.limit
    starting: float = JOB_STARTING.value
    between_starts: float = 1 / RATES["StartIngestionJob"]
    at_a_time: int = JOB_AT_A_TIME.limit  # documents that a job indexes in parallel

    @classmethod
    def of(cls, world: Assumptions) -> Self:
        return cls(call=world.direct_seconds, at_a_time=world.job_documents)

    @property
    def overhead(self) -> float:
        """Return a document's share of the time of a full direct call."""
        return self.call / self.per_call


LIMITS = Limits()


def bound(
    works: Iterable[Work],
    *,
    pool_size: int,
    by_jobs: bool = True,
    limits: Limits = LIMITS,
) -> float:
    """
    Return the seconds from the first arrival until the last document can be settled; without
    `by_jobs`, by direct calls alone.
    """
    case = _Case(sorted(works, key=lambda each: each.submitted), limits)
    return min(case.least(way) for way in _ways(pool_size, limits, by_jobs=by_jobs))


def alone(work: Work, limits: Limits = LIMITS) -> float:
    """Return the seconds from arrival by an undisturbed direct call or job."""
    return work.submitted - work.at + min(limits.call, limits.starting) + work.seconds


@dataclass(frozen=True, kw_only=True)
class Least:
    """
    The minimum time until a search finds everything that can be indexed: by Bedrock's limits, and
    by these if nobody knows of an upload before its event, and the reaction takes its minimum time.
    """

    works: Sequence[Work]  # submitted at once
    delayed: Sequence[Work]  # submitted later
    pool_size: int
    limits: Limits

    @classmethod
    def of(
        cls, planned: Sequence[Upload], durations: Durations, pool_size: int, limits: Limits
    ) -> Self:
        works = [
            (
                Work(
                    at=each.at, submitted=each.at, seconds=durations.seconds(each.size, each.etag)
                ),
                each,
            )
            for each in planned
            if not each.is_broken
        ]
        return cls(
            works=[work for work, _ in works],
            delayed=[
                replace(work, submitted=work.at + delay + TELLING)
                for work, each in works
                for delay in [event_delay(durations.seed, CREATED, each.key)]
            ],
            pool_size=pool_size,
            limits=limits,
        )

    @cached_property
    def of_all(self) -> tuple[float, float]:
        """Return the seconds for everything, 0 without work: by limits, and with latencies."""
        if not self.works:
            return 0.0, 0.0
        by_limits, with_latency = (
            SEARCHABLE_LAG.value + bound(each, pool_size=self.pool_size, limits=self.limits)
            for each in (self.works, self.delayed)
        )
        return by_limits, with_latency

    @cached_property
    def of_median(self) -> tuple[float, float]:
        """Return the median of the seconds alone: by limits, and with latencies."""
        by_limits, with_latency = (
            SEARCHABLE_LAG.value + median(alone(work, self.limits) for work in each)
            for each in (self.works, self.delayed)
        )
        return by_limits, with_latency


@dataclass(frozen=True, kw_only=True)
class _Way:
    """
    A way to work: `lanes` of jobs may run in parallel with direct calls, and if that leaves these
    no knowledge base, one more in their place (`apart`); `lost` is what direct calls lose to it.
    """

    lanes: int
    apart: bool = False
    lost: float = 0.0

    @property
    def has_jobs(self) -> bool:
        return self.apart or self.lanes > 0


def _ways(pool_size: int, limits: Limits, *, by_jobs: bool) -> Sequence[_Way]:
    """Return the ways; their minimum is the bound, as a knowledge base uses one way at a time."""
    if not by_jobs:
        return [_Way(lanes=0)]
    if pool_size > limits.jobs:
        return [_Way(lanes=limits.jobs)]
    if pool_size > 1:
        return [_Way(lanes=pool_size - 1, apart=True)]
    return [_Way(lanes=0), _Way(lanes=0, apart=True, lost=limits.starting)]


class _Case:
    """Works in the order of their submission to Bedrock; times count from the first arrival."""

    def __init__(self, ordered: Sequence[Work], limits: Limits) -> None:
        self._ordered = ordered
        self._limits = limits
        self._first = min(each.at for each in ordered)
        # The documents that a job finds if it starts as soon as anything is known.
        self._listing = ordered[0].submitted + limits.starting

    def least(self, way: _Way) -> float:
        longest = max(self._of_one(each, way) for each in self._ordered)
        step = max(1, len(self._ordered) // _MOMENTS)
        left = (self._left(start, way) for start in range(0, len(self._ordered), step))
        return max(longest, *left)

    def _of_one(self, work: Work, way: _Way) -> float:
        """Return the seconds without other limits; a job may list a document as it arrives."""
        called = work.submitted + self._limits.call
        begun = min(called, max(work.at, self._listing)) if way.has_jobs else called
        return begun + work.seconds - self._first

    def _left(self, start: int, way: _Way) -> float:
        """Return the seconds until that work and all later ones can be settled."""
        works = self._ordered[start:]
        since = min(each.at for each in works)
        window = _Window(
            seconds=sorted(each.seconds for each in works),
            way=way,
            listed=max(0.0, self._listing - since),
            called=works[0].submitted - since + (way.lost if start == 0 else 0.0),
            limits=self._limits,
        )
        return since - self._first + _smallest(window.fits)


class _Window:
    """
    Documents of these seconds, the shortest first, that arrive from now on; a job can list them
    after `listed` seconds, and the first call starts after `called` seconds.
    """

    def __init__(
        self, *, seconds: Sequence[float], way: _Way, listed: float, called: float, limits: Limits
    ) -> None:
        self._seconds = seconds
        self._sums = [0.0, *accumulate(seconds)]  # of the first 0, 1, 2 ...
        self._way = way
        self._listed = listed
        self._called = called
        self._limits = limits
        # A job's second replaces all calls' for documents shorter than this.
        more = limits.calls - limits.at_a_time
        short = limits.at_a_time * limits.overhead / more if more > 0 else inf
        self._short = self._sums[bisect_left(seconds, short)]

    def fits(self, until: float) -> bool:
        """Return True if these sums allow everything to be settled in this many seconds."""
        calls, at_a_time, lanes = self._limits.calls, self._limits.at_a_time, self._way.lanes
        jobs, most = self._by_jobs(until, lanes), self._by_jobs(until, lanes + self._way.apart)
        called = max(0.0, until - self._called)
        # A job takes nothing from calls before any can have started.
        free = min(at_a_time * max(0.0, self._called - self._listed), most - jobs)
        # No call indexes anything in its first seconds. It is most with as little of a job instead
        # of calls as there can be, or with as much.
        indexing = called - self._limits.call
        instead = indexing - (most - jobs - free) / at_a_time
        if self._sums[-1] > max(
            jobs + free + calls * max(0.0, indexing), most + calls * max(0.0, instead)
        ):
            return False
        # Each ten documents need a call's own time, except those that a job takes.
        apart = min(max(free, self._short - jobs), most - jobs)
        return self._in_calls(jobs + apart) <= calls * max(0.0, called - (apart - free) / at_a_time)

    def _by_jobs(self, until: float, lanes: int) -> float:
        """Return the document seconds of this many parallel jobs, which list in turn."""
        gap = self._limits.between_starts
        seconds = sum(max(0.0, until - self._listed - gap * lane) for lane in range(lanes))
        return self._limits.at_a_time * seconds

    def _in_calls(self, by_jobs: float) -> float:
        """Return the seconds of calls for the rest, when jobs have taken the shortest documents."""
        overhead, count = self._limits.overhead, len(self._seconds)
        if not self._way.has_jobs:
            return self._sums[-1] + overhead * count
        taken = bisect_right(self._sums, by_jobs) - 1
        left = self._sums[-1] - self._sums[taken] + overhead * (count - taken)
        if taken == count:
            return 0.0
        part = (by_jobs - self._sums[taken]) / self._seconds[taken]
        return left - part * (self._seconds[taken] + overhead)


def _smallest(fits: Callable[[float], bool]) -> float:
    """Return the lowest value that fits, rounded down; every greater value fits, too."""
    high = 1.0
    while not fits(high):
        high *= 2
    low = 0.0
    while high - low > _EXACT:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return low
