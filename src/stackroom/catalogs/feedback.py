"""
What people and agents said of answers, kept for its user, who may make test questions of it.

It is data: texts within bounds, that are shown and told, and nothing follows from them.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Protocol

from pydantic import AfterValidator, AwareDatetime, Field

from stackroom.access.plain_text import Line, Text
from stackroom.access.tenancy import owned
from stackroom.clock import utc_now
from stackroom.model.records import Record
from stackroom.model.repositories import Catalogs

# Of a user and an origin, so that no agent pushes out what a person said; the oldest leave. Two
# that are said at the same moment may be one more.
MOST_KEPT = 100
KEPT = timedelta(days=90)  # longer than an agent's run: it is looked at once in a while
LONGEST_QUESTION = 1_000  # characters, as the tools that search take it
LONGEST_NOTE = 500
LONGEST_FILE = 1024  # a key of S3 has no more bytes
LAST_PAGE = 1_000_000


class FeedbackVerdict(StrEnum):
    KEPT = "kept"  # as a test question, whatever the answer was
    UP = "up"
    DOWN = "down"


class FeedbackOrigin(StrEnum):
    ASK = "ask"
    CHAT = "chat"
    TOOL = "tool"


class Feedback(Record):
    """`file` and `page` are what was shown first, or what is named as the answer's place."""

    user_id: str
    question: Annotated[
        Text,
        AfterValidator(str.strip),
        Field(
            min_length=1, max_length=LONGEST_QUESTION, description="text of 1 to 1,000 characters"
        ),
    ]
    verdict: Annotated[FeedbackVerdict, Field(description=f"one of {', '.join(FeedbackVerdict)}")]
    origin: FeedbackOrigin
    catalog_id: str | None = None
    agent_id: str | None = None
    file: Line | None = Field(
        default=None, min_length=1, max_length=LONGEST_FILE, description="a file's name"
    )
    page: int | None = Field(default=None, ge=1, le=LAST_PAGE)
    note: Text = Field(default="", max_length=LONGEST_NOTE, description="at most 500 characters")
    at: AwareDatetime = Field(default_factory=utc_now)

    @property
    def id(self) -> str:
        """The same of what is said again of the same question there: the last word counts."""
        told = json.dumps([self.question, self.origin, self.catalog_id, self.agent_id])
        return hashlib.sha256(told.encode()).hexdigest()[:24]


class FeedbackBook(Protocol):
    def of_user(self, user_id: str) -> Iterator[Feedback]: ...

    def keep(self, feedback: Feedback) -> None:
        """In place of what has its id, for some months."""

    def forget(self, feedback: Feedback) -> None:
        """Also where there is none."""


@dataclass(frozen=True, kw_only=True)
class FeedbackKeeping:
    catalogs: Catalogs
    book: FeedbackBook

    def keep(self, feedback: Feedback) -> Feedback:
        """Raises CatalogNotFound for a catalog that isn't its user's."""
        if feedback.catalog_id is not None:
            owned(self.catalogs, feedback.user_id, feedback.catalog_id)
        self.book.keep(feedback)
        alike = [x for x in self.of_user(feedback.user_id) if x.origin is feedback.origin]
        for each in alike[MOST_KEPT:]:
            self.book.forget(each)
        return feedback

    def forget(self, user_id: str, feedback_id: str) -> None:
        """Also where there is none."""
        for each in self.book.of_user(user_id):
            if each.id == feedback_id:
                self.book.forget(each)

    def of_user(self, user_id: str, *, catalog_id: str | None = None) -> list[Feedback]:
        """
        The newest first; of that catalog, or of none in particular, if one is named.

        Raises CatalogNotFound.
        """
        if catalog_id is not None:
            owned(self.catalogs, user_id, catalog_id)
        found = [
            each
            for each in self.book.of_user(user_id)
            if catalog_id is None or each.catalog_id in (None, catalog_id)
        ]
        return sorted(found, key=lambda each: (each.at, each.id), reverse=True)
