"""
What asking costs on AWS, in dollars, by the prices of model/prices.py.

Storage and ingestion are not in it: a question doesn't change them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from stackroom.model.prices import (
    FUNCTION,
    GATEWAY,
    MANAGED,
    PRICES,
    PROCESSED,
    QUERY,
    RERANK,
    TITAN,
)
from stackroom.search.excerpts import estimated_tokens

# A vector of 1,024 dimensions in 4 bytes each, and its key and filterable metadata.
VECTOR_BYTES = 4 * 1_024 + 500
_VECTORS = 100_000  # of an index; nobody tells how many there are


@dataclass(frozen=True)
class Spending:
    """`extra` comes to it where a model puts passages in order, or a managed one is asked."""

    calls: int
    dollars: float
    extra: float


def spending(questions: Iterable[str], *, times: int) -> Spending:
    """Of asking each so many times, over one index."""
    asked = list(questions)
    calls = times * len(asked)
    call = PRICES[QUERY].dollars + _VECTORS * VECTOR_BYTES * PRICES[PROCESSED].dollars
    call += PRICES[GATEWAY].dollars + PRICES[FUNCTION].dollars
    tokens = times * sum(map(estimated_tokens, asked))
    return Spending(
        calls=calls,
        dollars=calls * call + tokens * PRICES[TITAN].dollars,
        extra=calls * max(PRICES[RERANK].dollars, PRICES[MANAGED].dollars),
    )
