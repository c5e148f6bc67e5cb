"""Runs that ended without a word, and what they still hold."""

import pytest

from stackroom.audits.discrepancies import Kind, Outcome
from stackroom.model import DataSource, DataSourceType
from tests.unit.pipeline import CATALOG, KEY
from tests.unit.reconciling import Reconciled

HOURS = 48 * 3600.0


@pytest.fixture
def world() -> Reconciled:
    return Reconciled()


def make(
    world: Reconciled, name: str, source_type: DataSourceType = DataSourceType.CUSTOM
) -> DataSource:
    return world.bedrock.create(
        "KB1", name, source_type=source_type, prefix="alice/research/", token="t"
    )


def test_a_run_that_ended_without_a_word_is_followed(world: Reconciled) -> None:
    world.drop()
    world.executions.ended.add(f"{CATALOG}-1")
    world.clock.pass_by(HOURS)

    assert world.found() == [(Kind.DEAD_RUN, f"{CATALOG}-1")]
    assert world.leases.kept[CATALOG].epoch == 2
    assert f"{CATALOG}-2" in world.executions.started
    assert world.leases.kept[CATALOG].failures == 1
    assert world.found() == []


def test_the_grant_of_a_dead_run_is_given_back(world: Reconciled) -> None:
    world.drop()
    world.work()
    world.executions.ended.add(f"{CATALOG}-1")

    assert (Kind.DEAD_GRANT, f"KB1 shared: {CATALOG}-1") in world.found()
    assert world.book.ledger.grants == ()


def test_a_long_run_and_its_grant_are_left_alone(world: Reconciled) -> None:
    world.drop()
    world.clock.pass_by(HOURS)
    before_its_grant = world.found()
    world.work()

    assert before_its_grant == world.found() == []
    assert len(world.book.ledger.grants) == 1


def test_the_position_of_a_dead_run_in_the_queue_is_given_up() -> None:
    world = Reconciled(by_jobs=True)
    world.drop()
    world.work()
    other = world.drop("bob/notes/file.txt").run_for
    assert other is not None
    world.execute(other)
    world.executions.ended.add(f"{other}-1")

    assert (Kind.DEAD_WAITER, f"KB1 exclusive: {other}-1") in world.found()
    assert world.book.places == {}


def test_a_slot_held_for_a_catalog_that_is_gone_is_freed(world: Reconciled) -> None:
    world.slots.take("KB1", "cat-gone", limit=4)

    assert world.found() == [(Kind.UNUSED_SLOT, "KB1: cat-gone")]
    assert world.slots.taken("KB1") == 0
    assert world.found() == []


def test_a_lost_slot_is_free_again_once_there_is_room_for_a_data_source(world: Reconciled) -> None:
    handbooks = make(world, "handbooks")
    world.slots.take("KB1", "cat-refused", limit=4)
    world.slots.exhaust("KB1", "cat-refused")

    while_they_are_there = world.found()
    world.bedrock.remove("KB1", handbooks.data_source_id)

    assert while_they_are_there == []
    assert world.found() == [(Kind.LOST_SLOT, "KB1: !lost-cat-refused")]
    assert world.slots.taken("KB1") == 0
    assert world.found() == []


@pytest.mark.parametrize("name", [f"research-{CATALOG}", CATALOG])
def test_a_slot_whose_data_source_is_still_there_is_kept(world: Reconciled, name: str) -> None:
    world.slots.take("KB1", CATALOG, limit=4)
    make(world, name)

    assert [kind for kind, _ in world.found()] == [Kind.ORPHAN_DATA_SOURCE]
    assert world.slots.holders("KB1") == {CATALOG}


def test_a_slot_about_to_be_used_is_kept(world: Reconciled) -> None:
    world.drop()
    world.slots.take("KB1", CATALOG, limit=4)

    assert world.found() == []


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
        if prefix:
            world.drop()

    world.inventory.after("objects", drop)

    assert world.found() == []
    assert world.bedrock.all("KB1") == {f"notes-{CATALOG}": made}


def test_a_data_source_in_use_is_left_for_the_next_time(world: Reconciled) -> None:
    name = f"notes-{CATALOG}"
    made = make(world, name).data_source_id
    # As while a job runs.
    world.bedrock.remove = lambda *_: False  # type: ignore[method-assign]

    [left] = world.reconcile()

    assert (left.outcome, left.what) == (Outcome.LEFT, f"KB1/{made} ({name})")
    assert left.remedy == "left for the next time: the knowledge base is in use"


def test_a_data_source_whose_name_tells_no_catalog_is_reported_and_kept(world: Reconciled) -> None:
    name = f"ds-{'0' * 32}"
    made = make(world, name).data_source_id

    found = world.found()

    assert found == [(Kind.ORPHAN_DATA_SOURCE, f"KB1/{made} ({name})")]
    assert world.bedrock.all("KB1") == {name: made}
    assert f"--knowledge-base-id KB1 --data-source-id {made}" in world.reconcile()[0].remedy


@pytest.mark.parametrize("name", ["handbooks", "ds-abc", "research-cat-1"])
def test_a_data_source_of_others_is_none_of_our_business(world: Reconciled, name: str) -> None:
    make(world, name)

    assert world.found() == []


def test_a_data_source_that_stays_is_reported_with_what_to_do(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    made = str(world.catalogs.kept[CATALOG].data_source_id)
    world.inventory.statuses[made] = "DELETE_UNSUCCESSFUL"
    world.inventory.reasons[made] = ("Unable to delete data from vector store",)

    (found,) = world.reconcile()

    assert found.kind is Kind.BROKEN_DATA_SOURCE
    assert "Unable to delete data from vector store" in found.what
    assert "RETAIN" in found.remedy
    assert found.outcome is Outcome.LEFT
