"""The product under simulated time, at small size: what a benchmark of it may be trusted with."""

import random

import pytest

from benchmarks.passage import CASES, Case, passage
from benchmarks.removals import delete_storm
from benchmarks.scenarios import large_documents, parked, settle
from benchmarks.shapes import SOURCES, Design, Shape, put_under
from benchmarks.stage import Stage
from benchmarks.traffic import Traffic
from benchmarks.worlds import WORLDS


def test_the_same_seed_is_the_same_run() -> None:
    planned = Traffic(random.Random(7)).burst(30, 6, within=20)

    first, second = (settle(Stage(seed=7), planned) for _ in range(2))

    assert first.observation.waits == second.observation.waits
    assert first.bill == second.bill


def test_large_document_delays_no_small_ones_and_jobs_by_itself_at_most() -> None:
    outcome = large_documents(large=3, seconds=600, seed=1)

    siblings = sorted(outcome.observation.waits["user-4/shelf"])
    of_jobs = [max(outcome.observation.waits[f"user-{each}/shelf"]) for each in range(4)]
    assert (outcome.lost, outcome.false_failures, outcome.broken) == (0, 0, 0)
    assert len(siblings) == 1 + 12 + 3
    assert siblings[12] < 60
    assert max(of_jobs) < 600 + 180
    assert siblings[-1] < 3 * (600 + 180 + 300)


@pytest.mark.parametrize("pool_size", [1, 5])
def test_after_many_deletions_no_search_finds_anything(pool_size: int) -> None:
    removal = delete_storm(60, 6, seed=1, pool_size=pool_size)

    assert len(removal.unsearchable) == len(removal.receipted) == removal.asked == 60
    assert removal.bound <= removal.bound_of_calls
    assert removal.bound <= removal.last
    assert all(
        seen <= said for seen, said in zip(removal.unsearchable, removal.receipted, strict=True)
    )


def test_run_that_waits_ten_hours_passes_few_more_states_than_a_minute() -> None:
    minute, _ = parked(60, seed=1)
    ten_hours, _ = parked(36_000, seed=1)

    assert ten_hours - minute <= 2


@pytest.mark.parametrize("sources", SOURCES)
@pytest.mark.parametrize(
    "shape",
    [
        Shape(uploads=12, catalogs=6, within=5),
        Shape(uploads=40, catalogs=4, within=20, large=1),
        Shape(uploads=8, catalogs=4, apart=30),
        Shape(uploads=20, catalogs=4, within=5, half_broken=True),
    ],
    ids=lambda shape: shape.name,
)
def test_no_design_is_faster_than_the_bound_in_any_world(shape: Shape, sources: str) -> None:
    for seed, (world, pool_size) in enumerate(zip(WORLDS, (1, 2, 6, 1, 2, 1, 2), strict=True)):
        design = Design(catalog_data_sources=sources, pool_size=pool_size)
        figures = put_under(shape, design, world, seed)

        by_limits, with_latency = figures.bounds
        assert 0 < by_limits <= with_latency <= figures.settled


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_way_of_one_file_takes_longer_than_bedrock_by_itself(case: Case) -> None:
    found = passage(case, seed=1)

    assert found.queued < found.recorded < found.called < found.searchable
    assert found.searchable - found.called >= found.own - 0.2
    assert found.reported > found.called
