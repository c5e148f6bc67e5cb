"""
What a thousand questions cost at AWS, in us-east-1, November 2026.

Storage and ingestion are not in it: they are the same for every way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
from stackroom.search.excerpts import estimated_tokens


@dataclass(frozen=True)
class Price:
    dollars: float
    source: str


_S3 = "https://aws.amazon.com/s3/pricing/"
_BEDROCK = "https://aws.amazon.com/bedrock/pricing/"
_AT_SECOND_HAND = "at second hand"  # what others quote of that page, which shows it by script
TITAN = "Titan Text Embeddings V2, an input token"
QUERY = "S3 Vectors, a query"
PROCESSED = "S3 Vectors, a byte processed by a query"
RERANK = "Amazon Rerank 1.0, a question with up to 100 passages"
PRICES: Mapping[str, Price] = {
    TITAN: Price(0.02 / 1e6, f"$0.02 per million tokens, {_BEDROCK}, {_AT_SECOND_HAND}"),
    QUERY: Price(2.50 / 1e6, f"$2.50 per million, {_S3}"),
    # Of an index's first 100,000 vectors; half of it for those beyond. No other price is known for
    # queries with words: what a text search is billed as beyond the query, AWS does not say.
    PROCESSED: Price(
        0.004 / 1e12, f"$0.004 per TB of an index's first 100,000 vectors, {_S3}, {_AT_SECOND_HAND}"
    ),
    RERANK: Price(
        1.00 / 1_000, f"$1.00 per 1,000, {_BEDROCK}, {_AT_SECOND_HAND}; only where it is on"
    ),
}
# Retrieve has no charge of its own for a knowledge base with a vector store: it embeds the question
# and queries the store, and these are billed.
_EMBEDS = {BARE, FUSED, VECTOR, HYBRID, BY_RETRIEVE, BY_VECTORS}
assert _EMBEDS | {TEXT} == {*RANKINGS, *ANSWERS}, "every way has a price"
# A vector of 1,024 dimensions in 4 bytes each, and its key and filterable metadata.
_VECTOR_BYTES = 4 * 1_024 + 500


def dollars_per_thousand(way: str, questions: Sequence[str], vectors: int) -> float:
    """Of these questions' length, over an index of so many vectors."""
    tokens = sum(map(estimated_tokens, questions)) / len(questions)
    embedding = tokens * PRICES[TITAN].dollars if way in _EMBEDS else 0.0
    query = PRICES[QUERY].dollars + vectors * _VECTOR_BYTES * PRICES[PROCESSED].dollars
    return 1_000 * (embedding + query)
