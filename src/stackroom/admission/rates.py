"""
How long work takes here, measured by the grants that end: pure.

Nobody documents how fast Bedrock reads and embeds, and a laptop does it at its own pace. So every
grant whose work is finished tells, in the ledger that is written anyway when it goes back.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from stackroom.clock import Pace
from stackroom.ports.admission import Grant, Ledger, Mode, Rate

# Seconds on AWS, until some work has been measured: a job, and a call of small documents, as the
# simulator's rules job.shortest and document.duration have them; and what our own functions take.
_BASES = {Mode.EXCLUSIVE: 18.0, Mode.SHARED: 4.0}
_OWN = 2.0
# Bytes of text, below which work takes no longer than any does.
SMALL = 20_000
# What has been measured tells of work this many times as large, and of no larger.
_FURTHEST = 20
_NEWEST = 0.3  # its share of what is believed


@dataclass(frozen=True, kw_only=True)
class Did:
    """Finished work: `size` is in bytes of text."""

    mode: Mode
    size: int
    seconds: float


def whole(grant: Grant, *, at: datetime) -> Did:
    """All that the grant was given for, as done since then."""
    seconds = (at - (grant.start_at or grant.granted_at)).total_seconds()
    return Did(mode=grant.mode, size=grant.size, seconds=seconds)


def with_measured(ledger: Ledger, did: Did) -> Ledger:
    milliseconds = max(0, round(did.seconds * 1000))
    rate = _after(ledger.rates.get(did.mode, Rate()), did.size, milliseconds)
    return replace(ledger, rates={**ledger.rates, did.mode: rate})


def base_of(mode: Mode, pace: Pace) -> float:
    """Seconds by our clock that small work takes until some has been measured."""
    return pace.here(_BASES[mode]) + _OWN


def expected(rate: Rate, size: int, *, base: float) -> float | None:
    """
    Seconds that so many bytes of text take; None if nothing like it has been measured yet. `base`
    is what small work takes until some has been.
    """
    least = base if rate.base_ms is None else rate.base_ms / 1000
    if size < SMALL:
        return least
    if size > rate.size * _FURTHEST:
        return None
    return least + size * rate.beyond_ms / 1000 / rate.size


def _after(rate: Rate, size: int, took_ms: int) -> Rate:
    if size < SMALL:
        return replace(rate, base_ms=_blend(rate.base_ms, took_ms))
    beyond = max(0, took_ms - (rate.base_ms or 0))
    if not rate.size:
        return replace(rate, beyond_ms=beyond, size=size)
    kept = 1 - _NEWEST
    return replace(
        rate, beyond_ms=round(rate.beyond_ms * kept + beyond), size=round(rate.size * kept + size)
    )


def _blend(before: int | None, now: int) -> int:
    return now if before is None else round(before * (1 - _NEWEST) + now * _NEWEST)
