"""
About how long work takes, and how long until its turn comes: by what finished work has taken here.

Of what nothing like it has been measured, nothing is said; nor of what takes longer than it should.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from stackroom.admission.schedule import Limits
from stackroom.admission.workload import base_of, expected
from stackroom.clock import Pace
from stackroom.ports.admission import Grant, Ledger, Mode, Rate, Waiter


@dataclass(frozen=True, kw_only=True)
class Durations:
    """In seconds by our clock; None where it is not known. `size` is in bytes of text."""

    ledger: Ledger
    limits: Limits
    pace: Pace
    at: datetime

    def of(self, mode: Mode, size: int) -> float | None:
        rate = self.ledger.rates.get(mode, Rate())
        return expected(rate, size, base=base_of(mode, self.pace))

    def left(self, mode: Mode, size: int, *, since: datetime) -> float | None:
        """Of work that began then; None, too, if it takes longer than expected."""
        whole = self.of(mode, size)
        if whole is None:
            return None
        left = whole - (self.at - since).total_seconds()
        return left if left > 0 else None

    def is_late(self, mode: Mode, size: int, *, since: datetime) -> bool:
        return self.of(mode, size) is not None and self.left(mode, size, since=since) is None

    def until_turn(self, mode: Mode, home: str, ahead: Iterable[Waiter]) -> float | None:
        """Of a run that waits for that knowledge base; `ahead` are those before it there."""
        here = [each for each in self.ledger.grants if each.knowledge_base_id == home]
        waiters = list(ahead)
        # Where a job is among them, calls at work end first.
        modes = {mode, *(each.mode for each in waiters)}
        in_the_way = [each for each in here if Mode.JOB in (*modes, each.mode)]
        if modes == {Mode.JOB} and self._takes_another_job(home, here):
            in_the_way = [each for each in here if each.mode is Mode.DIRECT]
        if Mode.JOB not in modes:
            in_the_way += self._that_take_all_calls()
        held_up = longest(self._left_of(each) for each in in_the_way)
        return total([held_up, *(self._beside(each) for each in waiters)])

    def _takes_another_job(self, home: str, here: Sequence[Grant]) -> bool:
        jobs = sum(each.mode is Mode.JOB for each in here)
        return jobs < self.limits.jobs_in(home)

    def _that_take_all_calls(self) -> list[Grant]:
        holders = [each for each in self.ledger.grants if each.mode is Mode.DIRECT]
        if sum(each.slots for each in holders) < self.limits.direct_calls:
            return []
        return [min(holders, key=lambda each: each.granted_at)]

    def _left_of(self, grant: Grant) -> float | None:
        return self.left(grant.mode, grant.size, since=grant.start_at or grant.granted_at)

    def _beside(self, waiter: Waiter) -> float | None:
        """
        Of small direct calls, as many as the account has are at work beside each other, and of jobs
        as many as the knowledge base runs, begun one after another.
        """
        whole, least = self.of(waiter.mode, waiter.size), self.of(waiter.mode, 0)
        beside = self.limits.jobs_in(waiter.knowledge_base_id)
        if whole is not None and waiter.mode is Mode.JOB and beside > 1:
            at_a_time = min(beside, self.limits.jobs)
            return max(whole / at_a_time, self.limits.seconds_between_starts)
        if whole is None or least is None or waiter.mode is Mode.JOB:
            return whole
        return whole - least + least * waiter.calls / self.limits.direct_calls


def total(seconds: Iterable[float | None]) -> float | None:
    """None if any of them is not known."""
    known = _known(seconds)
    return None if known is None else sum(known)


def longest(seconds: Iterable[float | None]) -> float | None:
    """None if any of them is not known; 0 if there are none."""
    known = _known(seconds)
    return None if known is None else max(known, default=0.0)


def _known(seconds: Iterable[float | None]) -> list[float] | None:
    given = list(seconds)
    known = [each for each in given if each is not None]
    return known if len(known) == len(given) else None
