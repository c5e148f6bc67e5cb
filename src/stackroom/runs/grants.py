"""
Who may use a knowledge base.

Bedrock runs one ingestion job at a time in a knowledge base (in a MANAGED one more) and no direct
call beside it, five jobs and ten direct calls in an account, and starts a job every ten seconds. So
a run waits in a queue until a grant falls to it, claims it when it is woken, and gives it back;
whoever gives one back, or comes too late for one, hands out what is free.

Nothing here decides what Bedrock allows: a grant that was lost, or given twice, meets Bedrock's own
refusal, which is waited out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain

from stackroom.clock import REAL_TIME, Pace, utc_now
from stackroom.concurrency import Beside, among_writers, in_threads, retried
from stackroom.errors import is_everybodys
from stackroom.runs.ledger import AdmissionBook, Grant, Ledger, Mode, TaskTokens, Waiter
from stackroom.runs.schedule import GRANT, PATIENCE, Limits, Schedule, fair_share
from stackroom.runs.workload import Did, is_known, with_measured

# A run that has not claimed its grant by then was woken in vain.
_UNCLAIMED = timedelta(minutes=2)
_TRIES = 12
# A grant for direct calls ends after so long if others wait.
LONGEST_WHILE_OTHERS_WAIT = timedelta(minutes=1)
_EVERYBODY = 100_000  # more than the catalogs that one account is made for


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
    beside: Beside = in_threads

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
            mine = schedule.ledger.grant_of(waiter.worklist_id, waiter.epoch)
            assert mine is not None, "it was granted just now"
            mine = replace(mine, claimed=True)
            others = (each for each in schedule.live if each.worklist_id != waiter.worklist_id)
            phases = dict(ledger.phases)
            phases.pop(waiter.knowledge_base_id, None)
            self.book.write(replace(ledger, grants=(*others, mine), phases=phases))
            return mine

        return retried(once, tries=_TRIES, pause=self.pause)

    def begin_large(self, grant: Grant, *, since: datetime) -> Grant | None:
        """
        The grant, as of one that is at a large document; None if a job comes before. `since` is how
        long the document has waited.
        """
        schedule = self._schedule(self.book.read())
        if schedule.is_before_large(grant.knowledge_base_id, since + PATIENCE):
            return None
        return self._change_own(
            grant.worklist_id, grant.epoch, lambda mine, _: replace(mine, is_large=True)
        )

    def end_large(self, worklist_id: str, epoch: int) -> None:
        """Its large documents are done."""
        self._change_own(worklist_id, epoch, lambda mine, _: replace(mine, is_large=False))

    def claim(self, worklist_id: str, epoch: int, *, calls: int = 1) -> Grant | None:
        """
        The run's grant, from now on in its hands; None if it has none (any more).

        `calls` is how many direct calls it could use at a time; what it can't use goes to others.
        """
        return self._fitted(worklist_id, epoch, calls, claims=True)

    def acquire(self, waiter: Waiter) -> Grant | None:
        """
        The run's grant for direct calls, for as many as it could use now: kept, or given at once
        if none is before it. None if it must queue up, or is to let others come first.
        """
        mine = self.grant_of(waiter.worklist_id, waiter.epoch)
        if mine is None or mine.until < self.now():
            return self.enter_at_once(waiter)
        if not mine.claimed:
            return self.claim(waiter.worklist_id, waiter.epoch, calls=waiter.calls)
        return self.extend(mine, calls=waiter.calls)

    def keep(self, worklist_id: str, epoch: int, *, calls: int | None = None) -> None:
        """
        The run's grant for some time yet, whoever waits: what it has begun must be finished. Of
        direct calls those go to others that it can't use, if it says how many it can.
        """
        self._fitted(worklist_id, epoch, calls)

    def share_of(self, worklist_id: str) -> int:
        """Direct calls for each of those that use some, that worklist's run among them."""
        holders = self.book.read().direct
        others = sum(each.worklist_id != worklist_id for each in holders)
        return max(1, self.limits.direct_calls // (others + 1))

    def could_grow(self, worklist_id: str, epoch: int) -> bool:
        """Whether direct calls are free that the run could have beside its own."""
        ledger = self.book.read()
        if ledger.grant_of(worklist_id, epoch) is None or self.limits.free_calls(ledger) <= 0:
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
                mine, slots=self._slots(mine, ledger, calls, len(schedule.calls))
            ),
        )
        if now is not None and now.slots < grant.slots and schedule.calls:
            self.dispatch()
        return now

    def leave(self, worklist_id: str, epoch: int, *, did: Did | None = None) -> None:
        """
        Give the grant back, if the run has one, hand it on, and remember how long its work took.
        Safe to repeat.
        """
        if self.grant_of(worklist_id, epoch) is not None:
            self.dispatch(leaving=frozenset({(worklist_id, epoch)}), finished=did)

    def remember(self, did: Did, *, if_new: bool = False) -> None:
        """Remember how long work took whose run goes on; `if_new`, only if nothing like it is."""

        def once() -> None:
            ledger = self.book.read()
            if not if_new or not is_known(ledger, did.mode, did.size):
                self.book.write(with_measured(ledger, did, self.pace))

        retried(once, tries=_TRIES, pause=self.pause)

    def dispatch(
        self, *, leaving: frozenset[tuple[str, int]] = frozenset(), finished: Did | None = None
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
        return self.book.read().grant_of(worklist_id, epoch)

    def is_wanted(self, worklist_id: str, epoch: int) -> bool:
        """Whether anybody waits for the knowledge base that the run has."""
        mine = self.grant_of(worklist_id, epoch)
        if mine is None:
            return False
        return any(self.book.waiting(mine.knowledge_base_id, mode, limit=1) for mode in Mode)

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
        self, leaving: frozenset[tuple[str, int]], finished: Did | None
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
            if is_everybodys(error):
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
            share = fair_share(share, len(ledger.direct) + waiting)
        return max(1, min(calls, share, mine.slots + self.limits.free_calls(ledger)))

    def _fitted(
        self, worklist_id: str, epoch: int, calls: int | None, *, claims: bool = False
    ) -> Grant | None:
        """The run's grant for some time yet; of its direct calls those go that it can't use."""
        had: list[int] = []

        def fitted(mine: Grant, _: Ledger) -> Grant:
            had.append(mine.slots)
            slots = mine.slots if calls is None else min(mine.slots, max(1, calls))
            return replace(mine, slots=slots, claimed=mine.claimed or claims)

        mine = self._change_own(worklist_id, epoch, fitted)
        if mine is not None and mine.slots < had[-1]:
            self.dispatch()
        return mine

    def _change_own(
        self, worklist_id: str, epoch: int, changed: Callable[[Grant, Ledger], Grant]
    ) -> Grant | None:
        def once() -> Grant | None:
            ledger = self.book.read()
            mine = ledger.grant_of(worklist_id, epoch)
            now = self.now()
            if mine is None or mine.until < now:
                return None
            new = changed(mine, ledger)
            if new == mine and mine.until - now > GRANT / 2:
                return mine
            new = replace(new, until=now + GRANT)
            others = tuple(each for each in ledger.grants if each is not mine)
            self.book.write(replace(ledger, grants=(*others, new)))
            return new

        return retried(once, tries=_TRIES, pause=self.pause)
