"""
Whose turn it is at a knowledge base.

Bedrock runs one ingestion job at a time in a knowledge base and no direct call beside it, five jobs
and ten direct calls in an account, and starts a job every ten seconds. So a run waits in a queue
until a turn is granted to it. The grant is written into the ledger before the run is woken, and the
run claims it there; whoever gives up a turn, or comes too late for one, hands out what is free.

Nothing here decides what Bedrock allows: a turn that was lost, or given twice, meets Bedrock's own
refusal, which is waited out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from stackroom.admission.schedule import Limits, Schedule, fair_share
from stackroom.clock import utc_now
from stackroom.ports.admission import AdmissionBook, Grant, Ledger, Mode, TaskTokens, Waiter
from stackroom.retries import apart, retried

# A turn is renewed with every poll, a minute apart; retries of one task take about five.
GRANT = timedelta(minutes=15)
# Seconds after which a turn at direct ingestion ends if others wait.
TURN = 60.0
# A granted run that has not claimed its turn by then was woken in vain.
_UNCLAIMED = timedelta(minutes=2)
_TRIES = 12
# About two seconds in all, among those who write the ledger at the same moment.
_among_writers = apart(0.02, 0.4)
_EVERYBODY = 100_000  # more than the catalogs that one account is made for


@dataclass(frozen=True, kw_only=True)
class State:
    """How busy the account is; `oldest_wait_seconds` is 0 if nobody waits."""

    waiting: int
    turns: int
    oldest_wait_seconds: float


@dataclass(frozen=True, kw_only=True)
class Admission:
    """`pool` is every knowledge base whose queue may be served."""

    book: AdmissionBook
    turns: TaskTokens
    pool: Sequence[str]
    limits: Limits = field(default_factory=Limits)
    now: Callable[[], datetime] = utc_now
    pause: Callable[[int], None] = _among_writers

    def enter(self, waiter: Waiter) -> None:
        """Queue up. Safe to repeat: the place is kept, the token replaced."""
        self.book.enqueue(waiter)
        self.dispatch()

    def claim(self, catalog_id: str, epoch: int, *, calls: int = 1) -> Grant | None:
        """
        The run's turn, from now on in its hands; None if it has none (any more).

        `calls` is how many direct calls it could use at a time; what it can't use goes to others.
        """
        granted: list[int] = []

        def claimed(mine: Grant, _: Ledger) -> Grant:
            granted.append(mine.slots)
            return replace(mine, claimed=True, slots=min(mine.slots, max(1, calls)))

        mine = self._change_own(catalog_id, epoch, claimed)
        if mine is not None and mine.slots < granted[-1]:
            self.dispatch()
        return mine

    def keep(self, catalog_id: str, epoch: int) -> Grant | None:
        """The run's turn for some time yet, whoever waits: what it has begun must be finished."""
        return self._change_own(catalog_id, epoch, lambda mine, _: mine)

    def extend(self, grant: Grant, *, calls: int) -> Grant | None:
        """
        A shared turn for some time yet; None if it is over.

        `calls` is how many direct calls the run could use at a time. It may get fewer than before
        if others wait, and more if nobody does.
        """
        waiting = self._schedule(self.book.read())
        if waiting.must_yield(grant, turn=timedelta(seconds=TURN)):
            return None
        return self._change_own(
            grant.catalog_id,
            grant.epoch,
            lambda mine, ledger: replace(
                mine, slots=self._slots(mine, ledger, calls, len(waiting.shared))
            ),
        )

    def shrink(self, catalog_id: str, epoch: int, *, calls: int) -> None:
        """Hand on what the run's last calls at work no longer need."""
        before = _own(self.book.read(), catalog_id, epoch)
        if before is None or before.slots <= calls:
            return
        self._change_own(
            catalog_id, epoch, lambda mine, _: replace(mine, slots=min(mine.slots, calls))
        )
        self.dispatch()

    def leave(self, catalog_id: str, epoch: int) -> None:
        """Give the turn back, if the run has one, and hand it on. Safe to repeat."""
        if _own(self.book.read(), catalog_id, epoch) is not None:
            self.dispatch(leaving=frozenset({(catalog_id, epoch)}))

    def dispatch(self, *, leaving: frozenset[tuple[str, int]] = frozenset()) -> None:
        """Hand out what is free, and wake whom it falls to."""
        dead = leaving
        while True:
            granted, unwoken = self._hand_out(dead)
            woken = [(each, self._wake(each, fresh=True)) for each in granted]
            woken += [(each, self._wake(each, fresh=False)) for each in unwoken]
            dead = frozenset((each.catalog_id, each.epoch) for each, alive in woken if not alive)
            if not dead:
                return

    def _hand_out(self, leaving: frozenset[tuple[str, int]]) -> tuple[list[Waiter], list[Waiter]]:
        """Who has got a turn just now, and who has one and may not know it."""

        def once() -> tuple[list[Waiter], list[Waiter]]:
            before = self.book.read()
            schedule = self._schedule(before, leaving)
            granted = schedule.grant()
            if schedule.ledger != before:
                self.book.write(schedule.ledger)
            return granted, schedule.unwoken

        return retried(once, tries=_TRIES, pause=self.pause)

    def is_wanted(self, knowledge_base_id: str) -> bool:
        """Whether anybody waits for this knowledge base."""
        return any(self.book.waiting(knowledge_base_id, mode, limit=1) for mode in Mode)

    def state(self) -> State:
        """For people to watch; reads the whole queue."""
        waiters = [
            waiter
            for knowledge_base_id in self.pool
            for mode in Mode
            for waiter in self.book.waiting(knowledge_base_id, mode, limit=_EVERYBODY)
        ]
        now = self.now()
        oldest = min((waiter.since for waiter in waiters), default=now)
        return State(
            waiting=len(waiters),
            turns=len(self.book.read().grants),
            oldest_wait_seconds=max(0.0, (now - oldest).total_seconds()),
        )

    def _wake(self, waiter: Waiter, *, fresh: bool) -> bool:
        """False if the turn fell to a run that no longer is, and goes to another."""
        if self.turns.wake(waiter.token):
            self.book.dequeue(waiter)
            return True
        # Nobody waits with that token. A retry may have brought a new one in the meantime; or an
        # earlier dispatch woke the run and died before it could say so.
        if not self.book.dequeue(waiter):
            return True  # the next dispatch, or the sweep, wakes that one
        mine = _own(self.book.read(), waiter.catalog_id, waiter.epoch)
        if mine is None or mine.claimed:
            return True
        return not fresh and self.now() - mine.granted_at < _UNCLAIMED

    def _schedule(
        self, ledger: Ledger, leaving: frozenset[tuple[str, int]] = frozenset()
    ) -> Schedule:
        at_most = self.limits.direct_calls + 1
        return Schedule(
            ledger=ledger,
            waiters=[
                waiter
                for knowledge_base_id in self.pool
                for mode in Mode
                for waiter in self.book.waiting(knowledge_base_id, mode, limit=at_most)
            ],
            limits=self.limits,
            now=self.now(),
            lease=GRANT,
            leaving=leaving,
        )

    def _slots(self, mine: Grant, ledger: Ledger, calls: int, waiting: int) -> int:
        holders = [each for each in ledger.grants if each.mode is Mode.SHARED]
        free = self.limits.direct_calls - sum(each.slots for each in holders)
        share = fair_share(self.limits.direct_calls, len(holders) + waiting)
        return max(1, min(calls, share, mine.slots + free))

    def _change_own(
        self, catalog_id: str, epoch: int, changed: Callable[[Grant, Ledger], Grant]
    ) -> Grant | None:
        def once() -> Grant | None:
            ledger = self.book.read()
            mine = _own(ledger, catalog_id, epoch)
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


def _own(ledger: Ledger, catalog_id: str, epoch: int) -> Grant | None:
    return next((each for each in ledger.grants if _is_of(each, catalog_id, epoch)), None)


def _is_of(grant: Grant, catalog_id: str, epoch: int) -> bool:
    return (grant.catalog_id, grant.epoch) == (catalog_id, epoch)
