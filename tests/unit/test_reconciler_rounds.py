"""Whole rounds of the reconciler, what is looked at between two, and runs that ended silently."""

from functools import partial

import pytest

from stackroom.errors import StoreUnavailable
from stackroom.model.records import DataSource, DataSourceType
from stackroom.reconciler.discrepancies import BETWEEN, Kind, Outcome
from tests.unit.pipeline import CATALOG, KEY, place_of
from tests.unit.reconciling import LONG, Reconciled


def test_the_first_round_is_due_at_once_and_the_next_in_an_hour(world: Reconciled) -> None:
    assert world.reconciliation().is_due

    world.reconcile()

    assert not world.reconciliation().is_due
    world.clock.pass_by(BETWEEN.total_seconds() - 1)
    assert not world.reconciliation().is_due
    world.clock.pass_by(1)
    assert world.reconciliation().is_due


def test_between_rounds_a_catalog_unknown_to_the_shared_run_is_found(world: Reconciled) -> None:
    world.forgets_on_shared(KEY, beside="alice/letters/one.txt")

    assert world.found_between() == [(Kind.STALLED_DOCUMENT, KEY)]
    assert world.found_between() == []


SEVEN = [f"alice/research/{number}.txt" for number in range(7)]


def test_second_reconciliation_finds_no_discrepancy(world: Reconciled) -> None:
    wreck(world)
    first = world.found()
    settle(world)

    assert len(first) == 5
    assert world.found() == []


def test_dry_run_writes_nothing_and_reports_the_same(world: Reconciled) -> None:
    wreck(world)
    world.clock.pass_by(LONG)
    before = world.everything()

    planned = world.reconcile(dry_run=True)

    assert world.everything() == before
    assert {each.outcome for each in planned} == {Outcome.LEFT}
    real = world.reconcile()
    assert {each.outcome for each in real} == {Outcome.MENDED, Outcome.ASKED_FOR}
    assert [(each.kind, each.what) for each in planned] == [(each.kind, each.what) for each in real]


def test_reconciliation_resumes_where_its_time_ran_out(world: Reconciled) -> None:
    wreck(world)
    whole = world.found(dry_run=True)
    pieces = []

    for _ in range(100):
        time_left = iter([True, False])
        pieces += list(world.reconciliation().resume(has_time=partial(next, time_left)))
        if world.reconciliation().is_over:
            break

    assert [(each.kind, each.what) for each in pieces] == whole


def test_interrupted_piece_of_a_round_is_compared_again(world: Reconciled) -> None:
    world.dropped_and_indexed(*SEVEN)
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
    world.dropped_and_indexed(*SEVEN)
    world.forget(SEVEN[0])
    world.bucket.delete(SEVEN[1])
    world.bucket.remove_sidecar(SEVEN[2])
    world.bucket.upload(SEVEN[3], "a newer version")
    world.bucket.write_sidecar("alice/research/never.txt", b"{}")


def settle(world: Reconciled) -> None:
    """Carry out the requested runs."""
    world.knowledge_base.forget(place_of(SEVEN[1]).document_id)
    world.index(*SEVEN)
    world.executions.ended.add(f"{world.worklist_of(SEVEN[0])}-2")


HOURS = 48 * 3600.0


def make(
    world: Reconciled, name: str, source_type: DataSourceType = DataSourceType.CUSTOM
) -> DataSource:
    return world.bedrock.create(
        "KB1", name, source_type=source_type, prefix="alice/research/", token="t"
    )


def test_a_long_run_and_its_grant_are_left_alone(world: Reconciled) -> None:
    world.drop()
    world.clock.pass_by(HOURS)
    before_its_grant = world.found()
    world.work()

    assert before_its_grant == world.found() == []
    assert len(world.book.ledger.grants) == 1


def test_a_slot_held_for_a_catalog_that_is_gone_is_freed(world: Reconciled) -> None:
    world.slots.take("KB1", "cat-gone", limit=4)

    assert world.found() == [(Kind.UNUSED_SLOT, "KB1: cat-gone")]
    assert world.slots.holders("KB1") == frozenset()
    assert world.found() == []


def test_repair_that_changed_nothing_is_reported_as_failed(
    world: Reconciled, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.slots.take("KB1", "cat-gone", limit=4)
    monkeypatch.setattr(world.slots, "free", lambda *_: None)

    [found] = world.reconcile()

    assert found.outcome is Outcome.FAILED
    assert found.remedy.startswith("not mended, it is out of step again: ")


def test_a_data_source_whose_catalog_is_gone_is_deleted(world: Reconciled) -> None:
    name = f"notes-{CATALOG}"
    made = make(world, name).data_source_id

    told = world.found(dry_run=True)
    kept = world.bedrock.all("KB1")
    found = world.found()

    assert told == found == [(Kind.ORPHAN_DATA_SOURCE, f"KB1/{made} ({name})")]
    assert kept == {name: made}
    assert world.bedrock.all("KB1") == {}
    assert world.found() == []


def test_a_data_source_whose_catalog_is_just_being_opened_is_kept(world: Reconciled) -> None:
    made = make(world, f"notes-{CATALOG}", DataSourceType.S3).data_source_id

    def drop(*_: object, prefix: str = "", **__: object) -> None:
        if prefix == "alice/research/":
            world.drop()

    world.inventory.after("objects", drop)

    assert world.found() == []
    assert world.bedrock.all("KB1") == {f"notes-{CATALOG}": made}


@pytest.mark.parametrize("name", ["handbooks", "ds-abc", "research-cat-1"])
def test_foreign_data_source_is_ignored(world: Reconciled, name: str) -> None:
    make(world, name)

    assert world.found() == []


def test_undeletable_data_source_is_reported_with_a_remedy(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    made = str(world.catalogs.kept[CATALOG].data_source_id)
    world.inventory.statuses[made] = "DELETE_UNSUCCESSFUL"
    world.inventory.reasons[made] = ("Unable to delete data from vector store",)

    (found,) = world.reconcile()

    assert found.kind is Kind.BROKEN_DATA_SOURCE
    assert "Unable to delete data from vector store" in found.what
    assert "RETAIN" in found.remedy
    assert found.outcome is Outcome.LEFT


def test_unowned_data_source_in_use_is_left_for_the_next_round(world: Reconciled) -> None:
    name = f"notes-{CATALOG}"
    made = make(world, name).data_source_id
    # As while a job runs.
    world.bedrock.remove = lambda *_: False  # type: ignore[method-assign]

    [left] = world.reconcile()

    assert (left.outcome, left.what) == (Outcome.LEFT, f"KB1/{made} ({name})")
    assert left.remedy == "left for the next time: the knowledge base is in use"
