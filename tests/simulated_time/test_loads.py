"""What may be trusted of curves under load: of the ledger, of a knowledge base, of the uploads."""

import random

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
from benchmarks.observation import percentile
from benchmarks.registration import Outcome, Registration
from benchmarks.retrieval_world import World

# Runs that come for a grant.


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


def test_run_requests_are_limited_by_the_live_run_index() -> None:
    few, many = (asks(rate, worklists=100, seconds=5, seed=1) for rate in (500, 1_500))

    assert not few.bends
    assert many.bends


# Two hundred tenants at one knowledge base, one of whom floods it.

SECONDS, HEARD = 40.0, 5.0


def others_p99(world: World) -> float:
    """From the time on when the function's environments have heard of a flood."""
    return percentile(sorted(took for at, took in world.told[False].answered if at > HEARD), 0.99)


def test_flooding_tenant_is_shed_without_delaying_other_tenants() -> None:
    random.seed(1)  # of the pauses
    quiet, flooded = World(paced=True, seed=0), World(paced=True, seed=0)
    quiet.asked(SECONDS, 0.0)
    flooded.asked(SECONDS, 100.0)

    others, flooder = flooded.told[False], flooded.told[True]

    assert len(others.answered) == others.asked > 300
    assert others_p99(flooded) <= 2 * others_p99(quiet)
    assert flooder.wrong == others.wrong == 0
    assert 5 * SECONDS < len(flooder.answered) < 20 * SECONDS
    assert len(flooder.shed) > 60 * SECONDS
    assert all(each is not None and each >= 1 for each in flooder.shed)


def test_without_turns_a_flood_takes_it_all() -> None:
    flooded = World(paced=False, seed=0)

    flooded.asked(SECONDS, 100.0)

    assert len(flooded.told[False].answered) < flooded.told[False].asked / 2


# The upload handler over tables that take what DynamoDB's do.

FILES = 400


def registered(catalogs: int, *, one_by_one: bool) -> Outcome:
    return Registration(seed=1, memory=1_024, one_by_one=one_by_one).of(FILES, catalogs)


@pytest.mark.parametrize("catalogs", [1, 20])
def test_messages_beside_each_other_are_registered_sooner(catalogs: int) -> None:
    one_by_one, beside = (registered(catalogs, one_by_one=each) for each in (True, False))

    assert beside.rate > 2 * one_by_one.rate
    assert beside.again == 0
