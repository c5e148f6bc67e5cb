"""How long a run waits before it looks again, or tries again."""

import pytest

from stackroom.ports.admission import Mode
from stackroom.runs.backoff import until_first_look, until_next_look, until_next_try


def test_direct_calls_are_first_asked_for_after_two_seconds_and_a_job_after_ten() -> None:
    assert [until_first_look(mode) for mode in (Mode.SHARED, Mode.EXCLUSIVE)] == [2, 10]


@pytest.mark.parametrize(
    ("mode", "waits"),
    [(Mode.SHARED, [1, 1, 2, 6, 20, 60, 60]), (Mode.EXCLUSIVE, [5, 5, 5, 6, 20, 60, 60])],
)
def test_what_has_run_for_long_is_asked_for_the_later_up_to_a_minute(
    mode: Mode, waits: list[int]
) -> None:
    assert [until_next_look(mode, age) for age in (0, 5, 10, 30, 100, 300, 36_000)] == waits


def test_a_job_is_asked_for_twice_as_often_while_others_wait_for_its_knowledge_base() -> None:
    assert until_next_look(Mode.EXCLUSIVE, 100, wanted=True) == 10
    assert until_next_look(Mode.SHARED, 100, wanted=True) == 20


def test_tries_come_later_each_time_up_to_a_minute_and_never_overflow() -> None:
    waits = [until_next_try(number) for number in (*range(10), 100_000)]

    assert waits == [2, 3, 4, 7, 10, 15, 23, 34, 51, 60, 60]


def test_with_jitter_runs_that_wait_do_not_ask_in_step() -> None:
    waits = {until_next_try(20, jitter=True) for _ in range(100)}

    assert len(waits) > 5
    assert min(waits) >= 60
    assert max(waits) <= 90
