"""How long is waited between polls and tries, and how often a write is tried."""

import pytest

from stackroom.concurrency import retried
from stackroom.errors import RecordChanged
from stackroom.runs.ledger import Mode
from stackroom.runs.run import (
    seconds_until_next_poll,
)


@pytest.mark.parametrize(
    ("mode", "waits"),
    [(Mode.DIRECT, [1, 1, 2, 6, 20, 60, 60]), (Mode.JOB, [5, 5, 5, 6, 20, 60, 60])],
)
def test_long_running_work_is_polled_less_often_up_to_a_minute(
    mode: Mode, waits: list[int]
) -> None:
    assert [seconds_until_next_poll(mode, age) for age in (0, 5, 10, 30, 100, 300, 36_000)] == waits


class Flaky:
    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def test_conflicting_write_is_retried_until_it_succeeds() -> None:
    flaky, paused = Flaky(RecordChanged("a"), RecordChanged("b")), list[int]()

    assert retried(flaky, tries=3, pause=paused.append) == "done"
    assert (flaky.calls, paused) == (3, [0, 1])
