"""Durations of work, turns in the queue, and grants that are given out once."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stackroom.clock import Pace
from stackroom.runs.admission import Schedule
from stackroom.runs.capacity import Limits
from stackroom.runs.ledger import (
    CompletedWork,
    Ledger,
    Mode,
    Rates,
    Waiter,
    duration,
    with_measured,
)
from tests.fakes.admission import a_job, a_waiter
from tests.support.records import NOW

MEGABYTE = 1_000_000


OWN = 5.0  # what our own functions take, and until a search finds it


def after(*works: tuple[int, float]) -> Callable[[int], float]:
    """Return the estimates after measurements of this many bytes and seconds."""
    rates: Rates = {}
    for size, seconds in works:
        did = CompletedWork(mode=Mode.DIRECT, size=size, seconds=seconds)
        rates = with_measured(rates, did, Pace())
    return lambda size: duration(rates, Mode.DIRECT, size, Pace()) - OWN


def test_large_work_takes_as_much_longer_as_it_is_larger() -> None:
    known = after((100, 4.0), (MEGABYTE, 64.0))

    assert known(2 * MEGABYTE) == pytest.approx(124.0)
    assert known(100) == 4.0


MINUTE = timedelta(seconds=60)


def a_schedule(
    *waiters: Waiter,
    ledger: Ledger | None = None,
    now: datetime = NOW,
    limits: Limits | None = None,
    leaving: str | None = None,
) -> Schedule:
    return Schedule(
        ledger=ledger or Ledger(),
        waiters=waiters,
        limits=limits or Limits(),
        now=now,
        leaving=frozenset() if leaving is None else frozenset({(leaving, 1)}),
    )


def names(waiters: list[Waiter]) -> list[str]:
    return [each.worklist_id for each in waiters]


def at_work(*waiters: Waiter, limits: Limits | None = None) -> Ledger:
    """Return a ledger with these grants."""
    schedule = a_schedule(*waiters, limits=limits)
    assert schedule.grant() == list(waiters)
    return schedule.ledger


def test_busy_catalogs_divide_the_calls_and_the_last_wait() -> None:
    waiters = [a_waiter(f"c{number}", 100 - number, calls=30) for number in range(12)]

    schedule = a_schedule(*waiters)
    granted = schedule.grant()

    assert names(granted) == [f"c{number}" for number in range(10)]
    assert {each.slots for each in schedule.ledger.grants} == {1}


def test_a_job_has_its_knowledge_base_alone_and_others_go_on_beside_it() -> None:
    elsewhere = a_waiter("elsewhere", 3, knowledge_base_id="KB2")

    schedule = a_schedule(a_job("job", 10), a_waiter("direct", 5), a_job("second", 4), elsewhere)

    assert names(schedule.grant()) == ["job", "elsewhere"]


def test_longest_waiting_job_keeps_direct_calls_out_and_makes_them_yield() -> None:
    ledger = at_work(a_waiter("at work", 20))

    schedule = a_schedule(a_job("job", 10), a_waiter("later", 5), ledger=ledger)

    assert schedule.grant() == []
    assert schedule.must_yield(ledger.grants[0], after=MINUTE)


def test_two_jobs_start_ten_seconds_apart_and_a_third_is_not_reserved_yet() -> None:
    waiters = [a_job(f"j{number}", 9, knowledge_base_id=f"KB{number}") for number in range(3)]

    schedule = a_schedule(*waiters)
    schedule.grant()

    starts = [each.start_at for each in schedule.ledger.grants]
    assert starts == [NOW, NOW + timedelta(seconds=10)]


def test_managed_base_runs_jobs_side_by_side_but_no_direct_call_with_them() -> None:
    limits = Limits(seconds_between_starts=0, jobs_in_one={"KB1": 3})
    jobs = [a_job(f"j{number}", 20 - number) for number in range(4)]

    schedule = a_schedule(*jobs, a_waiter("direct", 5), limits=limits)

    assert names(schedule.grant()) == ["j0", "j1", "j2"]


waiters = st.lists(
    st.builds(
        lambda name, at, mode, base, calls: a_waiter(
            f"c{name}", at, mode, knowledge_base_id=base, calls=calls
        ),
        st.integers(0, 30),
        st.floats(0, 1000),
        st.sampled_from(Mode),
        st.sampled_from(["KB1", "KB2", "KB3"]),
        st.integers(1, 40),
    ),
    unique_by=lambda each: each.worklist_id,
    max_size=20,
)


@settings(max_examples=50)
@given(first=waiters, second=waiters, later=st.floats(0, 100))
def test_no_limit_is_ever_overrun_and_no_knowledge_base_used_both_ways(
    first: list[Waiter], second: list[Waiter], later: float
) -> None:
    limits = Limits(seconds_between_starts=5, jobs_in_one={"KB2": 2})
    before = a_schedule(*first, limits=limits)
    before.grant()

    now = NOW + timedelta(seconds=later)
    after = a_schedule(*second, ledger=before.ledger, now=now, limits=limits)
    after.grant()

    for grants in (before.ledger.grants, after.ledger.grants):
        jobs = [each for each in grants if each.mode is Mode.JOB]
        shared = [each for each in grants if each.mode is Mode.DIRECT]
        assert len(jobs) <= limits.jobs
        assert sum(each.slots for each in shared) <= limits.direct_calls
        for base in ("KB1", "KB2", "KB3"):
            alone = [each for each in jobs if each.knowledge_base_id == base]
            together = [each for each in shared if each.knowledge_base_id == base]
            assert len(alone) <= limits.jobs_in(base)
            assert not (alone and together)


@settings(max_examples=50)
@given(waiters=waiters)
def test_the_oldest_of_all_is_never_passed_over(waiters: list[Waiter]) -> None:
    oldest = min(waiters, key=lambda each: each.since, default=None)

    granted = a_schedule(*waiters).grant()

    assert oldest is None or any(each.since == oldest.since for each in granted)


def test_job_that_came_after_calls_waits_for_them() -> None:
    waiting = (a_waiter("direct", -10), a_job("late", -20))
    later = NOW + timedelta(seconds=60)

    over = a_schedule(*waiting, ledger=at_work(a_job("first", 30)), now=later, leaving="first")

    assert names(over.grant()) == ["direct"]


def test_account_limit_of_five_jobs_binds_managed_base_unless_configured() -> None:
    in_one = {"KB1": 50}
    jobs = [a_job(f"j{number}", 70 - number) for number in range(60)]

    bound = a_schedule(*jobs, limits=Limits(seconds_between_starts=0, jobs_in_one=in_one))
    free = a_schedule(*jobs, limits=Limits(jobs=99, seconds_between_starts=0, jobs_in_one=in_one))

    assert len(bound.grant()) == 5
    assert len(free.grant()) == 50


def test_newer_run_of_a_catalog_replaces_the_one_that_had_the_grant() -> None:
    ledger = at_work(a_job("catalog", 10, epoch=1))

    newer = a_schedule(a_job("catalog", 5, epoch=2), ledger=ledger)

    assert [each.epoch for each in newer.grant()] == [2]
