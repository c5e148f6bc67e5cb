"""
The prices in docs/stores.md: a million chunks a month, and a thousand questions.

    make docs       writes them; a test fails when they are out of step

All in dollars, us-east-1, on demand, as read in November 2026. AWS renders its price pages by
script, so most figures come from pages that quote them; each names its source. `CHUNK` has the
assumptions about chunks. None of this was billed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stackroom.model import prices as core

PAGE = Path(__file__).with_name("stores.md")
_FIRST, _LAST = "<!-- prices -->", "<!-- /prices -->"

CHUNKS, QUESTIONS = 1_000_000, 1_000
_HOURS = 730  # in a month
_GB = 1e9


@dataclass(frozen=True)
class Chunk:
    """A chunk's bytes: 300 tokens of English, 20 % of them overlap, and a small sidecar."""

    text: int = 1_200
    new_text: int = 960
    attributes: int = 500  # the filterable ones, and the key
    notes: int = 500  # what Bedrock adds about the source

    @staticmethod
    def vector(dimensions: int) -> int:
        return 4 * dimensions


CHUNK = Chunk()
_QUESTION_TOKENS = 20


@dataclass(frozen=True)
class Price:
    what: str
    dollars: float
    per: str
    source: str

    def __str__(self) -> str:
        return f"{self.what}: ${self.dollars:g} {self.per} [{self.source}]"


STORED = Price(
    "S3 Vectors, stored", 0.06, "a GB and month", "aws.amazon.com/s3/pricing, by caylent.com"
)
QUERY = Price(
    "S3 Vectors, a query",
    round(core.PRICES[core.QUERY].dollars * 1e6, 6),
    "a million",
    "aws.amazon.com/s3/pricing",
)
# On 2026-06-16 AWS lowered the price beyond ten million vectors further.
PROCESSED = (
    Price(
        "S3 Vectors, processed, the first 100,000 vectors",
        round(core.PRICES[core.PROCESSED].dollars * 1e12, 6),
        "a TB",
        "secondary source",
    ),
    Price("S3 Vectors, processed, those beyond", 0.002, "a TB", "secondary source"),
)
MANAGED_STORED = Price(
    "a managed knowledge base, raw data",
    5.00,
    "a GB and month",
    "Price List API, us-west-2, 2026-08-11, Boise-State-Development/agentcore-public-stack #856",
)
MANAGED_QUERY = Price(
    "a managed knowledge base, Retrieve", core.PRICES[core.MANAGED].dollars, "a call", "the same"
)
OCU = Price("OpenSearch Serverless, an OCU", 0.24, "an hour", "c3x.dev, 2026")
COLLECTION = Price("OpenSearch Serverless, stored", 0.024, "a GB and month", "c3x.dev, 2026")
ACU = Price("Aurora Serverless v2, an ACU", 0.12, "an hour", "c3x.dev, 2026")
AURORA = Price(
    "Aurora, stored", 0.10, "a GB and month", "aws.amazon.com/rds/aurora/pricing, secondary source"
)
TITAN = Price(
    "Titan Text Embeddings V2",
    round(core.PRICES[core.TITAN].dollars * 1e6, 6),
    "a million tokens",
    "secondary source",
)
RERANK = Price(
    "Rerank by Amazon's model, up to 100 passages",
    core.PRICES[core.RERANK].dollars * 1_000,
    "for 1,000 calls; by Cohere's $2",
    "secondary source",
)
PRICES = (
    STORED,
    QUERY,
    *PROCESSED,
    MANAGED_STORED,
    MANAGED_QUERY,
    OCU,
    COLLECTION,
    ACU,
    AURORA,
    TITAN,
    RERANK,
)


@dataclass(frozen=True)
class Cost:
    store: str
    month: str
    questions: str
    why: str


def costs() -> Sequence[Cost]:
    embedding = QUESTIONS * _QUESTION_TOKENS * TITAN.dollars / 1e6
    query = QUESTIONS * QUERY.dollars / 1e6 + _processed(1_024) + embedding
    stored = CHUNKS * _vectors_bytes(1_024) / _GB * STORED.dollars
    raw = CHUNKS * CHUNK.new_text / _GB
    pages = CHUNKS * (CHUNK.text + CHUNK.attributes + 2 * CHUNK.vector(1_024)) / _GB
    collection = CHUNKS * (CHUNK.text + CHUNK.attributes + CHUNK.vector(256)) / _GB
    return (
        Cost(
            "S3_VECTORS",
            f"${stored:.2f}",
            f"${query:.3f}",
            f"{_vectors_bytes(1_024):,} bytes a vector; a query is billed for the whole index",
        ),
        Cost(
            "S3_VECTORS_DIRECT",
            f"${stored:.2f}",
            f"${query:.3f}, less what the cache saves",
            "the same; AWS documents no price for search by words",
        ),
        Cost(
            "MANAGED",
            f"${raw * MANAGED_STORED.dollars:.2f} and more",
            f"${QUESTIONS * MANAGED_QUERY.dollars:.2f}",
            f"raw data: {raw:.2f} GB of plain text; a PDF has more bytes",
        ),
        Cost(
            "OPENSEARCH_SERVERLESS",
            f"${2 * OCU.dollars * _HOURS + collection * COLLECTION.dollars:.0f} (Classic);"
            f" ${2 * OCU.dollars * 176:.0f} (NextGen, busy for 8 hours on 22 days)",
            f"${embedding:.4f}",
            "two OCUs, always awake in Classic, none when idle in NextGen (assumed at one price);"
            " 256 dimensions",
        ),
        Cost(
            "PGVECTOR",
            f"${4 * ACU.dollars * _HOURS + pages * AURORA.dollars:.0f};"
            f" ${0.5 * ACU.dollars * _HOURS + pages * AURORA.dollars:.0f} at least, never paused",
            f"${embedding:.4f}",
            "4 ACUs, whose 8 GB hold the HNSW graph in memory; half an ACU reads it from storage",
        ),
    )


def _vectors_bytes(dimensions: int) -> int:
    return CHUNK.vector(dimensions) + CHUNK.text + CHUNK.attributes + CHUNK.notes


def _processed(dimensions: int) -> float:
    """Return the dollars for the data of all queries; neither text nor notes are filterable."""
    size = CHUNK.vector(dimensions) + CHUNK.attributes
    first, beyond = min(CHUNKS, 100_000), max(0, CHUNKS - 100_000)
    parts = zip((first, beyond), PROCESSED, strict=True)
    return sum(QUESTIONS * size * vectors / 1e12 * price.dollars for vectors, price in parts)


def table() -> str:
    """Return the generated part of the page."""
    rows = [
        "| store | a million chunks, a month | 1,000 questions | assuming |",
        "|---|---|---|---|",
        *(f"| {each.store} | {each.month} | {each.questions} | {each.why} |" for each in costs()),
    ]
    return "\n".join([*rows, "", *(f"- {price}" for price in PRICES)])


def with_prices(page: str) -> str:
    """Return the page with the current prices."""
    before, _, rest = page.partition(_FIRST)
    _, _, after = rest.partition(_LAST)
    return f"{before}{_FIRST}\n{table()}\n{_LAST}{after}"


if __name__ == "__main__":
    PAGE.write_text(with_prices(PAGE.read_text()))
