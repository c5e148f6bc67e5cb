"""
What users have used in a month, counted where the cost arises, and what that comes to in dollars.

Dollars are never kept: they are the counters times the prices as they are known now.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol, Self

from pydantic import NonNegativeInt

from stackroom.documents.model import Document, Record
from stackroom.quota.workload import text_size

# Bytes of text in a token, as the tokens of answers are estimated (search/excerpts.py).
_BYTES_A_TOKEN = 4
# Titan Text Embeddings V2, an input token, in us-east-1, November 2026; what others quote of that
# page, which shows it by script. https://aws.amazon.com/bedrock/pricing/
EMBEDDED_TOKEN_DOLLARS = 0.02 / 1e6


class Used(Record):
    """
    Of a user's catalog in a month: what Bedrock has accepted, each time that it was sent. Tokens
    are estimated, by how much text a file of its format has (quota/workload.py).
    """

    documents: NonNegativeInt = 0
    bytes: NonNegativeInt = 0
    embedded_tokens: NonNegativeInt = 0

    @classmethod
    def of_ingested(cls, documents: Iterable[Document]) -> Self:
        sent = list(documents)
        return cls(
            documents=len(sent),
            bytes=sum(each.size for each in sent),
            embedded_tokens=sum(round(text_size(each) / _BYTES_A_TOKEN) for each in sent),
        )

    @property
    def dollars(self) -> float:
        return self.embedded_tokens * EMBEDDED_TOKEN_DOLLARS

    def __add__(self, other: "Used") -> "Used":
        mine, others = self.model_dump(), other.model_dump()
        return Used(**{name: mine[name] + others[name] for name in mine})


@dataclass(frozen=True, kw_only=True)
class UsedBy:
    user_id: str
    catalog_id: str
    used: Used


class UsageBook(Protocol):
    def add(self, user_id: str, catalog_id: str, used: Used, *, at: datetime) -> None:
        """To what is counted of the month."""

    def of_month(self, month: str, *, user_id: str | None = None) -> Iterable[UsedBy]:
        """Of everybody, or of that user, by catalog; of `2026-11`, say."""


def month_of(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m}"


def count_ingested(
    book: UsageBook, users: Mapping[str, str], documents: Iterable[Document], *, at: datetime
) -> None:
    """Of documents that Bedrock has accepted, whose catalogs are those `users`'."""
    by_catalog: dict[str, list[Document]] = {}
    for each in documents:
        by_catalog.setdefault(each.catalog_id, []).append(each)
    for catalog_id, sent in by_catalog.items():
        book.add(users[catalog_id], catalog_id, Used.of_ingested(sent), at=at)
