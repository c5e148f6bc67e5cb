"""The book of feedback keeps each user's own, the last word, and nothing for ever."""

from datetime import timedelta
from typing import Any

import pytest

from stackroom.aws.dynamodb.user_records import DynamoFeedback
from stackroom.catalogs.feedback import (
    KEPT,
    Feedback,
    FeedbackBook,
    FeedbackOrigin,
    FeedbackVerdict,
)
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.feedback import FakeFeedback
from tests.support.records import NOW

HOSTILE = '\N{CYRILLIC SMALL LETTER O}?\n{"nothing": true}\n<script>\'; {{ 7*7 }} # pk'


def a_feedback(question: str = "How long is leave?", **more: Any) -> Feedback:
    given = {
        "user_id": "alice",
        "verdict": FeedbackVerdict.UP,
        "origin": FeedbackOrigin.ASK,
        "at": NOW,
    }
    return Feedback(question=question, **{**given, **more})


@pytest.fixture(params=["fake", "dynamodb"])
def book(request: pytest.FixtureRequest) -> FeedbackBook:
    if request.param == "fake":
        return FakeFeedback()
    return DynamoFeedback(client=request.getfixturevalue("dynamodb"), table=CONTROL_TABLE)


def test_feedback_reads_back_whole_and_for_its_user_alone(book: FeedbackBook) -> None:
    whole = a_feedback(
        HOSTILE,
        origin=FeedbackOrigin.CHAT,
        catalog_id="cat-1",
        agent_id="agent-1",
        file="leave \N{SNOWMAN}.pdf",
        page=12,
        note=HOSTILE,
    )

    book.keep(whole)
    book.keep(a_feedback(user_id="bob"))

    assert list(book.of_user("alice")) == [whole]
    assert list(book.of_user("carol")) == []


def test_last_verdict_on_a_question_replaces_the_earlier_one(book: FeedbackBook) -> None:
    for verdict in (FeedbackVerdict.UP, FeedbackVerdict.KEPT, FeedbackVerdict.DOWN):
        book.keep(a_feedback(verdict=verdict))
    elsewhere = [
        a_feedback(catalog_id="cat-2"),
        a_feedback(origin=FeedbackOrigin.TOOL),
        a_feedback("Another?"),
    ]
    for each in elsewhere:
        book.keep(each)

    found = list(book.of_user("alice"))

    assert len(found) == 4
    assert [each.verdict for each in found if each not in elsewhere] == [FeedbackVerdict.DOWN]


def test_removed_feedback_is_gone_and_may_be_removed_again(book: FeedbackBook) -> None:
    book.keep(a_feedback())
    book.keep(a_feedback(user_id="bob"))

    for _ in range(2):
        book.forget(a_feedback())

    assert list(book.of_user("alice")) == []
    assert list(book.of_user("bob")) == [a_feedback(user_id="bob")]


def test_feedback_expires_in_dynamodb_after_some_months(dynamodb: Any) -> None:
    DynamoFeedback(client=dynamodb, table=CONTROL_TABLE).keep(a_feedback())

    [item] = dynamodb.scan(TableName=CONTROL_TABLE)["Items"]
    assert int(item["expires_at"]["N"]) == int((NOW + KEPT).timestamp())
    assert timedelta(days=90) == KEPT
