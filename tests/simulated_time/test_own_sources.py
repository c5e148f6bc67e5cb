"""Catalogs with data sources of their own, in simulated time, by direct calls and by jobs."""

import random

import pytest

from benchmarks.scenarios import settle
from benchmarks.stage import Stage
from benchmarks.traffic import Traffic

JOBS, CALLS = "StartIngestionJob", "IngestKnowledgeBaseDocuments"


@pytest.mark.parametrize(("chosen", "jobs"), [("custom", 0), ("s3", 8), ("shared", 0)])
def test_a_burst_into_own_and_shared_data_sources_loses_nothing(chosen: str, jobs: int) -> None:
    planned = Traffic(random.Random(3)).burst(100, 10, within=60)
    stage = Stage(seed=3, pool_size=2, catalog_data_sources=chosen)

    outcome = settle(stage, planned)

    accepted = stage.account.bill.accepted
    assert accepted[JOBS] >= jobs
    assert accepted[CALLS] > 0  # two catalogs share data sources, at least
    assert (outcome.lost, outcome.false_failures, outcome.broken, outcome.dead_letters) == (0,) * 4
