"""The product under simulated time, at small size: what a benchmark of it may be trusted with."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from benchmarks.passage import CASES, Case, passage
from benchmarks.removals import delete_storm
from benchmarks.rivals import rival, rival_burst
from benchmarks.scenarios import burst, large_documents, parked, settle, trickle
from benchmarks.shapes import FULL, OURS, QUICK, Shape, put_under
from benchmarks.stage import Stage
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


@pytest.mark.parametrize(("design", "pool_size"), [(OURS, 1), (OURS, 5), ("naive", 1)])
def test_a_storm_of_deletions_leaves_nothing_to_be_found(design: str, pool_size: int) -> None:
    removal = delete_storm(60, 6, seed=1, design=design, pool_size=pool_size)

    assert len(removal.unsearchable) == len(removal.receipted) == removal.asked == 60
    assert removal.bound <= removal.bound_of_calls
    assert removal.bound <= removal.last
    assert all(
        seen <= said for seen, said in zip(removal.unsearchable, removal.receipted, strict=True)
    )


def test_a_run_that_waits_ten_hours_goes_through_few_more_states_than_one_of_a_minute() -> None:
    minute, _ = parked(60, seed=1)
    ten_hours, _ = parked(36_000, seed=1)

    assert ten_hours - minute <= 2


def test_the_usual_design_fails_documents_that_are_searchable() -> None:
    outcome = rival_burst("usual", 60, 6, within=20, seed=1)

    assert outcome.false_failures > 0
    assert outcome.lost == 0


def test_the_naive_design_loses_nothing_tells_nothing_untrue_and_has_one_sync_at_a_time() -> None:
    outcome = rival_burst("naive", 60, 6, within=20, seed=1)

    assert (outcome.lost, outcome.false_failures, outcome.broken) == (0, 0, 0)
    assert len(outcome.observation.all_waits()) == 60
    started = outcome.bill.accepted["StartIngestionJob"]
    assert started == outcome.bill.calls["StartIngestionJob"]
    assert 2 <= started <= 5


def test_the_naive_design_starts_once_more_for_what_came_during_a_sync() -> None:
    [first, second] = Shape(uploads=2, catalogs=2, apart=6).planned(seed=1)

    outcome = rival("naive", [first, second], seed=1)

    assert outcome.bill.accepted["StartIngestionJob"] == 2
    assert outcome.lost == 0


@pytest.mark.parametrize("design", [OURS, "naive", "usual"])
@pytest.mark.parametrize(
    "shape",
    [
        Shape(uploads=12, catalogs=6, within=5),
        Shape(uploads=40, catalogs=4, within=20, large=1),
        Shape(uploads=8, catalogs=4, apart=30),
    ],
    ids=lambda shape: shape.name,
)
def test_no_design_is_faster_than_the_bound(shape: Shape, design: str) -> None:
    for seed, pool_size in ((1, 1), (2, 2), (3, 6)):
        figures = put_under(shape, design, pool_size, seed)

        by_limits, with_latency = figures.bounds
        assert 0 < by_limits <= with_latency <= figures.settled


def test_a_large_file_counts_apart_from_its_catalogs_others() -> None:
    planned = Shape(uploads=10, catalogs=2, within=5, large=1).planned(seed=1)

    seen = settle(Stage(seed=1), planned).observation

    assert [len(each) for each in seen.waits.values()] == [5, 5]
    assert len(seen.of_large) == 1
    assert len(seen.all_waits()) == 11


def test_both_lists_of_shapes_have_all_that_ours_must_beat_the_naive_design_at() -> None:
    names = [{each.name for each in shapes if "naive" in each.rivals} for shapes in (QUICK, FULL)]

    for name in (
        "50 into 10 within 5 s",
        "24 into 12 within 5 s",
        "120 into 12, one each 30 s",
        "500 into 50 within 60 s",
    ):
        assert all(name in each for each in names)
    assert "5,000 into 50 within 60 s" in names[1]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_way_of_one_file_takes_longer_than_bedrock_by_itself(case: Case) -> None:
    found = passage(case, seed=1)

    assert found.heard < found.recorded < found.told < found.searchable
    assert found.searchable - found.told >= found.own - 0.2
    assert found.said > found.told


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
