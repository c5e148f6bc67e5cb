"""A sketch tells on which ids two listings differ, and holds neither."""

import pytest

from stackroom.audits.places import Place
from stackroom.audits.readings import CAPACITY
from stackroom.audits.sketch import Differences, Sketch
from stackroom.keys import document_id_of

# The most of an item [DynamoDB developer guide: Constraints], and room for what else is in it.
ITEM = 400_000 - 10_000


def ids(first: int, last: int) -> list[str]:
    return [document_id_of("cat-1", str(number)) for number in range(first, last)]


def compared(sketch: Sketch, listed: list[str], recorded: list[str]) -> Differences | None:
    for each in listed:
        sketch.put(each)
    for each in recorded:
        sketch.take(each)
    return sketch.differences()


def test_what_both_have_cancels_out_in_any_order() -> None:
    both = ids(0, 2000)

    assert compared(Sketch(1, salt="s"), both, both[::-1]) == Differences(
        put=frozenset(), taken=frozenset()
    )


@pytest.mark.parametrize("capacity", [1, 10, 100, CAPACITY])
def test_as_many_differences_as_it_is_made_for_are_told_by_side(capacity: int) -> None:
    half = capacity // 2
    listed = ids(0, 1000 + half)
    recorded = ids(half, 1000 + capacity)

    found = compared(Sketch(capacity, salt="s"), listed, recorded)

    assert found is not None
    assert found.put == set(listed) - set(recorded)
    assert found.taken == set(recorded) - set(listed)


def test_more_than_it_can_tell_is_nothing_told() -> None:
    assert compared(Sketch(100, salt="s"), ids(0, 1000), []) is None


def test_the_shares_of_all_ids_are_told_one_by_one() -> None:
    told: list[str] = []
    for share in range(8):
        found = compared(Sketch(200, salt="s", share=share, of=8), ids(0, 1000), ids(900, 1000))
        assert found is not None
        told += found.put

    assert sorted(told) == sorted(ids(0, 900))


def test_it_goes_on_from_where_it_was_packed() -> None:
    listed, recorded = ids(0, 1000), ids(5, 1010)
    first = Sketch(50, salt="s", share=1, of=2)
    for each in listed:
        first.put(each)

    second = Sketch(50, salt="s", share=1, of=2)
    second.unpack(first.packed())

    whole = compared(Sketch(50, salt="s", share=1, of=2), listed, recorded)
    assert whole is not None
    assert compared(second, [], recorded) == whole


def test_a_bookmark_has_room_for_the_largest_sketch_and_its_suspects() -> None:
    sketch = Sketch(CAPACITY, salt="s" * 32)
    for each in ids(0, 100_000):
        sketch.put(each)
    reading = Place(cells=sketch.packed(), suspects=tuple(ids(0, CAPACITY // 2)))
    looking = reading.model_copy(
        update={"cells": None, "suspects": tuple(ids(0, CAPACITY + CAPACITY // 2))}
    )

    assert len(reading.model_dump_json()) < ITEM
    # As many differences as cells can tell are more than it is made for.
    assert len(looking.model_dump_json()) * 1.3 < ITEM
