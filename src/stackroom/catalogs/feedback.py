"""
Feedback of people and agents on answers, kept for its user, who may turn it into test questions.

Feedback is data: bounded texts that are displayed and have no other effect.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Protocol

from pydantic import AfterValidator, AwareDatetime, Field

from stackroom.access.tenancy import owned
from stackroom.access.tool import Line, Text
from stackroom.clock import utc_now
from stackroom.model.records import Record
from stackroom.model.repositories import Catalogs

# The limit for a user and an origin, so that no agent pushes out a person's feedback; the oldest
# are deleted. Two at the same moment may exceed it by one.
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
    """
    One opinion on an answer. `file` and `page` are the first passage shown, or the named place of
    the answer.
    """

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
        """
        Return an id that is the same for all feedback on the same question there: the last one
        counts.
        """
        subject = json.dumps([self.question, self.origin, self.catalog_id, self.agent_id])
        return hashlib.sha256(subject.encode()).hexdigest()[:24]


class FeedbackBook(Protocol):
    def of_user(self, user_id: str) -> Iterator[Feedback]: ...

    def keep(self, feedback: Feedback) -> None:
        """Save the feedback for some months, replacing any with its id."""

    def forget(self, feedback: Feedback) -> None:
        """Delete the feedback, if there is any."""


@dataclass(frozen=True, kw_only=True)
class FeedbackKeeping:
    catalogs: Catalogs
    book: FeedbackBook

    def keep(self, feedback: Feedback) -> Feedback:
        """Save the feedback. Raises CatalogNotFound for a catalog that isn't its user's."""
        if feedback.catalog_id is not None:
            owned(self.catalogs, feedback.user_id, feedback.catalog_id)
        self.book.keep(feedback)
        alike = [x for x in self.of_user(feedback.user_id) if x.origin is feedback.origin]
        for each in alike[MOST_KEPT:]:
            self.book.forget(each)
        return feedback

    def forget(self, user_id: str, feedback_id: str) -> None:
        """Delete the feedback, if there is any."""
        for each in self.book.of_user(user_id):
            if each.id == feedback_id:
                self.book.forget(each)

    def of_user(self, user_id: str, *, catalog_id: str | None = None) -> list[Feedback]:
        """
        Return the user's feedback, the newest first. If a catalog is named, return that on the
        catalog, and that on none in particular. Raises CatalogNotFound.
        """
        if catalog_id is not None:
            owned(self.catalogs, user_id, catalog_id)
        found = [
            each
            for each in self.book.of_user(user_id)
            if catalog_id is None or each.catalog_id in (None, catalog_id)
        ]
        return sorted(found, key=lambda each: (each.at, each.id), reverse=True)
