"""
AWS's prices in dollars: on demand, us-east-1, as read in November 2026.

AWS renders its price pages by script, so most were read where others quote them; each source is
named.
"""

from collections.abc import Mapping
from dataclasses import dataclass

AS_OF = "November 2026"


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
    TITAN: Price(0.02 / 1e6, f"$0.02 per million tokens, {_BEDROCK}, {_AT_SECOND_HAND}"),
    QUERY: Price(2.50 / 1e6, f"$2.50 per million, {_S3}"),
    # The price for an index's first 100,000 vectors; half of it for those beyond. No other price is
    # known for queries with words: AWS doesn't say what a text search is billed beyond the query.
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


@dataclass(frozen=True)
class ModelPrice:
    """The price of a language model, per token read and per token written."""

    read: float
    written: float


# Prices by the model's id as it is behind any inference profile; by the model catalogs of Helicone,
# convo-lang and LiteLLM (model_prices_and_context_window.json), which quote Bedrock's page. A
# profile of some regions alone (`us.`, `eu.`) is up to a tenth dearer for the newer ones.
MODELS: Mapping[str, ModelPrice] = {
    "amazon.nova-micro-v1:0": ModelPrice(0.035e-6, 0.14e-6),
    "amazon.nova-lite-v1:0": ModelPrice(0.06e-6, 0.24e-6),
    "amazon.nova-2-lite-v1:0": ModelPrice(0.30e-6, 2.50e-6),
    "amazon.nova-pro-v1:0": ModelPrice(0.80e-6, 3.20e-6),
    "anthropic.claude-haiku-4-5-20251001-v1:0": ModelPrice(1.00e-6, 5.00e-6),
    "anthropic.claude-sonnet-4-5-20250929-v1:0": ModelPrice(3.00e-6, 15.00e-6),
}
# The price of a model that is not listed: a cap is to hold too early rather than too late.
_DEAREST = max(MODELS.values(), key=lambda each: each.written)


def price_of(model: str) -> ModelPrice:
    """Return the price of a model by its id or ARN, alone or behind an inference profile."""
    named = model.rpartition("/")[2]
    known = (price for name, price in MODELS.items() if named == name or named.endswith(f".{name}"))
    return next(known, _DEAREST)
