"""Every `Slots` gives out no more slots than there are, whoever asks."""

import pytest

from stackroom.aws.dynamodb.slot_records import DynamoSlots
from stackroom.runs.data_sources import Slots
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
    assert slots.taken("KB1") == 4
    assert slots.taken("KB2") == 0
    assert not slots.take("KB2", "cat-1", limit=0)
    assert slots.taken("KB2") == 0


def test_catalogs_that_join_a_shared_data_source_are_counted(slots: Slots) -> None:
    slots.survey("KB1", [])
    for _ in range(3):
        slots.count_sharing("KB1")

    assert slots.sharing("KB1") == 3
    assert slots.sharing("KB2") == 0
    assert slots.noted("KB1") == frozenset()


def test_the_holder_of_a_slot_is_found_among_the_knowledge_bases_asked_for(slots: Slots) -> None:
    slots.take("KB2", "cat-1", limit=4)

    assert slots.holder_of("cat-1", ["KB1", "KB2", "KB3"]) == "KB2"
    assert slots.holder_of("cat-1", ["KB1", "KB3"]) is None
    assert slots.holder_of("cat-2", ["KB1", "KB2", "KB3"]) is None


def test_a_slot_that_bedrock_refused_is_lost_to_everyone_and_so_may_all_be(slots: Slots) -> None:
    slots.take("KB1", "cat-1", limit=4)

    slots.exhaust("KB1", "cat-1")

    given = [slots.take("KB1", f"cat-{number}", limit=4) for number in range(2, 6)]
    assert slots.holder_of("cat-1", ["KB1"]) is None
    assert given == [True, True, True, False]
    assert slots.taken("KB1") == 4
    for number in range(2, 5):
        slots.exhaust("KB1", f"cat-{number}")
    assert slots.taken("KB1") == 4
    assert not slots.take("KB1", "cat-9", limit=4)


def test_freed_slot_is_taken_again_and_freeing_it_twice_frees_no_other(
    slots: Slots,
) -> None:
    for number in range(4):
        slots.take("KB1", f"cat-{number}", limit=4)

    for _ in range(3):
        slots.free("KB1", "cat-2")
    slots.free("KB2", "cat-2")

    left = slots.taken("KB1")
    given = [slots.take("KB1", f"cat-{number}", limit=4) for number in (9, 2)]
    for number in (0, 1, 3, 9):
        slots.free("KB1", f"cat-{number}")
    assert left == 3
    assert given == [True, False]
    assert (slots.taken("KB1"), slots.holders("KB1")) == (0, frozenset())
    assert slots.take("KB1", "cat-2", limit=4)


def test_a_lost_slot_is_no_catalogs_and_held_until_it_is_freed(slots: Slots) -> None:
    for number in range(4):
        slots.take("KB1", f"cat-{number}", limit=4)
    slots.exhaust("KB1", "cat-1")
    (lost,) = slots.lost("KB1")
    holders = slots.holders("KB1")
    refused = slots.take("KB1", "cat-8", limit=4)

    slots.free("KB1", lost)

    assert holders == {"cat-0", "cat-2", "cat-3"}
    assert slots.holders("KB2") == frozenset()
    assert not refused
    assert slots.lost("KB1") == slots.lost("KB2") == frozenset()
    assert slots.take("KB1", "cat-9", limit=4)
    assert not slots.take("KB1", "cat-8", limit=4)


def test_surveyed_data_sources_take_slots_until_they_are_freed(
    slots: Slots,
) -> None:
    slots.take("KB1", "cat-1", limit=4)
    before = slots.noted("KB1")

    slots.survey("KB1", ["ds-b"])
    slots.survey("KB1", ["ds-b", "ds-c"])
    lost = slots.lost("KB1")
    noted = [slots.noted("KB1")]
    given = [slots.take("KB1", f"cat-{number}", limit=4) for number in (2, 3)]
    for each in lost:
        slots.free("KB1", each)
    noted.append(slots.noted("KB1"))

    assert before is slots.noted("KB2") is None  # nobody can tell what is there
    assert sorted(each[-len("ds-b") :] for each in lost) == ["ds-b", "ds-c"]
    assert noted == [frozenset({"cat-1", *lost}), frozenset({"cat-1", "cat-2"})]
    assert given == [True, False]
    assert slots.holders("KB1") == {"cat-1", "cat-2"}
