"""
The cost of asking on AWS, in dollars, by the prices of model/prices.py.

It excludes storage and ingestion, which questions don't change.
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

# A vector of 1,024 dimensions in 4 bytes each, with its key and filterable metadata.
VECTOR_BYTES = 4 * 1_024 + 500
_VECTORS = 100_000  # in an index; the real number is unknown


@dataclass(frozen=True)
class Spending:
    """The cost of asking; `extra` is added for a reranking model or a MANAGED knowledge base."""

    calls: int
    dollars: float
    extra: float


def spending(questions: Iterable[str], *, times: int) -> Spending:
    """Return the cost of asking each question `times` times, over one index."""
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
