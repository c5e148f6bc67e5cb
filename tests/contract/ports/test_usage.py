"""The book of usage adds up by month, user and catalog."""

from datetime import UTC, datetime

import pytest

from stackroom.aws.dynamodb.usage_records import DynamoUsage
from stackroom.model.usage import Call, UsageBook, Used, UsedBy
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.usage import FakeUsage

NOVEMBER = datetime(2026, 11, 30, 23, 59, tzinfo=UTC)
DECEMBER = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.fixture(params=["fake", "dynamodb"])
def book(request: pytest.FixtureRequest) -> UsageBook:
    if request.param == "fake":
        return FakeUsage()
    return DynamoUsage(client=request.getfixturevalue("dynamodb"), table=CONTROL_TABLE)


def test_usage_adds_up_by_month_user_and_catalog(book: UsageBook) -> None:
    ten = Used(documents=10, bytes=500, embedded_tokens=100)
    for _ in range(2):
        book.add("alice", "cat-1", ten, at=NOVEMBER)
    book.add("alice", "cat-2", Used(documents=1), at=NOVEMBER)
    book.add("alice.b", "cat-3", ten, at=NOVEMBER)
    book.add("alice", "cat-1", ten, at=DECEMBER)
    said = Used(questions=1, model_input_tokens=3)
    book.add("alice", "cat-2", said, at=NOVEMBER, model="m:0")

    assert list(book.of_month("2026-11")) == [
        UsedBy(user_id="alice", catalog_id="cat-1", used=ten + ten),
        UsedBy(user_id="alice", catalog_id="cat-2", used=Used(documents=1)),
        UsedBy(user_id="alice", catalog_id="cat-2", used=said, model="m:0"),
        UsedBy(user_id="alice.b", catalog_id="cat-3", used=ten),
    ]
    assert [each.used for each in book.of_month("2026-12", user_id="alice")] == [ten]
    assert [each.user_id for each in book.of_month("2026-11", after="alice")] == ["alice.b"]
    assert list(book.of_month("2026-12", user_id="bob")) == []


def test_a_call_of_the_present_round_is_counted_once(book: UsageBook) -> None:
    one = Used(documents=1)
    calls = [Call("r-1", "a"), Call("r-1", "b"), Call("r-1", "a"), Call("r-1", "b")]
    for call in (*calls, Call("r-2", "a"), Call("r-2", "a")):
        book.add("alice", "cat-1", one, at=NOVEMBER, call=call)
    book.add("alice", "cat-2", one, at=NOVEMBER, call=Call("r-2", "a"))

    assert [each.used.documents for each in book.of_month("2026-11")] == [3, 1]
