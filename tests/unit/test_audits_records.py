"""Records that nobody works on, and records of objects that are gone."""

import pytest

from stackroom.audits.discrepancies import Kind
from stackroom.model import CatalogStatus, DocumentStatus
from stackroom.ports.worklists import Entry
from stackroom.runs.worklists import shared_worklist
from stackroom.settlement.verdicts import MAX_ATTEMPTS
from tests.unit.pipeline import CATALOG, KEY, place_of
from tests.unit.reconciling import LONG, SHARED, Reconciled

OTHER = "alice/research/other.pdf"
UNFINISHED = (DocumentStatus.PENDING, DocumentStatus.INDEXING)


@pytest.fixture
def world() -> Reconciled:
    return Reconciled()


@pytest.mark.parametrize("status", UNFINISHED)
def test_a_document_that_no_run_works_on_gets_one(
    world: Reconciled, status: DocumentStatus
) -> None:
    world.dropped_and_indexed(KEY)
    world.change(KEY, status=status)

    assert world.found() == [(Kind.STALLED_DOCUMENT, KEY)]
    assert world.leases.kept[CATALOG].held
    assert world.found() == []


def test_a_deletion_that_no_run_works_on_gets_one(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.uploads.bucket.remove_sidecar(KEY)
    world.bucket.delete(KEY)
    world.change(KEY, status=DocumentStatus.DELETING)

    assert world.found() == [(Kind.STALLED_DOCUMENT, KEY)]
    assert world.leases.kept[CATALOG].held


def test_a_document_that_changed_a_moment_ago_may_be_about_to_get_its_run(
    world: Reconciled,
) -> None:
    world.dropped_and_indexed(KEY)
    world.clock.pass_by(LONG)
    world.change(KEY, status=DocumentStatus.PENDING, updated_at=world.clock())

    assert world.reconcile() == []


def test_a_rejected_file_that_may_still_be_found_gets_a_run_until_that_was_tried_often_enough(
    world: Reconciled,
) -> None:
    world.dropped_and_indexed(KEY)
    rejected = {"status": DocumentStatus.FAILED, "status_reason": "too large", "lingering": True}
    world.change(KEY, **rejected, attempts=MAX_ATTEMPTS)
    assert world.found() == []

    world.change(KEY, attempts=1)

    assert world.found() == [(Kind.STALLED_DOCUMENT, KEY)]


def test_a_catalog_that_no_run_works_on_gets_one(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    indexing = {"status": CatalogStatus.INDEXING, "updated_at": world.clock()}
    world.catalogs.kept[CATALOG] = world.catalogs.kept[CATALOG].model_copy(update=indexing)

    assert world.found() == [(Kind.STALLED_CATALOG, CATALOG)]
    assert world.leases.kept[CATALOG].held


def test_an_emptied_catalog_that_no_run_takes_down_gets_one(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.forget(KEY)
    world.bucket.empty()
    world.bedrock.forget()
    world.catalogs.mark_deleting(CATALOG, at=world.clock())

    assert world.found() == [(Kind.STALLED_CATALOG, CATALOG)]
    assert world.leases.kept[CATALOG].held


def test_a_catalog_whose_deletion_stopped_half_way_is_open_again(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.catalogs.mark_deleting(CATALOG, at=world.clock())

    assert world.found() == [(Kind.HALF_DELETED_CATALOG, CATALOG)]
    assert world.catalogs.kept[CATALOG].status is CatalogStatus.READY
    assert world.found() == []


def test_a_catalog_whose_objects_are_all_gone_is_emptied(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY, OTHER)
    world.bucket.empty()

    assert sorted(world.found()) == [
        (Kind.RECORD_WITHOUT_OBJECT, OTHER),
        (Kind.RECORD_WITHOUT_OBJECT, KEY),
    ]
    assert world.document(KEY).status is DocumentStatus.DELETING
    assert world.document(OTHER).status is DocumentStatus.DELETING


def test_a_record_without_catalog_and_object_is_forgotten(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.bucket.empty()
    world.bedrock.forget()
    world.catalogs.lose()

    found = world.found()

    assert (Kind.RECORD_WITHOUT_CATALOG, KEY) in found
    assert world.documents.kept == {}


def test_an_unplaced_object_whose_object_is_gone_is_forgotten(world: Reconciled) -> None:
    world.drop("alice/loose.txt")
    world.bucket.delete("alice/loose.txt")

    assert world.found() == [(Kind.UNPLACED_WITHOUT_OBJECT, "alice/loose.txt")]
    assert world.documents.kept == {}


def test_a_catalog_that_the_shared_run_does_not_know_of_is_made_known_to_it(
    world: Reconciled,
) -> None:
    others = "alice/letters/one.txt"
    for key in (KEY, others):
        world.lives_on(SHARED, key)
        world.requests.ask(place_of(key).catalog_id)
    shared = shared_worklist("KB1")
    forgotten = next(each for each in world.worklists.entries(shared, limit=2) if is_of(each, KEY))
    world.worklists.drop(shared, forgotten)

    assert world.found() == [(Kind.STALLED_DOCUMENT, KEY)]
    assert [each.catalog_id for each in world.worklists.entries(shared, limit=9)] == sorted(
        place_of(key).catalog_id for key in (KEY, others)
    )
    assert world.found() == []


def is_of(entry: Entry, key: str) -> bool:
    return entry.catalog_id == place_of(key).catalog_id
