"""
How soon a job, or direct calls, would have done some work, as busy as the account is now: pure.

The two estimates are for comparison with each other, never told to anybody. A job works through its
documents one after another; direct calls have ten each and several go on at a time, so that they
are sooner wherever they get through. Whoever asks is taken to come last.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from stackroom.admission.demand import BATCH, is_large, is_to_ingest, text_size
from stackroom.admission.limits import Limits, fair_share
from stackroom.admission.rates import SMALL, base_of
from stackroom.clock import Pace
from stackroom.model import Document
from stackroom.ports.admission import Grant, Ledger, Mode, Rate, Waiter

# Seconds on AWS for a byte of text, one document after another, until a job has been measured: what
# a document of 50 KB takes where indexing takes half a second and one for every 200 KB
# (docs/scaling.md), for nobody documents it.
_ASSUMED = 0.75 / 50_000


@dataclass(frozen=True, kw_only=True)
class Work:
    """
    `calls` are direct calls of small documents and removals. Sizes are in bytes of text, where a
    document counts for no less than what makes a difference.
    """

    calls: int = 0
    size: int = 0
    large: int = 0  # documents that have a call each, one of them at a time
    large_size: int = 0

    @classmethod
    def of(cls, documents: Iterable[Document]) -> "Work":
        """All that is open."""
        found = list(documents)
        large = [each for each in found if is_large(each)]
        small = [each for each in found if is_to_ingest(each) and not is_large(each)]
        removals = len(found) - len(large) - len(small)
        return cls(
            calls=math.ceil(removals / BATCH) + math.ceil(len(small) / BATCH),
            size=sum(max(SMALL, text_size(each)) for each in small),
            large=len(large),
            large_size=sum(map(text_size, large)),
        )


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """
    Seconds by our clock. `waiters` are those of the whole account, without whoever asks.
    """

    ledger: Ledger
    waiters: Sequence[Waiter]
    limits: Limits
    pace: Pace
    at: datetime

    def until_done_directly(self, home: str, work: Work) -> float:
        """`home` is the knowledge base."""
        slots = self._slots(work.calls)
        small = (
            math.ceil(work.calls / slots) * self._base(Mode.SHARED) + self._text(work.size) / slots
        )
        large = work.large * self._base(Mode.SHARED) + self._text(work.large_size)
        return max(self._until_a_call(), self._until_jobs_end(home)) + small + large

    def until_done_by_job(self, home: str, work: Work) -> float:
        return self._until_a_job(home) + self.of_job(work)

    def of_job(self, work: Work) -> float:
        """From its start."""
        return self._base(Mode.EXCLUSIVE) + self._text(work.size + work.large_size)

    def calls_kept_out(self, home: str) -> int:
        """Direct calls that a job of the knowledge base would hold up: of tens of documents."""
        at_work = sum(each.slots for each in self._grants(Mode.SHARED, home))
        return at_work + sum(each.calls for each in self._waiters(Mode.SHARED, home))

    def _until_a_call(self) -> float:
        """What is at work and what waits in the account, shared out among its calls."""
        grants, waiters = self._grants(Mode.SHARED), self._waiters(Mode.SHARED)
        if not waiters and sum(each.slots for each in grants) < self.limits.direct_calls:
            return 0.0
        left = sum(self._left(each) * each.slots for each in grants)
        waiting = sum(
            each.calls * self._base(each.mode) + self._text(each.size) for each in waiters
        )
        return (left + waiting) / self.limits.direct_calls

    def _until_jobs_end(self, home: str) -> float:
        """Those at work there, and those that wait there: direct calls come after them."""
        at_work = max(map(self._left, self._grants(Mode.EXCLUSIVE, home)), default=0.0)
        return at_work + self._of_waiting_jobs(home)

    def _until_a_job(self, home: str) -> float:
        jobs_here = self._grants(Mode.EXCLUSIVE, home)
        waits = [max(map(self._left, self._grants(Mode.SHARED, home)), default=0.0)]
        for running, limit in (
            (jobs_here, self.limits.jobs_in(home)),
            (self._grants(Mode.EXCLUSIVE), self.limits.jobs),
        ):
            waits.append(min(map(self._left, running)) if len(running) >= limit else 0.0)
        if self.ledger.next_start is not None:
            waits.append((self.ledger.next_start - self.at).total_seconds())
        starts = len(self._waiters(Mode.EXCLUSIVE)) * self.limits.seconds_between_starts
        return max(waits) + max(starts, self._of_waiting_jobs(home))

    def _of_waiting_jobs(self, home: str) -> float:
        beside = min(self.limits.jobs_in(home), self.limits.jobs)
        jobs = self._waiters(Mode.EXCLUSIVE, home)
        return sum(self._base(each.mode) + self._text(each.size) for each in jobs) / beside

    def _slots(self, calls: int) -> int:
        runs = len(self._grants(Mode.SHARED)) + len(self._waiters(Mode.SHARED)) + 1
        return max(1, min(calls, fair_share(self.limits.direct_calls, runs)))

    def _left(self, grant: Grant) -> float:
        since = grant.start_at or grant.granted_at
        whole = self._base(grant.mode) + self._text(grant.size) / grant.slots
        return max(0.0, whole - (self.at - since).total_seconds())

    def _base(self, mode: Mode) -> float:
        measured = self.ledger.rates.get(mode, Rate()).base_ms
        return base_of(mode, self.pace) if measured is None else measured / 1000

    def _text(self, size: int) -> float:
        """Of one document after another, as jobs have shown it."""
        rate = self.ledger.rates.get(Mode.EXCLUSIVE, Rate())
        if rate.size:
            return size * rate.beyond_ms / 1000 / rate.size
        return self.pace.here(size * _ASSUMED)

    def _grants(self, mode: Mode, home: str | None = None) -> list[Grant]:
        return [
            each
            for each in self.ledger.grants
            if each.mode is mode and home in (None, each.knowledge_base_id)
        ]

    def _waiters(self, mode: Mode, home: str | None = None) -> list[Waiter]:
        return [
            each
            for each in self.waiters
            if each.mode is mode and home in (None, each.knowledge_base_id)
        ]
