"""
Whose question is asked next, where more is asked than a knowledge base takes: rules, no more.

A rate fills a bucket, and each question takes one from it. The more a tenant had lately, the
fuller the bucket must be for their next: one who asks little takes the last, one who has had all of
the rate waits for it to be all but full. So what little askers leave goes to the others, and those
who all want more than that get equal parts of it, whatever each of them tries.
"""

import hashlib
import math
from dataclasses import dataclass, replace

from stackroom.ports.rate_ledger import Share, Turns

_LATELY = 5.0  # seconds, after which what was asked counts a third
# Of a question, what is left of it is forgotten from there on. That is seven seconds later, so that
# a ledger of 200 tenants who ask as they do in benchmarks/retrieval_load.py is below 3 KB.
_FORGOTTEN = 0.25
_CALM_AFTER = 10.0  # seconds since AWS last refused a question


@dataclass(frozen=True, kw_only=True)
class Rate:
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
    turns: Turns, asker: str, *, rate: Rate, now: float, is_waiting: bool, longest: float
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


def throttled(turns: Turns, *, rate: Rate, now: float) -> Turns:
    """When AWS refuses there is nothing free, whatever we had thought."""
    seen = _as_of(turns, now, rate)
    return replace(seen, free=min(seen.free, 0.0), throttled_at=seen.at)


def is_calm(turns: Turns, *, rate: Rate, now: float) -> bool:
    """Whether nothing was throttled lately, nobody waits, and half of the rate would do."""
    seen = _as_of(turns, now, rate)
    waits = any(share.due > now for share in seen.shares.values())
    was_throttled = now < seen.throttled_at + _CALM_AFTER
    return not was_throttled and not waits and _asked(seen) < rate.per_second / 2


def digest_of(asker: str | None) -> str:
    """Those who share one, two in four billion, share what they get; so do all who say nothing."""
    return hashlib.sha256((asker or "").encode(errors="surrogatepass")).hexdigest()[:8]


def _needed(share: Share, rate: Rate) -> float:
    part = share.lately / _LATELY / rate.per_second
    return 1 + min(1.0, part) * (rate.burst - 1) * 0.9


def _left_by_others(turns: Turns, own: Share, rate: Rate) -> float:
    """
    Questions a second, by those who had less lately and so come before; not so little that nobody
    could wait for it.
    """
    before = sum(each.lately for each in turns.shares.values() if each.lately < own.lately)
    return max(rate.per_second / 10, rate.per_second - before / _LATELY)


def _asked(turns: Turns) -> float:
    """Questions a second, lately."""
    return sum(share.lately for share in turns.shares.values()) / _LATELY


def _as_of(turns: Turns, now: float, rate: Rate) -> Turns:
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
