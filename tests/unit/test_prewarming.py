"""Asking what nobody asks: which knowledge bases, as whom, and what comes of one that fails."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable, Unavailable
from stackroom.identity import is_user_id
from stackroom.retrieval.prewarming import Prewarming
from stackroom.tenancy import USER, Nobody
from tests.fakes.knowledge_base import FakeKnowledgeBase

NOW = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)


@dataclass
class FakeQuestions:
    """Asked at these moments; None if nobody can tell."""

    asked: list[datetime] | None = field(default_factory=list)

    def any_between(self, start: datetime, end: datetime) -> bool | None:
        return None if self.asked is None else any(start <= each <= end for each in self.asked)


def prewarming(questions: FakeQuestions, *pool: FakeKnowledgeBase) -> Prewarming:
    return Prewarming(
        pool={f"KB{number}": each for number, each in enumerate(pool, start=1)},
        questions=questions,
        idle=timedelta(minutes=15),
        now=lambda: NOW,
    )


@pytest.mark.parametrize(
    ("asked", "times"),
    [
        ([], 1),
        ([NOW - timedelta(minutes=16)], 1),
        ([NOW - timedelta(minutes=16), NOW - timedelta(minutes=14)], 0),
        ([NOW], 0),
        (None, 1),
    ],
)
def test_one_knowledge_base_is_asked_unless_an_agent_did(
    asked: list[datetime] | None, times: int
) -> None:
    knowledge_base = FakeKnowledgeBase()

    done = prewarming(FakeQuestions(asked), knowledge_base).prewarm()

    assert len(knowledge_base.filters) == times
    assert list(done.milliseconds) == ["KB1"] * times


def test_the_question_is_asked_as_somebody_who_can_have_nothing() -> None:
    knowledge_base = FakeKnowledgeBase()
    knowledge_base.put("Is anybody there?")

    prewarming(FakeQuestions(), knowledge_base).prewarm()

    [asked] = knowledge_base.filters
    assert asked == Nobody().filter()
    assert Nobody().filter().key == USER
    assert not is_user_id(str(Nobody().filter().value))


@pytest.mark.parametrize(
    "failure", [KnowledgeBaseThrottled("Retrieve"), KnowledgeBaseUnavailable("Retrieve", "gone")]
)
def test_one_that_fails_is_told_and_keeps_no_other_from_being_asked(failure: Unavailable) -> None:
    broken, whole = FakeKnowledgeBase(failure=failure), FakeKnowledgeBase()

    done = prewarming(FakeQuestions(), broken, whole).prewarm()

    assert done.failures == {"KB1": str(failure)}
    assert list(done.milliseconds) == ["KB2"]
