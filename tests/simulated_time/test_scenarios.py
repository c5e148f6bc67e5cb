"""The product under simulated time, at small size: what a benchmark of it may be trusted with."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from benchmarks.limits import Work, bound
from benchmarks.scenarios import burst, delete_storm, large_documents, parked, trickle, usual_burst
from benchmarks.stores import AdmissionBook
from stackroom.admission.limits import PATIENCE
from stackroom.ports.admission import Mode, Waiter
from tests.fakes.pipeline import FakeAdmissionBook

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_burst_is_searchable_in_the_end_and_nothing_is_left_over() -> None:
    outcome = burst(60, 6, within=20, seed=1)

    assert (outcome.lost, outcome.false_failures, outcome.dead_letters) == (0, 0, 0)
    assert outcome.broken == 0
    assert len(outcome.observation.all_waits()) == 60
    assert outcome.bound <= outcome.settled


def test_the_same_seed_is_the_same_run() -> None:
    first, second = (burst(30, 6, within=20, seed=7) for _ in range(2))

    assert first.observation.waits == second.observation.waits
    assert first.bill == second.bill


def test_every_catalog_of_a_trickle_is_served_with_a_pool_of_one() -> None:
    outcome = trickle(days=0.01, daily=30_000, catalogs=50, files=5, seed=1)

    assert (outcome.lost, outcome.false_failures, outcome.dead_letters) == (0, 0, 0)
    assert len(outcome.observation.waits) > 5


def test_a_large_document_holds_up_no_small_ones_and_each_job_by_no_more_than_itself() -> None:
    outcome = large_documents(large=3, seconds=600, seed=1)

    siblings = sorted(outcome.observation.waits["user-4/shelf"])
    of_jobs = [max(outcome.observation.waits[f"user-{each}/shelf"]) for each in range(4)]
    assert (outcome.lost, outcome.false_failures, outcome.broken) == (0, 0, 0)
    assert len(siblings) == 1 + 12 + 3
    assert siblings[12] < 60
    assert max(of_jobs) < 600 + 180
    assert siblings[-1] < 3 * (600 + 180 + PATIENCE.total_seconds())


def test_a_storm_of_deletions_leaves_nothing_to_be_found() -> None:
    removal = delete_storm(60, 6, seed=1)

    assert len(removal.unsearchable) == len(removal.receipted) == removal.asked == 60
    assert all(
        seen <= said for seen, said in zip(removal.unsearchable, removal.receipted, strict=True)
    )


def test_a_run_that_waits_ten_hours_goes_through_few_more_states_than_one_of_a_minute() -> None:
    minute, _ = parked(60, seed=1)
    ten_hours, _ = parked(36_000, seed=1)

    assert ten_hours - minute <= 2


def test_the_usual_design_fails_documents_that_are_searchable() -> None:
    outcome = usual_burst(60, 6, within=20, seed=1)

    assert outcome.false_failures > 0
    assert outcome.lost == 0


def test_the_bound_takes_jobs_one_by_one_and_direct_calls_by_ten() -> None:
    jobs = [Work(knowledge_base_id="kb", job_of=name, seconds=96.0) for name in ("a", "b")]
    direct = [Work(knowledge_base_id="kb", job_of=None, seconds=1.0) for _ in range(100)]

    assert bound(jobs) == pytest.approx(2 * (4 + 96))
    assert bound(direct) == pytest.approx((100 + 10 * 4) / 10)
    assert bound(jobs + direct) == pytest.approx(200 + 14)


def test_the_benchmarks_queue_is_the_tests_queue() -> None:
    chance = random.Random(1)
    ours, theirs = AdmissionBook(), FakeAdmissionBook()

    for _ in range(300):
        waiter = any_waiter(chance)
        if chance.random() < 0.6:
            ours.enqueue(waiter)
            theirs.enqueue(waiter)
        else:
            assert ours.dequeue(waiter) == theirs.dequeue(waiter)

        for mode in Mode:
            assert ours.waiting("kb", mode, limit=3) == theirs.waiting("kb", mode, limit=3)


def any_waiter(chance: random.Random) -> Waiter:
    return Waiter(
        worklist_id=f"cat-{chance.randrange(5)}",
        epoch=1,
        knowledge_base_id="kb",
        mode=chance.choice(list(Mode)),
        since=START + timedelta(seconds=chance.randrange(4)),
        calls=1,
        token=f"token-{chance.randrange(2)}",
    )
