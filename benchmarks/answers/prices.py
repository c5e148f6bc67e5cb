"""
What a thousand questions cost at AWS, by the prices of stackroom.quota.prices.

Storage and ingestion are not in it: they are the same for every way.
"""

from collections.abc import Sequence

from benchmarks.answers.ways import (
    ANSWERS,
    BARE,
    BY_RETRIEVE,
    BY_VECTORS,
    FUSED,
    HYBRID,
    RANKINGS,
    TEXT,
    VECTOR,
)
from stackroom.quota.prices import PRICES, PROCESSED, QUERY, TITAN
from stackroom.search.excerpts import estimated_tokens
from stackroom_evaluation.spending import VECTOR_BYTES

BILLED = (TITAN, QUERY, PROCESSED)
# Retrieve has no charge of its own for a knowledge base with a vector store: it embeds the question
# and queries the store, and these are billed.
_EMBEDS = {BARE, FUSED, VECTOR, HYBRID, BY_RETRIEVE, BY_VECTORS}
assert _EMBEDS | {TEXT} == {*RANKINGS, *ANSWERS}, "every way has a price"


def dollars_per_thousand(way: str, questions: Sequence[str], vectors: int) -> float:
    """Of these questions' length, over an index of so many vectors."""
    tokens = sum(map(estimated_tokens, questions)) / len(questions)
    embedding = tokens * PRICES[TITAN].dollars if way in _EMBEDS else 0.0
    query = PRICES[QUERY].dollars + vectors * VECTOR_BYTES * PRICES[PROCESSED].dollars
    return 1_000 * (embedding + query)
