"""The product under simulated time, at small size: what a benchmark of it may be trusted with."""

import random

from benchmarks.scenarios import large_documents, parked, settle
from benchmarks.stage import Stage
from benchmarks.traffic import Traffic


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


def test_run_that_waits_ten_hours_passes_few_more_states_than_a_minute() -> None:
    minute, _ = parked(60, seed=1)
    ten_hours, _ = parked(36_000, seed=1)

    assert ten_hours - minute <= 2
