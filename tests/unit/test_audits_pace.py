"""The reconciler asks for documents no oftener than it may, and less often when throttled."""

from dataclasses import dataclass, field

import pytest

from stackroom.audits.pace import ACCOUNT_A_SECOND, Pace
from stackroom.errors import KnowledgeBaseThrottled


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
