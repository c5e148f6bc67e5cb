"""How soon work is done by a job or directly, worked out by hand."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from stackroom.admission.limits import Limits
from stackroom.admission.traffic import Traffic, Work
from stackroom.clock import RealTime
from stackroom.model import DocumentStatus
from stackroom.ports.admission import Grant, Ledger, Mode, Rate, Waiter
from tests.records import NOW, a_document

IDLE = Traffic(ledger=Ledger(), waiters=(), limits=Limits(), pace=RealTime(), at=NOW)
HOME, ELSEWHERE = "KB1", "KB2"
# Until anything was measured: a call 6 s, a job 20 s, and 15 s for each megabyte of text.
TEN = Work(calls=1, size=500_000)
THOUSAND = Work(calls=100, size=50_000_000)


def a_grant(home: str, mode: Mode, *, slots: int = 1, size: int = 0, ago: float = 0.0) -> Grant:
    return Grant(
        worklist_id=f"cat-{home}-{mode}-{slots}",
        epoch=1,
        knowledge_base_id=home,
        mode=mode,
        slots=slots,
        granted_at=NOW - timedelta(seconds=ago),
        until=NOW + timedelta(minutes=15),
        size=size,
    )


def a_waiter(home: str, mode: Mode, *, calls: int = 1, size: int = 0) -> Waiter:
    return Waiter(
        worklist_id=f"cat-{home}-{mode}",
        epoch=1,
        knowledge_base_id=home,
        mode=mode,
        since=NOW,
        calls=calls,
        token="t",
        size=size,
    )


def busy(*grants: Grant, waiters: tuple[Waiter, ...] = (), **ledger: Any) -> Traffic:
    return replace(IDLE, ledger=Ledger(grants=grants, **ledger), waiters=waiters)


ALL_CALLS = a_grant(ELSEWHERE, Mode.SHARED, slots=10)


@pytest.mark.parametrize(
    ("work", "directly", "by_job"),
    [
        (Work(calls=1, size=50_000), 6.75, 20.75),
        (TEN, 6 + 7.5, 20 + 7.5),
        # Ten calls at a time, each with a tenth of the text.
        (THOUSAND, 10 * 6 + 750 / 10, 20 + 750),
        (Work(calls=3), 6, 20),  # removals have no text
        # Large ones have a call each, one after another.
        (Work(large=4, large_size=40_000_000), 4 * 6 + 600, 20 + 600),
    ],
)
def test_where_nobody_else_is_direct_calls_are_beside_each_other_and_a_job_is_not(
    work: Work, directly: float, by_job: float
) -> None:
    assert IDLE.until_done_directly(HOME, work) == pytest.approx(directly)
    assert IDLE.until_done_by_job(HOME, work) == pytest.approx(by_job)


@pytest.mark.parametrize(
    ("traffic", "directly", "by_job"),
    [
        # All ten calls have 6 s to go; elsewhere, so that no job is held up.
        (busy(ALL_CALLS), 6 + 13.5, 27.5),
        # They have been at work for 4 s.
        (busy(replace(ALL_CALLS, granted_at=NOW - timedelta(seconds=4))), 2 + 13.5, 27.5),
        # And 200 calls of 1,500 s of text come before us: (60 + 1,200 + 1,500) / 10.
        (
            busy(ALL_CALLS, waiters=(a_waiter(ELSEWHERE, Mode.SHARED, calls=200, size=10**8),)),
            276 + 13.5,
            27.5,
        ),
        # Calls in the same knowledge base: a job waits until they are over.
        (busy(a_grant(HOME, Mode.SHARED, slots=2, size=2_000_000)), 13.5, 6 + 15 + 27.5),
        # A job there, 10 s into its 20 + 15.
        (busy(a_grant(HOME, Mode.EXCLUSIVE, size=10**6, ago=10)), 25 + 13.5, 25 + 27.5),
        # One that waits there comes first, whichever way.
        (busy(waiters=(a_waiter(HOME, Mode.EXCLUSIVE, size=10**6),)), 35 + 13.5, 35 + 27.5),
        # One that waits elsewhere takes a start, ten seconds apart.
        (busy(waiters=(a_waiter(ELSEWHERE, Mode.EXCLUSIVE),)), 13.5, 10 + 27.5),
        (busy(next_start=NOW + timedelta(seconds=8)), 13.5, 8 + 27.5),
        # The account's five jobs, the next of which ends in 20 - 15.
        (
            busy(*(a_grant(f"KB{n}", Mode.EXCLUSIVE, ago=15 - n) for n in range(2, 7))),
            13.5,
            7 + 27.5,
        ),
    ],
)
def test_what_is_in_the_way_comes_first(traffic: Traffic, directly: float, by_job: float) -> None:
    assert traffic.until_done_directly(HOME, TEN) == pytest.approx(directly)
    assert traffic.until_done_by_job(HOME, TEN) == pytest.approx(by_job)


def test_who_shares_the_calls_of_the_account_has_fewer_at_a_time() -> None:
    others = [a_grant(f"KB{number}", Mode.SHARED, slots=2) for number in (2, 3, 4)]

    shared = busy(*others).until_done_directly(HOME, THOUSAND)

    assert shared == pytest.approx(25 * 6 + 750 / 4)


def test_a_managed_knowledge_base_runs_jobs_beside_each_other() -> None:
    running = a_grant(HOME, Mode.EXCLUSIVE, size=10**7)
    traffic = busy(running)
    managed = replace(traffic, limits=Limits(jobs_in_one={HOME: 50}))

    assert traffic.until_done_by_job(HOME, TEN) == pytest.approx(20 + 150 + 27.5)
    assert managed.until_done_by_job(HOME, TEN) == pytest.approx(27.5)


def test_what_was_measured_takes_the_place_of_what_is_assumed() -> None:
    rates = {
        Mode.EXCLUSIVE: Rate(base_ms=60_000, beyond_ms=10_000, size=1_000_000),
        Mode.SHARED: Rate(base_ms=3_000),
    }

    traffic = busy(rates=rates)

    assert traffic.until_done_by_job(HOME, TEN) == pytest.approx(60 + 5)
    assert traffic.until_done_directly(HOME, TEN) == pytest.approx(3 + 5)


def test_work_counts_tens_of_small_documents_and_each_large_one() -> None:
    documents = [
        *(a_document(n, filename="a.txt", size=100) for n in range(11)),
        *(a_document(n, filename="b.txt", size=50_000) for n in range(20, 23)),
        *(a_document(n, status=DocumentStatus.DELETING) for n in range(30, 51)),
        a_document(60, filename="c.txt", size=3_000_000),
    ]

    work = Work.of(documents)

    assert work == Work(calls=2 + 3, size=11 * 20_000 + 3 * 50_000, large=1, large_size=3_000_000)
    assert Work.of([]) == Work()


def test_a_job_keeps_out_the_calls_that_are_at_work_and_that_wait_there() -> None:
    traffic = busy(
        ALL_CALLS,
        a_grant(HOME, Mode.SHARED, slots=3),
        waiters=(
            a_waiter(HOME, Mode.SHARED, calls=4),
            a_waiter(HOME, Mode.EXCLUSIVE),
            a_waiter(ELSEWHERE, Mode.SHARED, calls=7),
        ),
    )

    assert traffic.calls_kept_out(HOME) == 3 + 4
