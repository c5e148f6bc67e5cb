"""A job or direct calls: worked out by hand, in the seconds of tests/unit/test_traffic.py."""

from datetime import timedelta

import pytest

from stackroom.admission.traffic import Traffic, Work
from stackroom.ingestion.ways import way
from stackroom.ports.admission import Mode
from tests.records import NOW
from tests.unit.test_traffic import (
    ALL_CALLS,
    ELSEWHERE,
    HOME,
    IDLE,
    TEN,
    THOUSAND,
    a_grant,
    a_waiter,
    busy,
)

JOB, DIRECTLY = Mode.EXCLUSIVE, Mode.SHARED
# 276 s until a call of ours: see test_traffic.
CROWD = a_waiter(ELSEWHERE, Mode.SHARED, calls=200, size=10**8)
TWO_THOUSAND = Work(calls=200, size=10**8)
LARGE = Work(large=20, large_size=20_000_000)


@pytest.mark.parametrize("work", [Work(calls=1, size=20_000), TEN, THOUSAND, Work(calls=3), LARGE])
def test_where_calls_are_free_every_work_goes_directly(work: Work) -> None:
    assert way(work, HOME, IDLE, takes_direct=True) is DIRECTLY


@pytest.mark.parametrize("traffic", [IDLE, busy(ALL_CALLS)])
def test_what_direct_calls_can_not_do_a_job_does(traffic: Traffic) -> None:
    assert way(TEN, HOME, traffic, takes_direct=False) is JOB


def test_a_job_looks_where_nothing_is_known_to_be_open() -> None:
    assert way(Work(), HOME, IDLE, takes_direct=True) is JOB


@pytest.mark.parametrize(
    ("work", "traffic", "expected"),
    [
        # 27.5 by a job, 289.5 directly.
        (TEN, busy(ALL_CALLS, waiters=(CROWD,)), JOB),
        # 770 by a job; directly 276 + 25 x 6 + 750 / 4 = 613.5.
        (THOUSAND, busy(ALL_CALLS, waiters=(CROWD,)), DIRECTLY),
        # 20 s of our own; the crowd waits in this knowledge base, and 200 calls would wait longer.
        (TEN, busy(ALL_CALLS, waiters=(a_waiter(HOME, Mode.SHARED, calls=200),)), DIRECTLY),
        # One call there would wait 27.5 s longer: 55 in all against 289.5.
        (TEN, busy(ALL_CALLS, waiters=(CROWD, a_waiter(HOME, Mode.SHARED))), JOB),
        # The next start is in 260 s: 287.5 against 289.5 is no gain to speak of.
        (
            TEN,
            busy(ALL_CALLS, waiters=(CROWD,), next_start=NOW + timedelta(seconds=260)),
            DIRECTLY,
        ),
        # A job of ten minutes is at work there: both wait for it.
        (TEN, busy(a_grant(HOME, Mode.EXCLUSIVE, size=40_000_000)), DIRECTLY),
        # Forty large ones, one call at a time there: 840 directly, 620 by a job.
        (Work(large=40, large_size=40_000_000), IDLE, JOB),
        # Nine of the account's calls are at work, and one is free.
        (TWO_THOUSAND, busy(a_grant(ELSEWHERE, Mode.SHARED, slots=9)), DIRECTLY),
    ],
)
def test_a_job_is_for_when_it_is_done_while_direct_calls_would_wait(
    work: Work, traffic: Traffic, expected: Mode
) -> None:
    assert way(work, HOME, traffic, takes_direct=True) is expected
