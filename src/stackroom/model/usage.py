"""
Count what users use in a month, where the cost arises, and convert it to dollars.

Dollars are never stored: they are the counts times the current prices (prices.py) of models by
their tokens. Other costs of a question or a document, for requests and storage, are small and
similar for all: docs/deploy.md lists them.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import add
from typing import NamedTuple, Protocol, Self

from pydantic import NonNegativeInt

from stackroom.model.prices import PRICES, TITAN, price_of
from stackroom.model.records import BYTES_A_TOKEN, Document, Record

NO_CATALOG = "-"  # in its place, of questions to several
# Tokens of a passage, and those of it that the one before has as well: what a knowledge base cuts
# that nobody told otherwise. https://docs.aws.amazon.com/bedrock/latest/userguide/kb-chunking.html
_PASSAGE, _SAID_BEFORE = 300, 60


class Used(Record):
    """
    Documents, bytes, passages and embedded tokens are those of ingestion: what Bedrock has
    accepted, each time that it was sent. Tokens are counted in a document's text, roughly as an
    embedding model does, and passages go by them; of a file that Bedrock reads they are estimated
    (Document.text_size), and so are those of questions. A model's are its own.
    """

    documents: NonNegativeInt = 0
    bytes: NonNegativeInt = 0
    passages: NonNegativeInt = 0
    embedded_tokens: NonNegativeInt = 0
    questions: NonNegativeInt = 0
    question_tokens: NonNegativeInt = 0  # embedded
    model_input_tokens: NonNegativeInt = 0
    model_output_tokens: NonNegativeInt = 0

    @classmethod
    def of_ingested(cls, documents: Iterable[Document]) -> Self:
        sent = list(documents)
        tokens = [math.ceil(each.text_size / BYTES_A_TOKEN) for each in sent]
        passages = list(map(_passages, tokens))
        return cls(
            documents=len(sent),
            bytes=sum(each.size for each in sent),
            passages=sum(passages),
            embedded_tokens=sum(tokens) + _SAID_BEFORE * sum(max(0, each - 1) for each in passages),
        )

    def dollars(self, model: str = "") -> float:
        """
        Return the price of the usage; `model` is the one that has read and written its tokens.
        """
        embedded = self.embedded_tokens + self.question_tokens
        price = price_of(model)
        return (
            embedded * PRICES[TITAN].dollars
            + self.model_input_tokens * price.read
            + self.model_output_tokens * price.written
        )

    def __add__(self, other: "Used") -> "Used":
        mine, others = self.model_dump(), other.model_dump()
        return Used(**{name: mine[name] + others[name] for name in mine})


def _passages(tokens: int) -> int:
    """Return the number of passages of a text with so many tokens."""
    new = _PASSAGE - _SAID_BEFORE
    return min(tokens, 1) + max(0, math.ceil((tokens - _PASSAGE) / new))


def total(used: Iterable[Used]) -> Used:
    return reduce(add, used, Used())


@dataclass(frozen=True, kw_only=True)
class UsedBy:
    """`model` is what wrote the answers; of ingestion, and of searches alone, there is none."""

    user_id: str
    catalog_id: str
    used: Used
    model: str = ""

    @property
    def dollars(self) -> float:
        return self.used.dollars(self.model)


class Call(NamedTuple):
    """The id of one call of a round; a catalog has one round at a time."""

    round_id: str
    name: str


class UsageBook(Protocol):
    def add(
        self,
        user_id: str,
        catalog_id: str,
        used: Used,
        *,
        at: datetime,
        model: str = "",
        call: Call | None = None,
    ) -> None:
        """
        Add to the month's counts. What belongs to a `call` of the catalog's current round is added
        once, however often it is repeated.
        """

    def of_month(
        self, month: str, *, user_id: str | None = None, after: str | None = None
    ) -> Iterable[UsedBy]:
        """
        Yield the usage of a month such as `2026-11`, by user and catalog: of everyone, of that
        user, or of the users `after` that one.
        """


def month_of(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m}"


def next_month(moment: datetime) -> str:
    """Return the first day of the next month, in words."""
    later = (moment.astimezone(UTC).replace(day=1) + timedelta(days=31)).replace(day=1)
    return f"1 {later:%B}"


def count_ingested(
    book: UsageBook,
    users: Mapping[str, str],
    documents: Iterable[Document],
    *,
    at: datetime,
    call: Call,
) -> None:
    """Add documents that Bedrock has accepted in the call; `users` are the catalogs' owners."""
    by_catalog: dict[str, list[Document]] = {}
    for each in documents:
        by_catalog.setdefault(each.catalog_id, []).append(each)
    for catalog_id, sent in by_catalog.items():
        book.add(users[catalog_id], catalog_id, Used.of_ingested(sent), at=at, call=call)
