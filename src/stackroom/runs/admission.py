"""
Grant runs the use of a knowledge base, in the order in which they ask for it.

Bedrock runs one ingestion job at a time in a knowledge base (in a MANAGED one, one more) and no
direct call beside it, five jobs and ten direct calls in an account, and starts a job every ten
seconds. So a run waits in a queue until it is granted a turn, claims the grant when it is woken,
and gives it back. A run that gives a grant back, or claims it too late, grants what is free.

First come, first served. Direct calls share a knowledge base, jobs hold it: once a run waits for
the others to leave, no later one gets in. Direct calls that several runs want are divided evenly.

Bedrock has the last word: if a grant is lost or issued twice, Bedrock refuses the call, and the run
waits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain

from stackroom.clock import REAL_TIME, Pace, utc_now
from stackroom.concurrency import RunParallel, among_writers, retried, run_in_threads
from stackroom.errors import is_systemic
from stackroom.runs.capacity import Limits
from stackroom.runs.ledger import (
    AdmissionBook,
    CompletedWork,
    Grant,
    Ledger,
    Mode,
    TaskTokens,
    Waiter,
    is_known,
    with_measured,
)

# A grant is renewed with every poll, at most `runs.run`'s longest wait apart; retries of one task
# take about five minutes.
GRANT = timedelta(minutes=15)
# A run that has not claimed its grant by then was woken in vain.
_UNCLAIMED = timedelta(minutes=2)
_TRIES = 12
# A grant for direct calls ends after so long if others wait.
LONGEST_WHILE_OTHERS_WAIT = timedelta(minutes=1)
_EVERYBODY = 100_000  # more than the catalogs that one account is made for


@dataclass
class Schedule:
    """
    The rules of admission, applied to the state of one moment. `ledger` is the result: without the
    grants that have become void, and with the new ones.
    """

    ledger: Ledger
    waiters: Sequence[Waiter]
    limits: Limits
    now: datetime
    leaving: frozenset[tuple[str, int]] = frozenset()  # runs, by catalog and epoch
    unwoken: list[Waiter] = field(default_factory=list)  # they have a grant and don't know it

    def __post_init__(self) -> None:
        newest = {each.worklist_id: each.epoch for each in self.waiters}
        live = tuple(
            grant
            for grant in self.ledger.grants
            if grant.until > self.now
            and (grant.worklist_id, grant.epoch) not in self.leaving
            # A newer run of the same catalog waits, so the run that had the grant has ended.
            and newest.get(grant.worklist_id, 0) <= grant.epoch
        )
        if live != self.ledger.grants:
            self.ledger = replace(self.ledger, grants=live)
        self.live = live  # before anything is granted here
        held = {(grant.worklist_id, grant.epoch) for grant in live}
        self.unwoken = [each for each in self.waiters if (each.worklist_id, each.epoch) in held]
        waiting = [each for each in self.waiters if (each.worklist_id, each.epoch) not in held]
        self._waiting = sorted(waiting, key=lambda each: each.since)

    @property
    def calls(self) -> list[Waiter]:
        return [each for each in self._waiting if each.mode is Mode.DIRECT]

    def grant(self) -> list[Waiter]:
        """Grant what is free, record it in the ledger, and return the waiters that got a grant."""
        granted = []
        closed = set[str]()  # knowledge bases, to all who came after one that waits
        for waiter in list(self._waiting):
            home = waiter.knowledge_base_id
            if home in closed or not self._may_start(waiter):
                continue
            if grant := self._grant_for(waiter):
                self._enter(grant)
                granted.append(waiter)
            else:
                closed.add(home)
        return granted

    def must_yield(self, grant: Grant, *, after: timedelta) -> bool:
        """Return True if a grant must be given up once its direct calls are done."""
        home = grant.knowledge_base_id
        first = next((each for each in self._waiting if each.knowledge_base_id == home), None)
        if first is not None and first.mode is Mode.JOB and self._may_start(first):
            return True
        return bool(self.calls) and self.now - grant.granted_at >= after

    def _grant_for(self, waiter: Waiter) -> Grant | None:
        home = waiter.knowledge_base_id
        here = [each for each in self.ledger.grants if each.knowledge_base_id == home]
        if any(each.mode is not waiter.mode for each in here):
            return None
        if waiter.mode is Mode.JOB:
            is_full = len(here) >= self.limits.jobs_in(home)
            return None if is_full else self._granted(waiter, start_at=self._next_start)
        share = self.limits.direct_calls
        if len(self.calls) > 1:  # it is not alone in waiting
            share = self.limits.share(len(self.ledger.direct) + len(self.calls))
        slots = min(waiter.calls, share, self.limits.free_calls(self.ledger))
        return self._granted(waiter, slots=slots) if slots > 0 else None

    def _may_start(self, waiter: Waiter) -> bool:
        """
        Return True unless the waiter wants a job and the account's limits don't allow one. One
        start is reserved ahead, so that a knowledge base is not emptied too early.
        """
        if waiter.mode is Mode.DIRECT:
            return True
        at_work = sum(each.mode is Mode.JOB for each in self.ledger.grants)
        gap = timedelta(seconds=self.limits.seconds_between_starts)
        return at_work < self.limits.jobs and self._next_start - self.now <= gap

    @property
    def _next_start(self) -> datetime:
        return max(self.now, self.ledger.next_start or self.now)

    def _granted(
        self, waiter: Waiter, *, slots: int = 1, start_at: datetime | None = None
    ) -> Grant:
        return Grant(
            worklist_id=waiter.worklist_id,
            epoch=waiter.epoch,
            knowledge_base_id=waiter.knowledge_base_id,
            mode=waiter.mode,
            slots=slots,
            granted_at=self.now,
            until=self.now + GRANT,
            start_at=start_at,
        )

    def _enter(self, grant: Grant) -> None:
        next_start = self.ledger.next_start
        if grant.start_at is not None:
            next_start = grant.start_at + timedelta(seconds=self.limits.seconds_between_starts)
        self._waiting = [each for each in self._waiting if each.worklist_id != grant.worklist_id]
        grants = (*self.ledger.grants, grant)
        self.ledger = replace(self.ledger, grants=grants, next_start=next_start)


@dataclass(frozen=True, kw_only=True)
class State:
    """The use of the account; `oldest_wait_seconds` is 0 if no run waits."""

    waiting: int
    grants: int
    oldest_wait_seconds: float


@dataclass(frozen=True, kw_only=True)
class Admission:
    """Grants over the ledger and the queues; `pool` is every knowledge base it serves."""

    book: AdmissionBook
    task_tokens: TaskTokens
    pool: Sequence[str]
    limits: Limits = field(default_factory=Limits)
    pace: Pace = REAL_TIME
    now: Callable[[], datetime] = utc_now
    pause: Callable[[int], None] = among_writers
    run_parallel: RunParallel = run_in_threads

    def enter(self, waiter: Waiter) -> None:
        """Queue up. Safe to repeat: the position stays, the token is replaced."""
        self.book.enqueue(waiter)
        self.dispatch()

    def enter_at_once(self, waiter: Waiter) -> Grant | None:
        """Return a grant if none waits and one is free; else None: the run must queue up."""

        def once() -> Grant | None:
            ledger = self.book.read()
            schedule = self._schedule(ledger, also=waiter)
            if waiter not in schedule.grant():
                return None
            mine = _grant_of(schedule.ledger, waiter.worklist_id, waiter.epoch)
            assert mine is not None, "it was granted just now"
            mine = replace(mine, claimed=True)
            others = (each for each in schedule.live if each.worklist_id != waiter.worklist_id)
            self.book.write(replace(ledger, grants=(*others, mine)))
            return mine

        return retried(once, tries=_TRIES, pause=self.pause)

    def claim(self, worklist_id: str, epoch: int) -> Grant | None:
        """Claim and return the run's grant; None if it has none or lost it."""
        return self._change_own(worklist_id, epoch, lambda mine, _: replace(mine, claimed=True))

    def acquire(self, waiter: Waiter) -> Grant | None:
        """
        Return the run's grant for direct calls, for as many as it could use: the one it has, or a
        new one if no run waits before it. Returns None if it must queue up or yield to others.
        """
        mine = self.grant_of(waiter.worklist_id, waiter.epoch)
        if mine is None or mine.until < self.now():
            return self.enter_at_once(waiter)
        return self.extend(mine, calls=waiter.calls)

    def keep(
        self,
        worklist_id: str,
        epoch: int,
        *,
        calls: int | None = None,
        completed: CompletedWork | None = None,
    ) -> None:
        """
        Renew the run's grant even if others wait, because it must finish what it began. If it says
        how many `calls` it can use, the others become free. `completed` work is recorded if nothing
        like it has been measured yet.
        """
        had: list[int] = []

        def fitted(mine: Grant, _: Ledger) -> Grant:
            had.append(mine.slots)
            return mine if calls is None else replace(mine, slots=min(mine.slots, max(1, calls)))

        mine = self._change_own(worklist_id, epoch, fitted, completed=completed)
        if mine is not None and mine.slots < had[-1]:
            self.dispatch()

    def share_of(self, worklist_id: str) -> int:
        """Return the direct calls for each run that uses some, including that worklist's run."""
        holders = self.book.read().direct
        others = sum(each.worklist_id != worklist_id for each in holders)
        return max(1, self.limits.direct_calls // (others + 1))

    def could_grow(self, worklist_id: str, epoch: int) -> bool:
        """Return True if direct calls are free that the run could use in addition."""
        ledger = self.book.read()
        if _grant_of(ledger, worklist_id, epoch) is None or self.limits.free_calls(ledger) <= 0:
            return False
        return not any(each.mode is Mode.DIRECT for each in self._waiting(limit=1))

    def extend(self, grant: Grant, *, calls: int) -> Grant | None:
        """
        Renew a grant for direct calls and return it; None if it is over.

        `calls` is how many the run could use at a time. It may get fewer than before if others
        wait, and more if none does.
        """
        schedule = self._schedule(self.book.read())
        if schedule.must_yield(grant, after=LONGEST_WHILE_OTHERS_WAIT):
            return None
        now = self._change_own(
            grant.worklist_id,
            grant.epoch,
            lambda mine, ledger: replace(
                mine, slots=self._slots(mine, ledger, calls, len(schedule.calls)), claimed=True
            ),
        )
        if now is not None and now.slots < grant.slots and schedule.calls:
            self.dispatch()
        return now

    def leave(
        self, worklist_id: str, epoch: int, *, completed: CompletedWork | None = None
    ) -> None:
        """
        Give the run's grant back, if it has one, grant what is free, and record how long its work
        took. Safe to repeat.
        """
        if self.grant_of(worklist_id, epoch) is not None:
            self.dispatch(leaving=frozenset({(worklist_id, epoch)}), finished=completed)

    def dispatch(
        self,
        *,
        leaving: frozenset[tuple[str, int]] = frozenset(),
        finished: CompletedWork | None = None,
    ) -> None:
        """
        Grant what is free and wake the runs that get it. What `leaving` runs, by worklist and
        epoch, give back is free, too. `finished` is the work that one of them has done.

        The grant is written into the ledger before the run is woken, and the run claims it there:
        this may crash between any two steps, and the next call goes on.
        """
        dead = leaving
        while True:
            granted, unwoken = self._grant(dead, finished)
            finished = None
            woken = [(each, self._wake(each, fresh=True)) for each in granted]
            woken += [(each, self._wake(each, fresh=False)) for each in unwoken]
            dead = frozenset((each.worklist_id, each.epoch) for each, alive in woken if not alive)
            if not dead:
                return

    def grant_of(self, worklist_id: str, epoch: int) -> Grant | None:
        """Return the run's grant, if it has one."""
        return _grant_of(self.book.read(), worklist_id, epoch)

    def state(self) -> State:
        """Return the state for operators; reads the whole queue."""
        waiters = self._waiting(limit=_EVERYBODY)
        now = self.now()
        oldest = min((waiter.since for waiter in waiters), default=now)
        return State(
            waiting=len(waiters),
            grants=len(self.book.read().grants),
            oldest_wait_seconds=max(0.0, (now - oldest).total_seconds()),
        )

    def _schedule(
        self,
        ledger: Ledger,
        *,
        leaving: frozenset[tuple[str, int]] = frozenset(),
        also: Waiter | None = None,
    ) -> Schedule:
        """Return the schedule of that ledger and the queues; `also` is one more waiter."""
        at_most = max(self.limits.direct_calls, self.limits.jobs) + 1
        return Schedule(
            ledger=ledger,
            waiters=[*self._waiting(limit=at_most), *([also] if also else [])],
            limits=self.limits,
            now=self.now(),
            leaving=leaving,
        )

    def _waiting(self, *, limit: int) -> list[Waiter]:
        """Return at most `limit` waiters of each queue."""
        queues = [
            partial(self.book.waiting, knowledge_base_id, mode, limit=limit)
            for knowledge_base_id in self.pool
            for mode in Mode
        ]
        return list(chain.from_iterable(self.run_parallel(queues)))

    def _grant(
        self, leaving: frozenset[tuple[str, int]], finished: CompletedWork | None
    ) -> tuple[list[Waiter], list[Waiter]]:
        """Return the waiters that have just got a grant, and those that may not know of theirs."""

        def once() -> tuple[list[Waiter], list[Waiter]]:
            before = self.book.read()
            ledger = before if finished is None else self._with_measured(before, finished)
            schedule = self._schedule(ledger, leaving=leaving)
            granted = schedule.grant()
            if schedule.ledger != before:
                self.book.write(schedule.ledger)
            return granted, schedule.unwoken

        return retried(once, tries=_TRIES, pause=self.pause)

    def _wake(self, waiter: Waiter, *, fresh: bool) -> bool:
        """
        Return False if the grant fell to a run that no longer exists, so that another gets it, or
        to one that no call can wake, for which those behind it must not wait.
        """
        try:
            woken = self.task_tokens.wake(waiter.token)
        except Exception as error:
            if is_systemic(error):
                raise
            woken = False
        if woken:
            self.book.dequeue(waiter)
            return True
        # Nobody waits with that token. A retry may have brought a new one in the meantime; or an
        # earlier dispatch woke the run and died before it could say so.
        if not self.book.dequeue(waiter):
            return True  # the next dispatch, or the sweep, wakes that one
        mine = self.grant_of(waiter.worklist_id, waiter.epoch)
        if mine is None or mine.claimed:
            return True
        return not fresh and self.now() - mine.granted_at < _UNCLAIMED

    def _slots(self, mine: Grant, ledger: Ledger, calls: int, waiting: int) -> int:
        share = self.limits.direct_calls
        if waiting:
            share = self.limits.share(len(ledger.direct) + waiting)
        return max(1, min(calls, share, mine.slots + self.limits.free_calls(ledger)))

    def _with_measured(self, ledger: Ledger, completed: CompletedWork) -> Ledger:
        return replace(ledger, rates=with_measured(ledger.rates, completed, self.pace))

    def _change_own(
        self,
        worklist_id: str,
        epoch: int,
        changed: Callable[[Grant, Ledger], Grant],
        *,
        completed: CompletedWork | None = None,
    ) -> Grant | None:
        def once() -> Grant | None:
            ledger = self.book.read()
            mine = _grant_of(ledger, worklist_id, epoch)
            now = self.now()
            if mine is None or mine.until < now:
                return None
            new, is_news = changed(mine, ledger), _is_news(completed, ledger)
            if new == mine and mine.until - now > GRANT / 2 and not is_news:
                return mine
            if completed is not None and is_news:
                ledger = self._with_measured(ledger, completed)
            new = replace(new, until=now + GRANT)
            others = tuple(each for each in ledger.grants if each is not mine)
            self.book.write(replace(ledger, grants=(*others, new)))
            return new

        return retried(once, tries=_TRIES, pause=self.pause)


def _is_news(completed: CompletedWork | None, ledger: Ledger) -> bool:
    return completed is not None and not is_known(ledger.rates, completed.mode, completed.size)


def _grant_of(ledger: Ledger, worklist_id: str, epoch: int) -> Grant | None:
    mine = (worklist_id, epoch)
    return next((each for each in ledger.grants if (each.worklist_id, each.epoch) == mine), None)
