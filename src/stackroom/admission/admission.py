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

from stackroom.admission.dispatch import GRANT, TRIES, Dispatch, grant_of
from stackroom.admission.limits import PATIENCE, Limits, fair_share
from stackroom.admission.rates import Did, whole
from stackroom.clock import utc_now
from stackroom.concurrency import Beside, in_threads
from stackroom.ports.admission import AdmissionBook, Grant, Ledger, Mode, TaskTokens, Waiter
from stackroom.retries import among_writers, retried

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
            schedule = self._dispatch.schedule(ledger, also=waiter)
            if waiter not in schedule.grant():
                return None
            mine = grant_of(schedule.ledger, waiter.worklist_id, waiter.epoch)
            assert mine is not None, "it was granted just now"
            mine = replace(mine, claimed=True)
            others = tuple(each for each in schedule.live if each.worklist_id != waiter.worklist_id)
            phases = {
                each: since
                for each, since in ledger.phases.items()
                if each != waiter.knowledge_base_id
            }
            self.book.write(replace(ledger, grants=(*others, mine), phases=phases))
            return mine

        return retried(once, tries=TRIES, pause=self.pause)

    def begin_large(self, grant: Grant, *, since: datetime) -> Grant | None:
        """
        The grant, as of one that is at a large document; None if a job comes before. `since` is how
        long the document has waited.
        """
        schedule = self._dispatch.schedule(self.book.read())
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
        granted: list[int] = []

        def claimed(mine: Grant, _: Ledger) -> Grant:
            granted.append(mine.slots)
            return replace(mine, claimed=True, slots=min(mine.slots, max(1, calls)))

        mine = self._change_own(worklist_id, epoch, claimed)
        if mine is not None and mine.slots < granted[-1]:
            self.dispatch()
        return mine

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
        before: list[int] = []

        def kept(mine: Grant, _: Ledger) -> Grant:
            before.append(mine.slots)
            return mine if calls is None else replace(mine, slots=min(mine.slots, max(1, calls)))

        mine = self._change_own(worklist_id, epoch, kept)
        if mine is not None and mine.slots < before[-1]:
            self.dispatch()

    def share_of(self, worklist_id: str) -> int:
        """Direct calls for each of those that use some, that worklist's run among them."""
        ledger = self.book.read()
        others = [
            each
            for each in ledger.grants
            if each.mode is Mode.SHARED and each.worklist_id != worklist_id
        ]
        return max(1, self.limits.direct_calls // (len(others) + 1))

    def could_grow(self, worklist_id: str, epoch: int) -> bool:
        """Whether direct calls are free that the run could have beside its own."""
        ledger = self.book.read()
        if grant_of(ledger, worklist_id, epoch) is None or self._free(ledger) <= 0:
            return False
        waiting = self._dispatch.waiting(limit=1)
        return not any(each.mode is Mode.SHARED for each in waiting)

    def extend(self, grant: Grant, *, calls: int) -> Grant | None:
        """
        A shared grant for some time yet; None if it is over.

        `calls` is how many direct calls the run could use at a time. It may get fewer than before
        if others wait, and more if nobody does.
        """
        schedule = self._dispatch.schedule(self.book.read())
        if schedule.must_yield(grant, after=LONGEST_WHILE_OTHERS_WAIT):
            return None
        now = self._change_own(
            grant.worklist_id,
            grant.epoch,
            lambda mine, ledger: replace(
                mine, slots=self._slots(mine, ledger, calls, len(schedule.shared))
            ),
        )
        if now is not None and now.slots < grant.slots and schedule.shared:
            self.dispatch()
        return now

    def leave(self, worklist_id: str, epoch: int) -> None:
        """Give the grant back, if the run has one, and hand it on. Safe to repeat."""
        if grant_of(self.book.read(), worklist_id, epoch) is not None:
            self._dispatch.hand_out(leaving=frozenset({(worklist_id, epoch)}))

    def finish(self, worklist_id: str, epoch: int, *, did: Did | None = None) -> None:
        """
        As `leave`, of a grant whose work is done: what that took is remembered; without `did`, the
        whole time of the grant for what it was given for.
        """
        grant = grant_of(self.book.read(), worklist_id, epoch)
        if grant is not None:
            now = self.now()
            self._dispatch.hand_out(
                leaving=frozenset({(worklist_id, epoch)}), finished=did or whole(grant, at=now)
            )

    def dispatch(self) -> None:
        """Hand out what is free, and wake whom it falls to."""
        self._dispatch.hand_out()

    def grant_of(self, worklist_id: str, epoch: int) -> Grant | None:
        """The run's, if it has one."""
        return grant_of(self.book.read(), worklist_id, epoch)

    def is_wanted(self, worklist_id: str, epoch: int) -> bool:
        """Whether anybody waits for the knowledge base that the run has."""
        mine = self.grant_of(worklist_id, epoch)
        if mine is None:
            return False
        return any(self.book.waiting(mine.knowledge_base_id, mode, limit=1) for mode in Mode)

    def state(self) -> State:
        """For people to watch; reads the whole queue."""
        waiters = self._dispatch.waiting(limit=_EVERYBODY)
        now = self.now()
        oldest = min((waiter.since for waiter in waiters), default=now)
        return State(
            waiting=len(waiters),
            grants=len(self.book.read().grants),
            oldest_wait_seconds=max(0.0, (now - oldest).total_seconds()),
        )

    @property
    def _dispatch(self) -> Dispatch:
        return Dispatch(
            book=self.book,
            task_tokens=self.task_tokens,
            pool=self.pool,
            limits=self.limits,
            now=self.now,
            pause=self.pause,
            beside=self.beside,
        )

    def _slots(self, mine: Grant, ledger: Ledger, calls: int, waiting: int) -> int:
        holders = [each for each in ledger.grants if each.mode is Mode.SHARED]
        share = self.limits.direct_calls
        if waiting:
            share = fair_share(share, len(holders) + waiting)
        return max(1, min(calls, share, mine.slots + self._free(ledger)))

    def _free(self, ledger: Ledger) -> int:
        holders = (each for each in ledger.grants if each.mode is Mode.SHARED)
        return self.limits.direct_calls - sum(each.slots for each in holders)

    def _change_own(
        self, worklist_id: str, epoch: int, changed: Callable[[Grant, Ledger], Grant]
    ) -> Grant | None:
        def once() -> Grant | None:
            ledger = self.book.read()
            mine = grant_of(ledger, worklist_id, epoch)
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

        return retried(once, tries=TRIES, pause=self.pause)
