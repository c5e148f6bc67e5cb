"""A whole reconciliation: nothing is found twice, it goes on where it stopped, or only tells."""

from functools import partial

import pytest

from stackroom.audits.discrepancies import Outcome
from stackroom.errors import StoreUnavailable
from tests.unit.pipeline import place_of
from tests.unit.reconciling import LONG, Reconciled

KEYS = [f"alice/research/{number}.txt" for number in range(7)]


@pytest.fixture
def world() -> Reconciled:
    return Reconciled()


def test_a_second_reconciliation_finds_nothing(world: Reconciled) -> None:
    wreck(world)
    first = world.found()
    settle(world)

    assert len(first) == 5
    assert world.found() == []


def test_a_dry_run_writes_nothing_and_tells_the_same(world: Reconciled) -> None:
    wreck(world)
    world.clock.pass_by(LONG)
    before = world.everything()

    planned = world.reconcile(dry_run=True)

    assert world.everything() == before
    assert {each.outcome for each in planned} == {Outcome.LEFT}
    real = world.reconcile()
    assert {each.outcome for each in real} == {Outcome.MENDED, Outcome.ASKED_FOR}
    assert [(each.kind, each.what) for each in planned] == [(each.kind, each.what) for each in real]


def test_it_goes_on_where_its_time_ran_out(world: Reconciled) -> None:
    wreck(world)
    whole = world.found(dry_run=True)
    pieces = []

    for _ in range(100):
        time_left = iter([True, False])
        pieces += list(world.reconciliation().go_on(has_time=partial(next, time_left)))
        if world.reconciliation().is_over:
            break

    assert [(each.kind, each.what) for each in pieces] == whole


def test_a_piece_that_was_cut_off_is_compared_anew(world: Reconciled) -> None:
    world.dropped_and_indexed(*KEYS)
    world.clock.pass_by(LONG)
    cut_off = StoreUnavailable("Scan", "InternalServerError")
    world.inventory.fails("indexed", cut_off, times=1)

    with pytest.raises(StoreUnavailable):
        world.reconcile()

    assert not world.reconciliation().is_over
    assert world.reconcile() == []
    assert world.reconciliation().is_over


def wreck(world: Reconciled) -> None:
    """Several things at once, in one catalog."""
    world.dropped_and_indexed(*KEYS)
    world.forget(KEYS[0])
    world.bucket.delete(KEYS[1])
    world.bucket.remove_sidecar(KEYS[2])
    world.bucket.upload(KEYS[3], "a newer version")
    world.bucket.write_sidecar("alice/research/never.txt", b"{}")


def settle(world: Reconciled) -> None:
    """What the runs that were asked for then do."""
    world.knowledge_base.forget(place_of(KEYS[1]).document_id)
    world.index(*KEYS)
    world.executions.ended.add(f"{world.worklist_of(KEYS[0])}-2")
