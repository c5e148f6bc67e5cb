"""
What asking costs on AWS, in dollars, in us-east-1, November 2026.

Storage and ingestion are not in it: a question doesn't change them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stackroom.quota.usage import EMBEDDED_TOKEN_DOLLARS
from stackroom.search.excerpts import estimated_tokens


@dataclass(frozen=True)
class Price:
    dollars: float
    source: str


_S3 = "https://aws.amazon.com/s3/pricing/"
_BEDROCK = "https://aws.amazon.com/bedrock/pricing/"
_AGENTCORE = "https://aws.amazon.com/bedrock/agentcore/pricing/"
_AT_SECOND_HAND = "at second hand"  # what others quote of that page, which shows it by script
TITAN = "Titan Text Embeddings V2, an input token"
QUERY = "S3 Vectors, a query"
PROCESSED = "S3 Vectors, a byte processed by a query"
GATEWAY = "AgentCore Gateway, a tool called, and a policy held against it"
FUNCTION = "Lambda, a second of a function of 512 MB, and its call"
RERANK = "Amazon Rerank 1.0, a question with up to 100 passages"
MANAGED = "a managed knowledge base, Retrieve"
PRICES: Mapping[str, Price] = {
    TITAN: Price(
        EMBEDDED_TOKEN_DOLLARS,
        f"$0.02 per million tokens, {_BEDROCK}, {_AT_SECOND_HAND}",
    ),
    QUERY: Price(2.50 / 1e6, f"$2.50 per million, {_S3}"),
    # Of an index's first 100,000 vectors; half of it for those beyond. No other price is known for
    # queries with words: what a text search is billed as beyond the query, AWS does not say.
    PROCESSED: Price(
        0.004 / 1e12, f"$0.004 per TB of an index's first 100,000 vectors, {_S3}, {_AT_SECOND_HAND}"
    ),
    GATEWAY: Price(
        5e-6 + 25e-6,
        f"$5 per million, and $0.000025 for each request to a policy engine, {_AGENTCORE},"
        f" {_AT_SECOND_HAND}: https://blog.serverworks.co.jp/agentcore_gateway-pricing",
    ),
    FUNCTION: Price(
        0.5 * 0.0000133334 + 0.2e-6,
        "$0.0000133334 per GB-second on ARM, $0.20 per million calls,"
        " https://aws.amazon.com/lambda/pricing/",
    ),
    RERANK: Price(
        1.00 / 1_000, f"$1.00 per 1,000, {_BEDROCK}, {_AT_SECOND_HAND}; only where it is on"
    ),
    MANAGED: Price(0.001, f"$0.001 a call, {_BEDROCK}, {_AT_SECOND_HAND}; only where it is asked"),
}
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
