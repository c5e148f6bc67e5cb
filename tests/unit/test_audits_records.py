"""Records that nobody works on, and records of objects that are gone."""

import pytest

from stackroom.audits.discrepancies import Kind
from stackroom.counting import counts_in
from stackroom.model import CatalogStatus, DocumentStatus
from stackroom.settlement.verdicts import MAX_ATTEMPTS
from tests.unit.pipeline import CATALOG, KEY
from tests.unit.reconciling import LONG, Reconciled

UNFINISHED = (DocumentStatus.PENDING, DocumentStatus.INDEXING)


@pytest.fixture
def world() -> Reconciled:
    return Reconciled()


@pytest.mark.parametrize("status", UNFINISHED)
def test_a_document_that_no_run_works_on_gets_one_unless_it_may_be_about_to(
    world: Reconciled, status: DocumentStatus
) -> None:
    world.dropped_and_indexed(KEY)
    world.clock.pass_by(LONG)
    world.change(KEY, status=status, updated_at=world.clock())

    at_once = world.reconcile()

    assert at_once == []
    assert world.found() == [(Kind.STALLED_DOCUMENT, KEY)]
    assert world.leases.kept[CATALOG].held
    assert world.found() == []


def test_a_rejected_file_that_may_be_found_gets_some_runs_and_no_more(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    rejected = {"status": DocumentStatus.FAILED, "status_reason": "too large", "lingering": True}
    world.change(KEY, **rejected, attempts=MAX_ATTEMPTS)
    assert world.found() == []

    world.change(KEY, attempts=1)

    assert world.found() == [(Kind.STALLED_DOCUMENT, KEY)]


def test_a_catalog_that_no_run_works_on_gets_one(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.stays_indexing(CATALOG)

    assert world.found() == [(Kind.STALLED_CATALOG, CATALOG)]
    assert world.leases.kept[CATALOG].held


def test_a_catalog_whose_deletion_stopped_half_way_is_open_again(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.catalogs.mark_deleting(CATALOG, at=world.clock())

    assert world.found() == [(Kind.HALF_DELETED_CATALOG, CATALOG)]
    assert world.catalogs.kept[CATALOG].status is CatalogStatus.READY
    assert world.found() == []


def test_a_record_without_catalog_and_object_is_forgotten(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.bucket.empty()
    world.loses(KEY)
    world.catalogs.lose()

    found = world.found()

    assert (Kind.RECORD_WITHOUT_CATALOG, KEY) in found
    assert world.documents.kept == {}


@pytest.mark.parametrize("status", [DocumentStatus.PENDING, DocumentStatus.INDEXED])
def test_an_unlisted_record_is_listed_and_counted(
    world: Reconciled, status: DocumentStatus
) -> None:
    world.dropped_and_indexed(KEY)
    unlisted = {"status": status, "opened_at": None, "counted": None}
    document = world.document(KEY).model_copy(update=unlisted)
    world.documents.kept[(document.catalog_id, document.document_id)] = document
    nothing = {"document_count": 0, "total_bytes": 0}
    world.catalogs.kept[CATALOG] = world.catalogs.kept[CATALOG].model_copy(update=nothing)

    found = world.found()

    is_open = status is DocumentStatus.PENDING
    catalog = world.catalogs.kept[CATALOG]
    assert found == [(Kind.UNLISTED_DOCUMENT, KEY)]
    assert len(list(world.documents.open_in(CATALOG))) == is_open
    assert (catalog.document_count, catalog.waiting_count) == (1, is_open)
    assert world.leases.kept[CATALOG].held == is_open


def test_a_catalog_that_counts_what_it_does_not_hold_is_counted_anew(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    right = counts_in(world.catalogs.kept[CATALOG])
    wrong = {"document_count": 7, "total_bytes": 1, "failed_count": 3}
    world.catalogs.kept[CATALOG] = world.catalogs.kept[CATALOG].model_copy(update=wrong)

    dry = world.found(dry_run=True)
    found = world.found()

    assert dry == found == [(Kind.WRONG_COUNTS, CATALOG)]
    assert counts_in(world.catalogs.kept[CATALOG]) == right
    assert world.found() == []
