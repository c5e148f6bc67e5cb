"""
How much work documents are, by how much text they have, and how long such work takes here.

How long a document takes goes by its text. Of one that has yet to be read, or that Bedrock reads,
size and format tell enough to keep the large ones from holding up the small. Nobody documents how
fast Bedrock reads and embeds, and a laptop does it at its own pace: so every grant whose work is
finished tells, in the ledger that is written anyway when it goes back.
"""

import math
from dataclasses import dataclass, replace

from stackroom.clock import Pace
from stackroom.model.records import Document
from stackroom.runs.ledger import Ledger, Mode, Rate

BATCH = 10  # documents of an Ingest- or DeleteKnowledgeBaseDocuments call [API model]
# Bytes of text, from which a document is large: it has a call of its own.
LARGE = 1_000_000
# Seconds on AWS, until some work has been measured: a job, and a call of small documents, as the
# simulator's rules job.shortest and document.duration have them.
_BASES = {Mode.JOB: 18.0, Mode.DIRECT: 4.0}
# What comes to Bedrock's own time, in seconds: on AWS about, until a search finds what is indexed
# (the simulator's rule job.searchable-lag), and by our clock what our own functions take.
_FOUND, _OWN = 3.0, 2.0
# Bytes of text, below which work takes no longer than any does.
SMALL = 20_000
# What has been measured tells of work this many times as large, and of no larger.
_FURTHEST = 20
_KEPT = 0.7  # of the average, with each further work


def is_large(document: Document) -> bool:
    return document.text_size >= LARGE


@dataclass(frozen=True, kw_only=True)
class Did:
    """Finished work: `size` is in bytes of text."""

    mode: Mode
    size: int
    seconds: float


def with_measured(ledger: Ledger, did: Did, pace: Pace) -> Ledger:
    """The ledger whose moving average includes finished work."""
    rate, took_ms = ledger.rates.get(did.mode, Rate()), round(did.seconds * 1000)
    if did.size < SMALL:
        before = took_ms if rate.base_ms is None else rate.base_ms
        rate = replace(rate, base_ms=round(before * _KEPT + took_ms * (1 - _KEPT)))
    else:
        beyond = max(0, took_ms - round(_base(rate, did.mode, pace) * 1000))
        kept = _KEPT if rate.size else 0
        rate = replace(
            rate,
            beyond_ms=round(rate.beyond_ms * kept + beyond),
            size=round(rate.size * kept + did.size),
        )
    return replace(ledger, rates={**ledger.rates, did.mode: rate})


def is_known(ledger: Ledger, mode: Mode, size: int) -> bool:
    """Return True if work of about this size has been measured."""
    rate = ledger.rates.get(mode, Rate())
    return rate.base_ms is not None if size < SMALL else size <= rate.size * _FURTHEST


def duration(ledger: Ledger, mode: Mode, size: int, pace: Pace) -> float:
    """
    Seconds by our clock from when so many bytes of text are taken up until they are searchable;
    infinite if nothing like it has been measured yet.
    """
    rate = ledger.rates.get(mode, Rate())
    least = _base(rate, mode, pace) + pace.here(_FOUND) + _OWN
    if size < SMALL:
        return least
    if not is_known(ledger, mode, size):
        return math.inf
    return least + size * rate.beyond_ms / 1000 / rate.size


def _base(rate: Rate, mode: Mode, pace: Pace) -> float:
    return pace.here(_BASES[mode]) if rate.base_ms is None else rate.base_ms / 1000
