"""What every `TurnBook` promises: one ledger that nobody overwrites unread."""

from dataclasses import replace

import pytest

from stackroom.aws.turns import DynamoTurnBook
from stackroom.errors import RecordChanged
from stackroom.ports.turns import Share, TurnBook, Turns
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.turns import FakeTurnBook

TURNS = Turns(
    at=1_700_000_000.125,
    free=-1.25,
    throttled_at=1_699_999_999.5,
    shares={"0a1b2c3d": Share(lately=0.779), "ffffffff": Share(lately=3.0, due=1_700_000_001.0)},
)


@pytest.fixture(params=["fake", "dynamodb"])
def book(request: pytest.FixtureRequest) -> TurnBook:
    if request.param == "fake":
        return FakeTurnBook()
    client = request.getfixturevalue("dynamodb")
    return DynamoTurnBook(client=client, table=CONTROL_TABLE, operation="Retrieve")


def test_a_ledger_is_empty_until_it_is_written_and_then_as_it_was_written_last(
    book: TurnBook,
) -> None:
    before = book.read()
    first = book.write(TURNS)
    read = book.read()
    second = book.write(replace(first, shares={}))

    assert before == Turns()
    assert read == first == replace(TURNS, version=1)
    assert book.read() == second == replace(TURNS, version=2, shares={})


@pytest.mark.parametrize("writes", [1, 2])
def test_of_two_who_read_the_same_ledger_one_writes(book: TurnBook, writes: int) -> None:
    for _ in range(writes - 1):
        book.write(book.read())
    seen = book.read()
    book.write(replace(seen, free=7.0))

    with pytest.raises(RecordChanged):
        book.write(replace(seen, free=8.0))

    assert book.read().free == 7.0
