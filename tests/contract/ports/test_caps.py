"""The book of caps has one cap for each user, the last one set, and lists all of them."""

from decimal import Decimal
from typing import Any

import pytest

from stackroom.aws.dynamodb.cap_records import DynamoCaps, to_reached
from stackroom.aws.dynamodb.items import from_item
from stackroom.model.caps import EVERYBODY, CapBook, Caps
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.caps import FakeCaps
from tests.support.records import NEAR, REACHED


@pytest.fixture(params=["fake", "dynamodb"])
def book(request: pytest.FixtureRequest) -> CapBook:
    if request.param == "fake":
        return FakeCaps()
    return DynamoCaps(client=request.getfixturevalue("dynamodb"), table=CONTROL_TABLE)


def test_caps_are_kept_for_each_user_and_for_everybody_else(book: CapBook) -> None:
    book.keep("alice", Caps(documents=5))
    book.keep("alice", Caps(bytes=5_000_000_000))
    book.keep(EVERYBODY, Caps(documents=0, bytes=1, dollars=Decimal("0.25")))
    book.keep("bob", Caps())
    book.keep("carol", Caps(documents=1))
    for _ in range(2):
        book.remove("carol")

    assert book.all() == {
        "alice": Caps(bytes=5_000_000_000),
        EVERYBODY: Caps(documents=0, bytes=1, dollars=Decimal("0.25")),
        "bob": Caps(),
    }


def test_reached_cap_is_noted_once_with_its_first_values(dynamodb: Any) -> None:
    book = DynamoCaps(client=dynamodb, table=CONTROL_TABLE)

    for reached in (NEAR, NEAR.model_copy(update={"used": Decimal(5)}), REACHED):
        book.note(reached)

    kept = dynamodb.scan(TableName=CONTROL_TABLE)["Items"]
    assert [to_reached(from_item(each)) for each in sorted(kept, key=str)] == [REACHED, NEAR]
