"""How long is waited between polls and tries, and how often a write is tried."""

import pytest

from stackroom.concurrency import retried
from stackroom.errors import RecordChanged
from stackroom.runs.ledger import Mode
from stackroom.runs.run import (
    seconds_until_next_poll,
    seconds_until_next_try,
)


@pytest.mark.parametrize(
    ("mode", "waits"),
    [(Mode.DIRECT, [1, 1, 2, 6, 20, 60, 60]), (Mode.JOB, [5, 5, 5, 6, 20, 60, 60])],
)
def test_long_running_work_is_polled_less_often_up_to_a_minute(
    mode: Mode, waits: list[int]
) -> None:
    assert [seconds_until_next_poll(mode, age) for age in (0, 5, 10, 30, 100, 300, 36_000)] == waits


def test_tries_come_later_each_time_up_to_a_minute_and_never_overflow() -> None:
    waits = [seconds_until_next_try(number) for number in (*range(10), 100_000)]

    assert waits == [2, 3, 4, 7, 10, 15, 23, 34, 51, 60, 60]


def test_with_jitter_runs_that_wait_do_not_ask_in_step() -> None:
    waits = {seconds_until_next_try(20, jitter=True) for _ in range(100)}

    assert len(waits) > 5
    assert min(waits) >= 60
    assert max(waits) <= 90


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


def test_the_last_tries_error_is_raised_without_another_pause() -> None:
    flaky, paused = Flaky(*(RecordChanged(name) for name in "abc")), list[int]()

    with pytest.raises(RecordChanged, match="'b'"):
        retried(flaky, tries=2, pause=paused.append)
    assert (flaky.calls, paused) == (2, [0])
