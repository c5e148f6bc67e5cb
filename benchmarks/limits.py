"""
The least time in which Bedrock's limits let work be settled, whichever way.

Any document may go by an ingestion job or by a direct call, on any knowledge base, and shares them
with whichever others. Whoever schedules it knows all durations and all that is still to come, and
wastes nothing; it begins nothing before the first document is there. docs/scaling.md derives it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from benchmarks.simulated_time.account import CALL, EVENT_DELAY
from benchmarks.simulated_time.functions import OVERHEAD
from benchmarks.simulated_time.walk import TRANSITION
from stackroom_local.simulator.rules import (
    DIRECT_CONCURRENCY,
    DIRECT_DURATION,
    JOB_STARTING,
    JOBS_PER_ACCOUNT,
    RATES,
)

# Until Bedrock can have been told of an upload: the fastest event, one state or one warm function,
# one call.
LEAST_LATENCY = EVENT_DELAY[0] + min(OVERHEAD, TRANSITION) + CALL
_MOMENTS = 24  # of arrivals, from each of which on the work that is left is looked at
_EXACT = 1e-3  # seconds


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """A document to index or, in no `seconds`, to remove; `at` is when it arrives."""

    at: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Of an account with VECTOR knowledge bases; times are seconds."""

    calls: int = DIRECT_CONCURRENCY.limit
    per_call: int = 10  # documents [API model bedrock-agent: KnowledgeBaseDocuments]
    call: float = DIRECT_DURATION.value
    jobs: int = JOBS_PER_ACCOUNT.limit
    starting: float = JOB_STARTING.value
    between_starts: float = 1 / RATES["StartIngestionJob"]

    @property
    def overhead(self) -> float:
        """What a document's share of a direct call adds to its own time, in a full one."""
        return self.call / self.per_call


LIMITS = Limits()


def bound(
    works: Iterable[Work],
    *,
    pool_size: int,
    latency: float = 0.0,
    by_jobs: bool = True,
    limits: Limits = LIMITS,
) -> float:
    """
    Seconds from the first arrival until the last can be settled.

    `latency` passes between an arrival and Bedrock's being told of it. Without `by_jobs`, of direct
    calls alone.
    """
    ordered = sorted(works, key=lambda each: each.at)
    case = _Case(ordered, latency, limits)
    return min(case.least(way) for way in _ways(pool_size, limits, by_jobs=by_jobs))


def alone(work: Work, limits: Limits = LIMITS) -> float:
    """Seconds for a document by a direct call, which nothing else is in the way of."""
    return limits.call + work.seconds


@dataclass(frozen=True, kw_only=True)
class _Way:
    """
    `lanes` of jobs may be at work beside direct calls, and where that leaves no knowledge base to
    those, one more instead of them (`apart`); `lost` is what direct calls lose to that at least.
    """

    lanes: int
    apart: bool = False
    lost: float = 0.0

    @property
    def has_jobs(self) -> bool:
        return self.apart or self.lanes > 0


def _ways(pool_size: int, limits: Limits, *, by_jobs: bool) -> Sequence[_Way]:
    """The least over these is the least of all: a knowledge base has either at a moment."""
    if not by_jobs:
        return [_Way(lanes=0)]
    if pool_size > limits.jobs:
        return [_Way(lanes=limits.jobs)]
    if pool_size > 1:
        return [_Way(lanes=pool_size - 1, apart=True)]
    return [_Way(lanes=0), _Way(lanes=0, apart=True, lost=limits.starting)]


class _Case:
    def __init__(self, ordered: Sequence[Work], latency: float, limits: Limits) -> None:
        self._ordered = ordered
        self._first = ordered[0].at
        self._latency = latency
        self._limits = limits

    def least(self, way: _Way) -> float:
        longest = max(map(self._alone if way.has_jobs else self._alone_in_a_call, self._ordered))
        step = max(1, len(self._ordered) // _MOMENTS)
        left = (self._left(start, way) for start in range(0, len(self._ordered), step))
        return max(longest, *left)

    def _listed(self, at: float) -> float:
        """Seconds from that moment until a job can have listed what is there then."""
        return max(0.0, self._first + self._latency + self._limits.starting - at)

    def _alone(self, work: Work) -> float:
        """A job that was started for others may list a document at the moment it arrives."""
        told = self._latency + self._limits.call
        return work.at - self._first + min(told, self._listed(work.at)) + work.seconds

    def _alone_in_a_call(self, work: Work) -> float:
        return work.at - self._first + self._latency + self._limits.call + work.seconds

    def _left(self, start: int, way: _Way) -> float:
        """Until all can be settled that arrives from that one on."""
        at = self._ordered[start].at
        window = _Window(
            seconds=sorted(each.seconds for each in self._ordered[start:]),
            way=way,
            listed=self._listed(at),
            called=self._latency + (way.lost if start == 0 else 0.0),
            limits=self._limits,
        )
        return at - self._first + _smallest(window.fits)


class _Window:
    """Documents of so many seconds each, the shortest first, none of which was there before."""

    def __init__(
        self, *, seconds: Sequence[float], way: _Way, listed: float, called: float, limits: Limits
    ) -> None:
        self._seconds = seconds
        self._sums = [0.0, *accumulate(seconds)]  # of the first none, one, two ...
        self._way = way
        self._listed = listed
        self._called = called
        self._limits = limits
        # A job's second instead of all calls' pays for documents that are shorter than this.
        short = limits.overhead / (limits.calls - 1)
        self._short = self._sums[bisect_left(seconds, short)]

    def fits(self, until: float) -> bool:
        """Whether it can all be settled in so many seconds, as far as these sums tell."""
        calls, lanes = self._limits.calls, self._way.lanes
        jobs, most = self._by_jobs(until, lanes), self._by_jobs(until, lanes + self._way.apart)
        called = max(0.0, until - self._called)
        # No call indexes anything in its first seconds.
        indexing = jobs + calls * max(0.0, called - self._limits.call)
        if self._sums[-1] > max(indexing, most):
            return False
        # Every ten documents take a call's own time; what a job takes up takes none of it.
        apart = min(max(0.0, self._short - jobs), most - jobs)
        return self._in_calls(jobs + apart) <= calls * max(0.0, called - apart)

    def _by_jobs(self, until: float, lanes: int) -> float:
        """Seconds of indexing by that many jobs at a time, which begin to list one by one."""
        gap = self._limits.between_starts
        return sum(max(0.0, until - self._listed - gap * lane) for lane in range(lanes))

    def _in_calls(self, by_jobs: float) -> float:
        """Seconds of calls for what is left when jobs have taken the shortest one by one."""
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
    """Of what fits, rounded down: whatever is longer fits, too."""
    high = 1.0
    while not fits(high):
        high *= 2
    low = 0.0
    while high - low > _EXACT:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return low
