"""
Handing out what is free, and waking whom it falls to.

The grant is written into the ledger before the run is woken, and the run claims it there: whoever
hands out may die between any two steps, and the next to hand out goes on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import chain

from stackroom.admission.limits import Limits
from stackroom.admission.rates import Did, with_measured
from stackroom.admission.schedule import Schedule
from stackroom.concurrency import Beside, in_threads
from stackroom.errors import is_everybodys
from stackroom.ports.admission import AdmissionBook, Grant, Ledger, Mode, TaskTokens, Waiter
from stackroom.retries import retried

# A grant is renewed with every poll, a minute apart; retries of one task take about five.
GRANT = timedelta(minutes=15)
# A run that has not claimed its grant by then was woken in vain.
_UNCLAIMED = timedelta(minutes=2)
TRIES = 12


@dataclass(frozen=True, kw_only=True)
class Dispatch:
    """`pool` is every knowledge base whose queue may be served."""

    book: AdmissionBook
    task_tokens: TaskTokens
    pool: Sequence[str]
    limits: Limits
    now: Callable[[], datetime]
    pause: Callable[[int], None]
    beside: Beside = in_threads

    def hand_out(
        self,
        *,
        leaving: frozenset[tuple[str, int]] = frozenset(),
        finished: Did | None = None,
    ) -> None:
        """
        What `leaving` runs, by worklist and epoch, give back is free, too. `finished` is what one
        of them has done.
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

    def schedule(
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
            waiters=[*self.waiting(limit=at_most), *([also] if also else [])],
            limits=self.limits,
            now=self.now(),
            lease=GRANT,
            leaving=leaving,
        )

    def waiting(self, *, limit: int) -> list[Waiter]:
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
            ledger = before
            if finished is not None:
                ledger = with_measured(before, finished)
            schedule = self.schedule(ledger, leaving=leaving)
            granted = schedule.grant()
            if schedule.ledger != before:
                self.book.write(schedule.ledger)
            return granted, schedule.unwoken

        return retried(once, tries=TRIES, pause=self.pause)

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
        mine = grant_of(self.book.read(), waiter.worklist_id, waiter.epoch)
        if mine is None or mine.claimed:
            return True
        return not fresh and self.now() - mine.granted_at < _UNCLAIMED


def grant_of(ledger: Ledger, worklist_id: str, epoch: int) -> Grant | None:
    """The run's own."""
    mine = (worklist_id, epoch)
    return next((each for each in ledger.grants if (each.worklist_id, each.epoch) == mine), None)
