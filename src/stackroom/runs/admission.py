"""
Who may use a knowledge base, and who is next.

Bedrock runs one ingestion job at a time in a knowledge base (in a MANAGED one more) and no direct
call beside it, five jobs and ten direct calls in an account, and starts a job every ten seconds. So
a run waits in a queue until a grant falls to it, claims it when it is woken, and gives it back;
whoever gives one back, or comes too late for one, hands out what is free.

First come, first served. A knowledge base is shared by direct calls or held by jobs: whoever waits
for the others to leave it lets nobody in who came later. Direct calls that several runs want are
divided evenly among them.

Nothing here decides what Bedrock allows: a grant that was lost, or given twice, meets Bedrock's own
refusal, which is waited out.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain

from stackroom.clock import REAL_TIME, Pace, utc_now
from stackroom.concurrency import RunParallel, among_writers, retried, run_in_threads
from stackroom.errors import is_systemic
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


@dataclass(frozen=True, kw_only=True)
class Limits:
    """
    Of the account [AWS General Reference: Amazon Bedrock quotas, none adjustable]: ingestion jobs
    at a time, direct calls (Ingest- and DeleteKnowledgeBaseDocuments) at a time, and seconds
    between two StartIngestionJob (0.1 a second). Of the knowledge bases named in `jobs_in_one`:
    jobs at a time there; any other runs one.
    """

    jobs: int = 5
    direct_calls: int = 10
    seconds_between_starts: float = 10.0
    jobs_in_one: Mapping[str, int] = field(default_factory=dict)

    def jobs_in(self, knowledge_base_id: str) -> int:
        return self.jobs_in_one.get(knowledge_base_id, 1)

    def free_calls(self, ledger: Ledger) -> int:
        return self.direct_calls - sum(each.slots for each in ledger.direct)

    def share(self, runs: int) -> int:
        """Direct calls for each of so many runs; rounded up, for they don't all use theirs."""
        return math.ceil(self.direct_calls / max(1, runs))


@dataclass
class Schedule:
    """
    The rules of admission, worked out on what is known at one moment. `ledger` is what it becomes:
    as it was, without what is void, and then with new grants.
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
            # A newer run of the same catalog waits: the one that had the grant is no more.
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
        """Who is granted the use of a knowledge base now; the ledger then says so."""
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
        """Whether a grant for direct calls is to be given up, its calls at work once done."""
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
        Whether the account's limits let it begin if it is a job. One start is reserved ahead, so
        that a knowledge base is not emptied too early.
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
    """How busy the account is; `oldest_wait_seconds` is 0 if nobody waits."""

    waiting: int
    grants: int
    oldest_wait_seconds: float


@dataclass(frozen=True, kw_only=True)
class Admission:
    """`pool` is every knowledge base whose queue may be served."""

    book: AdmissionBook
    task_tokens: TaskTokens
    pool: Sequence[str]
    limits: Limits = field(default_factory=Limits)
    pace: Pace = REAL_TIME
    now: Callable[[], datetime] = utc_now
    pause: Callable[[int], None] = among_writers
    beside: RunParallel = run_in_threads

    def enter(self, waiter: Waiter) -> None:
        """Queue up. Safe to repeat: the position is kept, the token replaced."""
        self.book.enqueue(waiter)
        self.dispatch()

    def enter_at_once(self, waiter: Waiter) -> Grant | None:
        """A grant in its hands, if none is before it and one is free; else None, queue up then."""

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
        """The run's grant, from now on in its hands; None if it has none (any more)."""
        return self._change_own(worklist_id, epoch, lambda mine, _: replace(mine, claimed=True))

    def acquire(self, waiter: Waiter) -> Grant | None:
        """
        The run's grant for direct calls, for as many as it could use now: kept, or given at once
        if none is before it. None if it must queue up, or is to let others come first.
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
        did: CompletedWork | None = None,
    ) -> None:
        """
        The run's grant for some time yet, whoever waits: what it has begun must be finished. Of
        direct calls those go to others that it can't use, if it says how many it can. `did` is
        remembered if nothing like it has been measured yet.
        """
        had: list[int] = []

        def fitted(mine: Grant, _: Ledger) -> Grant:
            had.append(mine.slots)
            return mine if calls is None else replace(mine, slots=min(mine.slots, max(1, calls)))

        mine = self._change_own(worklist_id, epoch, fitted, did=did)
        if mine is not None and mine.slots < had[-1]:
            self.dispatch()

    def share_of(self, worklist_id: str) -> int:
        """Direct calls for each of those that use some, that worklist's run among them."""
        holders = self.book.read().direct
        others = sum(each.worklist_id != worklist_id for each in holders)
        return max(1, self.limits.direct_calls // (others + 1))

    def could_grow(self, worklist_id: str, epoch: int) -> bool:
        """Whether direct calls are free that the run could have beside its own."""
        ledger = self.book.read()
        if _grant_of(ledger, worklist_id, epoch) is None or self.limits.free_calls(ledger) <= 0:
            return False
        return not any(each.mode is Mode.DIRECT for each in self._waiting(limit=1))

    def extend(self, grant: Grant, *, calls: int) -> Grant | None:
        """
        A grant for direct calls for some time yet; None if it is over.

        `calls` is how many direct calls the run could use at a time. It may get fewer than before
        if others wait, and more if nobody does.
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

    def leave(self, worklist_id: str, epoch: int, *, did: CompletedWork | None = None) -> None:
        """
        Give the grant back, if the run has one, hand it on, and remember how long its work took.
        Safe to repeat.
        """
        if self.grant_of(worklist_id, epoch) is not None:
            self.dispatch(leaving=frozenset({(worklist_id, epoch)}), finished=did)

    def dispatch(
        self,
        *,
        leaving: frozenset[tuple[str, int]] = frozenset(),
        finished: CompletedWork | None = None,
    ) -> None:
        """
        Hand out what is free, and wake whom it falls to. What `leaving` runs, by worklist and
        epoch, give back is free, too. `finished` is what one of them has done.

        The grant is written into the ledger before the run is woken, and the run claims it there:
        whoever hands out may die between any two steps, and the next to hand out goes on.
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
        """The run's, if it has one."""
        return _grant_of(self.book.read(), worklist_id, epoch)

    def state(self) -> State:
        """For people to watch; reads the whole queue."""
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
        """As it stands with that ledger; reads who waits. `also` is one more who would."""
        at_most = max(self.limits.direct_calls, self.limits.jobs) + 1
        return Schedule(
            ledger=ledger,
            waiters=[*self._waiting(limit=at_most), *([also] if also else [])],
            limits=self.limits,
            now=self.now(),
            leaving=leaving,
        )

    def _waiting(self, *, limit: int) -> list[Waiter]:
        """At most so many of each queue."""
        queues = [
            partial(self.book.waiting, knowledge_base_id, mode, limit=limit)
            for knowledge_base_id in self.pool
            for mode in Mode
        ]
        return list(chain.from_iterable(self.beside(queues)))

    def _grant(
        self, leaving: frozenset[tuple[str, int]], finished: CompletedWork | None
    ) -> tuple[list[Waiter], list[Waiter]]:
        """Who has got a grant just now, and who has one and may not know it."""

        def once() -> tuple[list[Waiter], list[Waiter]]:
            before = self.book.read()
            ledger = before if finished is None else with_measured(before, finished, self.pace)
            schedule = self._schedule(ledger, leaving=leaving)
            granted = schedule.grant()
            if schedule.ledger != before:
                self.book.write(schedule.ledger)
            return granted, schedule.unwoken

        return retried(once, tries=_TRIES, pause=self.pause)

    def _wake(self, waiter: Waiter, *, fresh: bool) -> bool:
        """
        False if the grant fell to a run that no longer is, and goes to another; or to one that no
        call can wake, for those behind it must not wait for it.
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

    def _change_own(
        self,
        worklist_id: str,
        epoch: int,
        changed: Callable[[Grant, Ledger], Grant],
        *,
        did: CompletedWork | None = None,
    ) -> Grant | None:
        def once() -> Grant | None:
            ledger = self.book.read()
            mine = _grant_of(ledger, worklist_id, epoch)
            now = self.now()
            if mine is None or mine.until < now:
                return None
            new, is_news = changed(mine, ledger), _is_news(did, ledger)
            if new == mine and mine.until - now > GRANT / 2 and not is_news:
                return mine
            if did is not None and is_news:
                ledger = with_measured(ledger, did, self.pace)
            new = replace(new, until=now + GRANT)
            others = tuple(each for each in ledger.grants if each is not mine)
            self.book.write(replace(ledger, grants=(*others, new)))
            return new

        return retried(once, tries=_TRIES, pause=self.pause)


def _is_news(did: CompletedWork | None, ledger: Ledger) -> bool:
    return did is not None and not is_known(ledger, did.mode, did.size)


def _grant_of(ledger: Ledger, worklist_id: str, epoch: int) -> Grant | None:
    mine = (worklist_id, epoch)
    return next((each for each in ledger.grants if (each.worklist_id, each.epoch) == mine), None)
