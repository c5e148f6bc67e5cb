"""
A knowledge base that more is asked of than it takes: who waits, and who is sent away.

While nothing is throttled a question goes to the knowledge base at once, and nothing is written or
read beside it. After a throttle a process takes turns with all others, by a ledger that they share,
until it finds that calm. A new one looks there before its first question.

Whoever would wait too long is told when to come again, before anything is asked for them. If the
ledger can't be had, questions are asked without turns, and repeated when they are throttled: that
is unfair for a while, and nobody sees another's documents for it.
"""

import hashlib
import logging
import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.concurrency import retried
from stackroom.documents.filters import Filter
from stackroom.documents.passages import KnowledgeBase, Retrieved
from stackroom.errors import (
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    RecordChanged,
    ServiceRefused,
    StoreUnavailable,
)
from stackroom.search.cached_embeddings import who_asks

# What tenants have had lately of a rate that they all share, and who of them waits.


@dataclass(frozen=True, kw_only=True)
class Share:
    """
    One tenant's: how many questions they had `lately`, of which older ones count less, and when
    whoever comes next has their turn behind those who wait; in the past if nobody does.
    """

    lately: float = 0.0
    due: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Turns:
    """
    As it was at the moment `at`: how many questions could be asked at once, when AWS last refused
    one, and each tenant's share, by a digest of who they are. Moments are seconds since 1970.
    """

    version: int = 0
    at: float = 0.0
    free: float = 0.0
    throttled_at: float = 0.0
    shares: Mapping[str, Share] = field(default_factory=dict)


class TurnBook(Protocol):
    """Of one rate. Raises StoreUnavailable or ServiceRefused soon, for somebody waits."""

    def read(self) -> Turns: ...

    def write(self, turns: Turns) -> Turns:
        """Keep it if nobody has written since it was read. Raises RecordChanged."""


# Whose question is asked next, where more is asked than a knowledge base takes: rules, no more.
#
# A rate fills a bucket, and each question takes one from it. The more a tenant had lately, the
# fuller the bucket must be for their next: one who asks little takes the last, one who has had
# all of the rate waits for it to be all but full. So what little askers leave goes to the others,
# and those who all want more than that get equal parts of it, whatever each of them tries.

_LATELY = 5.0  # seconds, after which what was asked counts a third
# Of a question, what is left of it is forgotten from there on. That is seven seconds later, so that
# a ledger of 200 tenants who ask as they do in benchmarks/retrieval_load.py is below 3 KB.
_FORGOTTEN = 0.25
_CALM_AFTER = 10.0  # seconds since AWS last refused a question


@dataclass(frozen=True, kw_only=True)
class TurnRate:
    """What AWS lets the account ask, and how much of it may come at once."""

    per_second: float

    @property
    def burst(self) -> float:
        """A second's worth, which AWS doesn't say, and the first throttle corrects."""
        return max(1.0, self.per_second)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What to do: ask, if there is nothing to wait for; else come again after so many seconds."""

    turns: Turns
    wait: float


def turn_of(
    turns: Turns, asker: str, *, rate: TurnRate, now: float, is_waiting: bool, longest: float
) -> Turn:
    """
    The asker's turn, and the ledger with it; the ledger as it was where that is too far off.

    Whoever comes for the first time goes behind those of the same asker who wait, unless the wait
    would be longer than `longest` seconds. Who `is_waiting` has been told to come now, and comes
    before any of them.
    """
    seen = _as_of(turns, now, rate)
    share = seen.shares.get(asker, Share())
    lacks = _needed(share, rate) - seen.free
    is_first = is_waiting or share.due <= now
    if lacks <= 0 and is_first:
        taken = replace(share, lately=share.lately + 1)
        return Turn(turns=_with(replace(seen, free=seen.free - 1), asker, taken), wait=0.0)
    left = _left_by_others(seen, share, rate)
    soonest = now + max(0.0, lacks) / left
    at = soonest if is_waiting else max(soonest, share.due)
    if is_waiting or at - now > longest:
        return Turn(turns=turns, wait=at - now)
    due = round(at + 1 / left, 3)
    return Turn(turns=_with(seen, asker, replace(share, due=due)), wait=at - now)


def throttled(turns: Turns, *, rate: TurnRate, now: float) -> Turns:
    """When AWS refuses there is nothing free, whatever we had thought."""
    seen = _as_of(turns, now, rate)
    return replace(seen, free=min(seen.free, 0.0), throttled_at=seen.at)


def is_calm(turns: Turns, *, rate: TurnRate, now: float) -> bool:
    """Whether nothing was throttled lately, nobody waits, and half of the rate would do."""
    seen = _as_of(turns, now, rate)
    waits = any(share.due > now for share in seen.shares.values())
    was_throttled = now < seen.throttled_at + _CALM_AFTER
    return not was_throttled and not waits and _asked(seen) < rate.per_second / 2


def digest_of(asker: str | None) -> str:
    """Those who share one, two in four billion, share what they get; so do all who say nothing."""
    return hashlib.sha256((asker or "").encode(errors="surrogatepass")).hexdigest()[:8]


def _needed(share: Share, rate: TurnRate) -> float:
    part = share.lately / _LATELY / rate.per_second
    return 1 + min(1.0, part) * (rate.burst - 1) * 0.9


def _left_by_others(turns: Turns, own: Share, rate: TurnRate) -> float:
    """
    Questions a second, by those who had less lately and so come before; not so little that nobody
    could wait for it.
    """
    before = sum(each.lately for each in turns.shares.values() if each.lately < own.lately)
    return max(rate.per_second / 10, rate.per_second - before / _LATELY)


def _asked(turns: Turns) -> float:
    """Questions a second, lately."""
    return sum(share.lately for share in turns.shares.values()) / _LATELY


def _as_of(turns: Turns, now: float, rate: TurnRate) -> Turns:
    """What has become of it; clocks differ, so it may be younger than `now`."""
    passed = max(0.0, now - turns.at)
    faded = math.exp(-passed / _LATELY)
    shares = {
        # Three digits are enough, and the ledger is kept as text.
        asker: replace(share, lately=round(share.lately * faded, 3))
        for asker, share in turns.shares.items()
    }
    return replace(
        turns,
        at=round(max(now, turns.at), 3),
        free=round(min(rate.burst, turns.free + passed * rate.per_second), 3),
        shares={
            asker: share
            for asker, share in shares.items()
            if share.lately >= _FORGOTTEN or share.due > now
        },
    )


def _with(turns: Turns, asker: str, share: Share) -> Turns:
    return replace(turns, shares={**turns.shares, asker: share})


logger = logging.getLogger(__name__)

# Seconds that a question waits at most, for its turns and repetitions. A function that waits is
# paid for: a flood that gets ten answers a second keeps twenty of them waiting.
PATIENCE = 2.0
_WITHOUT_BOOK = 5.0  # seconds until a ledger that couldn't be had is asked for again
_TRIES = 8  # at the ledger, which others write too
_FIRST_PAUSE, _LONGEST_PAUSE = 0.005, 0.05  # seconds between these
_FIRST_BACKOFF = 0.2  # seconds, at most, before a throttled question is asked again without turns


_Answer = TypeVar("_Answer")


@dataclass(frozen=True, kw_only=True)
class Clocks:
    """Moments of this process, those of all processes (since 1970), pauses; all in seconds."""

    elapsed: Callable[[], float] = time.monotonic
    since_1970: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep


@dataclass(kw_only=True)
class TurnTaking:
    """
    One process's view of one rate; for all knowledge bases that the rate is for, and for several
    threads at once.
    """

    operation: str
    rate: TurnRate
    book: TurnBook
    clocks: Clocks = field(default_factory=Clocks)
    patience: float = PATIENCE
    _is_calm: bool = False  # as far as this process knows
    _without_book_until: float = -math.inf

    def until(self, deadline: Deadline) -> float:
        """When a question that comes now has waited long enough."""
        return self.clocks.elapsed() + min(self.patience, deadline.left())

    def wait(self, asker: str | None, *, until: float) -> None:
        """
        Return when it is the asker's turn, at once while all is calm. Raises KnowledgeBaseThrottled
        if it isn't before `until`; whoever would wait so long doesn't.
        """
        if self._is_calm:
            return
        is_waiting, came = False, self.clocks.elapsed()
        while (at := self._turn(digest_of(asker), until, is_waiting=is_waiting)) is not None:
            if at > until:
                raise self._refusal(at - came)
            is_waiting, came = True, at
            self.clocks.sleep(max(0.0, at - self.clocks.elapsed()))

    def after_throttle(self, asker: str | None, attempt: int, *, until: float) -> None:
        """As `wait`, for a question that was throttled so many times, and once more now."""
        self._is_calm = False
        if not self._told_of_throttle():
            pause = random.uniform(0, _FIRST_BACKOFF * 2**attempt)  # noqa: S311 - not security
            if self.clocks.elapsed() + pause > until:
                raise self._refusal(self.patience)
            self.clocks.sleep(pause)
        self.wait(asker, until=until)

    def _refusal(self, wait: float) -> KnowledgeBaseThrottled:
        # Those who were sent away together are not to come back together.
        seconds = math.ceil(wait * random.uniform(1, 2))  # noqa: S311 - not security
        return KnowledgeBaseThrottled(self.operation, retry_after=seconds)

    def _turn(self, asker: str, until: float, *, is_waiting: bool) -> float | None:
        """When to come again; None if it is the asker's turn, or the ledger can't be had."""

        def once(book: TurnBook) -> float | None:
            seen = book.read()
            elapsed, now = self.clocks.elapsed(), self.clocks.since_1970()
            self._is_calm = is_calm(seen, rate=self.rate, now=now)
            if self._is_calm:
                return None
            turn = turn_of(
                seen,
                asker,
                rate=self.rate,
                now=now,
                is_waiting=is_waiting,
                longest=until - elapsed,
            )
            if turn.turns is not seen:
                book.write(turn.turns)
            return elapsed + turn.wait if turn.wait > 0 else None

        return self._at_book(once)

    def _told_of_throttle(self) -> bool:
        def once(book: TurnBook) -> bool:
            book.write(throttled(book.read(), rate=self.rate, now=self.clocks.since_1970()))
            return True

        return self._at_book(once) or False

    def _at_book(self, once: Callable[[TurnBook], _Answer]) -> _Answer | None:
        """None while it can't be had."""
        if self.clocks.elapsed() < self._without_book_until:
            return None
        try:
            return retried(lambda: once(self.book), tries=_TRIES, pause=self._pause)
        except RecordChanged:
            return None
        except (StoreUnavailable, ServiceRefused) as error:
            self._without_book_until = self.clocks.elapsed() + _WITHOUT_BOOK
            logger.warning("questions are asked without turns: %s", error)
            return None

    def _pause(self, attempt: int) -> None:
        longest = min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE)
        self.clocks.sleep(random.uniform(0, longest))  # noqa: S311 - not security


@dataclass(frozen=True)
class Paced:
    """
    A `KnowledgeBase` in front of another, asked in turns where more is asked than it takes.

    What is throttled all the same is asked again, within the deadline and the patience of `taking`.
    KnowledgeBaseThrottled says when to come again. What fails otherwise is asked once more if it
    `repeats_failures`: for a store whose client leaves all repetitions to this one.
    """

    knowledge_base: KnowledgeBase
    taking: TurnTaking
    repeats_failures: bool = False

    def retrieve(
        self, query: str, condition: Filter | None, limit: int, *, deadline: Deadline = NO_DEADLINE
    ) -> Retrieved:
        asker, until = who_asks(), self.taking.until(deadline)
        self.taking.wait(asker, until=until)
        throttles, may_fail = 0, self.repeats_failures
        while True:
            try:
                return self.knowledge_base.retrieve(query, condition, limit, deadline=deadline)
            except KnowledgeBaseThrottled as error:
                if error.retry_after is not None:
                    raise  # another such one, further down, has sent it away
                self.taking.after_throttle(asker, throttles, until=until)
                throttles += 1
            except KnowledgeBaseUnavailable:
                if not may_fail or deadline.has_passed:
                    raise
                may_fail = False
