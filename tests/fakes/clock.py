"""Clocks that tests set."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from tests.fakes.disturbed import Disturbed

T = TypeVar("T")


def in_turn(actions: Sequence[Callable[[], T]]) -> list[T]:
    """`RunParallel` without threads: each sees what time the one before it took."""
    return [action() for action in actions]


@dataclass
class FakeClock(Disturbed):
    """Stands still until told otherwise."""

    time: datetime = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def sleep(self, seconds: float) -> None:
        """Advance the clock; the code under test pauses with this."""
        self.pass_by(seconds)

    def pass_by(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@dataclass
class FakeSeconds:
    """Those that a process has been running, as `time.monotonic` tells them."""

    seconds: float = 1000.0

    def __call__(self) -> float:
        return self.seconds
