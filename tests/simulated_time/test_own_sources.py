"""A catalog with a data source of its own, in simulated time: one sync, then whatever is sooner."""

import random

from benchmarks.scenarios import settle
from benchmarks.stage import Stage
from benchmarks.traffic import Traffic, Upload

JOBS, CALLS = "StartIngestionJob", "IngestKnowledgeBaseDocuments"


def a_file(name: str, at: float) -> Upload:
    return Upload(at=at, key=f"alice/shelf/{name}.txt", size=1_000, etag=name)


def test_after_its_first_sync_single_files_go_by_direct_calls() -> None:
    stage = Stage(seed=1, own_first=True)

    outcome = settle(stage, [a_file(f"{minute}", minute * 120.0) for minute in range(5)])

    accepted = stage.account.bill.accepted
    assert (accepted[JOBS], accepted[CALLS]) == (1, 4)
    assert outcome.observation.waiting == 0
    assert (outcome.lost, outcome.false_failures, outcome.broken, outcome.dead_letters) == (0,) * 4


def test_a_burst_into_own_and_shared_data_sources_loses_nothing() -> None:
    planned = Traffic(random.Random(3)).burst(100, 10, within=60)
    stage = Stage(seed=3, pool_size=2, own_first=True)

    outcome = settle(stage, planned)

    accepted = stage.account.bill.accepted
    assert accepted[JOBS] >= 8  # each data source of a catalog's own was synced
    assert accepted[CALLS] > 0
    assert (outcome.lost, outcome.false_failures, outcome.broken, outcome.dead_letters) == (0,) * 4
