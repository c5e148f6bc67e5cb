"""Places for data sources: never more than there are, whoever asks at the same time."""

from typing import Any

import pytest

from stackroom.aws.slots import DynamoSlots
from tests.aws.stores import CONTROL_TABLE


@pytest.fixture
def slots(dynamodb: Any) -> DynamoSlots:
    return DynamoSlots(client=dynamodb, table=CONTROL_TABLE)


def test_places_are_given_up_to_the_limit(slots: DynamoSlots) -> None:
    given = [slots.take("KB1", f"cat-{number}", limit=4) for number in range(6)]

    assert given == [True] * 4 + [False] * 2
    assert slots.taken("KB1") == 4
    assert slots.taken("KB2") == 0


def test_a_catalog_takes_its_place_once(slots: DynamoSlots) -> None:
    for _ in range(5):
        assert slots.take("KB1", "cat-1", limit=4)

    assert slots.taken("KB1") == 1


def test_a_catalog_keeps_its_place_on_a_full_knowledge_base(slots: DynamoSlots) -> None:
    for number in range(4):
        slots.take("KB1", f"cat-{number}", limit=4)

    assert slots.take("KB1", "cat-3", limit=4)
    assert slots.taken("KB1") == 4


def test_the_holder_of_a_place_is_found_among_knowledge_bases(slots: DynamoSlots) -> None:
    slots.take("KB2", "cat-1", limit=4)

    assert slots.holder_of("cat-1", ["KB1", "KB2", "KB3"]) == "KB2"
    assert slots.holder_of("cat-2", ["KB1", "KB2", "KB3"]) is None


def test_a_place_that_bedrock_refused_is_lost_to_everyone(slots: DynamoSlots) -> None:
    slots.take("KB1", "cat-1", limit=4)

    slots.exhaust("KB1", "cat-1")

    assert slots.holder_of("cat-1", ["KB1"]) is None
    assert slots.taken("KB1") == 1
    assert [slots.take("KB1", f"cat-{number}", limit=4) for number in range(2, 6)] == [
        True,
        True,
        True,
        False,
    ]


def test_every_place_can_be_lost(slots: DynamoSlots) -> None:
    for number in range(4):
        slots.take("KB1", f"cat-{number}", limit=4)
        slots.exhaust("KB1", f"cat-{number}")

    assert slots.taken("KB1") == 4
    assert not slots.take("KB1", "cat-9", limit=4)
