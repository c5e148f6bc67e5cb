"""Every `Slots` gives out no more slots than there are, whoever asks."""

import pytest

from stackroom.aws.dynamodb.lease_records import DynamoSlots
from stackroom.runs.capacity import Slots
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.pipeline import FakeSlots


@pytest.fixture(params=["fake", "dynamodb"])
def slots(request: pytest.FixtureRequest) -> Slots:
    if request.param == "fake":
        return FakeSlots()
    return DynamoSlots(client=request.getfixturevalue("dynamodb"), table=CONTROL_TABLE)


def test_slots_are_given_up_to_the_limit_and_each_catalog_holds_one(slots: Slots) -> None:
    given = [slots.take("KB1", f"cat-{number}", limit=4) for number in (0, 0, 1, 2, 3, 4, 5, 3)]

    assert given == [*[True] * 5, False, False, True]
    assert slots.holders("KB1") == {f"cat-{number}" for number in range(4)}
    assert not slots.take("KB2", "cat-1", limit=0)
    assert slots.holders("KB2") == frozenset()


def test_catalogs_that_join_a_shared_data_source_are_counted(slots: Slots) -> None:
    for _ in range(3):
        slots.count_sharing("KB1")

    assert slots.sharing("KB1") == 3
    assert slots.sharing("KB2") == 0


def test_the_holder_of_a_slot_is_found_among_the_knowledge_bases_asked_for(slots: Slots) -> None:
    slots.take("KB2", "cat-1", limit=4)

    assert slots.holder_of("cat-1", ["KB1", "KB2", "KB3"]) == "KB2"
    assert slots.holder_of("cat-1", ["KB1", "KB3"]) is None
    assert slots.holder_of("cat-2", ["KB1", "KB2", "KB3"]) is None


def test_freed_slot_is_taken_again_and_freeing_it_twice_frees_no_other(
    slots: Slots,
) -> None:
    for number in range(4):
        slots.take("KB1", f"cat-{number}", limit=4)

    for _ in range(3):
        slots.free("KB1", "cat-2")
    slots.free("KB2", "cat-2")

    left = len(slots.holders("KB1"))
    given = [slots.take("KB1", f"cat-{number}", limit=4) for number in (9, 2)]
    for number in (0, 1, 3, 9):
        slots.free("KB1", f"cat-{number}")
    assert left == 3
    assert given == [True, False]
    assert slots.holders("KB1") == frozenset()
    assert slots.take("KB1", "cat-2", limit=4)
