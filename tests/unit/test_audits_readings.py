"""How two listings are read side by side: sketches and windows of bounded size, at a pace."""

from dataclasses import dataclass, field

import pytest

from stackroom.audits.pace import ACCOUNT_A_SECOND, Pace
from stackroom.audits.places import Place
from stackroom.audits.readings import CAPACITY
from stackroom.audits.sketch import Differences, Sketch
from stackroom.audits.window import Window
from stackroom.errors import KnowledgeBaseThrottled
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


NAMES = [f"doc-{number:03}" for number in (7, 3, 9, 1, 8, 2, 6, 0, 5, 4)]


def test_never_more_than_the_capacity_is_held() -> None:
    window: Window[int] = Window(4)

    for name in NAMES:
        window.put(name, 1)

        assert len(list(window.values())) <= 4


@pytest.mark.parametrize("capacity", [1, 10])
def test_windows_one_after_another_hold_everything_once(capacity: int) -> None:
    seen: list[str] = []
    low: str | None = ""

    while low is not None:
        window: Window[int] = Window(capacity, low=low)
        for name in NAMES:
            window.put(name, 1)
        seen += sorted(name for name, _ in window.items())
        low = window.high

    assert seen == sorted(NAMES)


@dataclass
class Watch:
    at: float = 0.0

    def pass_by(self, seconds: float) -> None:
        self.at += seconds

    def now(self) -> float:
        return self.at


@dataclass
class Port:
    """Notes when it was asked; throttles those calls, counted from 0."""

    watch: Watch
    throttles: range = range(0)
    asked: list[float] = field(default_factory=list)

    def list(self) -> int:
        self.asked.append(self.watch.at)
        if len(self.asked) - 1 in self.throttles:
            raise KnowledgeBaseThrottled("ListKnowledgeBaseDocuments")
        return len(self.asked)

    def other(self) -> str:
        return "at once"


@pytest.fixture
def watch() -> Watch:
    return Watch()


def paced(port: Port, a_second: float = 2.0) -> Port:
    return Pace(a_second=a_second, sleep=port.watch.pass_by, now=port.watch.now).of(port, "list")


def test_requests_lie_so_far_apart_and_nothing_else_waits(watch: Watch) -> None:
    port = Port(watch)
    asked = paced(port)

    answers = [asked.list() for _ in range(3)]
    other = asked.other()
    watch.pass_by(10)
    asked.list()

    assert (answers, other) == ([1, 2, 3], "at once")
    assert port.asked == [0.0, 0.5, 1.0, 11.0]


def test_a_throttled_request_makes_room_for_others_and_the_pace_comes_back(watch: Watch) -> None:
    port = Port(watch, throttles=range(1, 3))
    asked = paced(port)
    for _ in range(7):
        try:
            asked.list()
        except KnowledgeBaseThrottled:
            continue

    waits = [later - earlier for earlier, later in zip(port.asked, port.asked[1:], strict=False)]
    assert waits == [0.5, 1.0, 2.0, 2.0, 1.0, 0.5]


def test_however_often_it_is_throttled_it_asks_again_after_half_a_minute(watch: Watch) -> None:
    port = Port(watch, throttles=range(100))
    asked = paced(port)
    for _ in range(20):
        with pytest.raises(KnowledgeBaseThrottled):
            asked.list()

    assert port.asked[-1] - port.asked[-2] == 30.0


@pytest.mark.parametrize("a_second", [0.0, -1.0, ACCOUNT_A_SECOND])
def test_a_pace_that_would_leave_others_nothing_is_refused(a_second: float) -> None:
    with pytest.raises(ValueError, match="allowed: more than 0 and less than the account's 5"):
        Pace(a_second=a_second)
