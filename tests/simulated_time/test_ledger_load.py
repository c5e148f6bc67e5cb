"""Runs that come for a grant: what a curve of the ledger may be trusted with."""

import pytest

from benchmarks.hot_items import asks
from benchmarks.ledger_load import (
    PER_CATALOG,
    PER_WORKLIST,
    Curve,
    LedgerLoad,
    Style,
    limits_times,
)


def point(style: Style, rate: float, *, pool: int = 1, factor: int = 1, **how: bool) -> Curve:
    load = LedgerLoad(style=style, pool=pool, limits=limits_times(factor), seed=1, **how)
    return load.at(rate, seconds=60)


@pytest.mark.parametrize("style", [PER_CATALOG, PER_WORKLIST])
def test_a_few_documents_are_granted_and_done_and_nobody_is_in_the_way(style: Style) -> None:
    curve = point(style, 0.5)

    assert not curve.bends
    assert curve.given_up == curve.throttled == 0
    assert curve.served > 0
    assert curve.left <= 8  # what came within the last call's time is at work yet


def test_queues_read_one_after_the_other_bend_the_ledger_of_a_large_pool() -> None:
    as_it_is = point(PER_CATALOG, 1.5, pool=20)
    at_once = point(PER_CATALOG, 1.5, pool=20, reads_at_once=True)

    assert as_it_is.bends
    assert not at_once.bends


def test_a_run_for_many_documents_writes_the_ledger_less_often() -> None:
    alone, together = (point(style, 1.5) for style in (PER_CATALOG, PER_WORKLIST))

    assert together.writes_per_document < alone.writes_per_document / 5


def test_requests_for_runs_are_limited_by_what_the_index_of_live_ones_takes() -> None:
    few, many = (asks(rate, worklists=100, seconds=5, seed=1) for rate in (500, 1_500))

    assert not few.bends
    assert many.bends
