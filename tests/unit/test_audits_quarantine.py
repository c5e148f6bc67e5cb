"""Rejected files in the index: found by a search, whatever the knowledge base lists."""

import pytest

from stackroom.audits.discrepancies import Kind
from stackroom.model import DocumentStatus
from tests.fakes.clock import FakeClock
from tests.unit.pipeline import CATALOG, place_of
from tests.unit.reconciling import Reconciled

GOOD = "alice/research/report.txt"
REJECTED = "alice/research/report.doc"


@pytest.fixture
def world() -> Reconciled:
    return Reconciled(clock=FakeClock())


def indexed_as_nobodys(world: Reconciled, key: str, **attributes: object) -> None:
    place = place_of(key)
    world.knowledge_base.put(
        "a text",
        user_id="!rejected",
        catalog_id=place.catalog_id,
        filename=place.filename,
        key=key,
        attributes={"document_id": place.document_id, **attributes},
    )


def test_a_rejected_file_that_a_search_finds_is_taken_out_by_a_run(world: Reconciled) -> None:
    world.drop(REJECTED)
    indexed_as_nobodys(world, REJECTED)
    before = world.everything()

    told = world.found(dry_run=True)
    after_a_dry_run = world.everything()
    found = world.found()

    assert told == found == [(Kind.REJECTED_IN_INDEX, REJECTED)]
    assert after_a_dry_run == before
    assert world.document(REJECTED).lingering
    assert world.leases.kept[CATALOG].held


def test_one_of_an_earlier_sidecar_is_known_by_where_it_lies(world: Reconciled) -> None:
    world.drop(REJECTED)
    indexed_as_nobodys(world, REJECTED, catalog_id=None, document_id=None, filename=None)

    assert world.found() == [(Kind.REJECTED_IN_INDEX, REJECTED)]


def test_one_that_jobs_crawl_stays_as_nobodys() -> None:
    world = Reconciled(by_jobs=True)
    world.dropped_and_indexed(GOOD)
    world.drop(REJECTED)
    world.change(REJECTED, lingering=False)  # its run is over
    indexed_as_nobodys(world, REJECTED)
    world.says(REJECTED, "INDEXED")

    assert world.found() == []
    assert not world.document(REJECTED).lingering


def test_one_that_is_listed_is_taken_out_though_no_search_finds_it(world: Reconciled) -> None:
    world.dropped_and_indexed(GOOD)
    world.drop(REJECTED)
    world.says(REJECTED, "INDEXED")

    found = world.found()

    assert found == [(Kind.REJECTED_IN_INDEX, REJECTED)]
    assert world.document(REJECTED).lingering


def test_one_that_a_run_sees_to_is_in_good_hands(world: Reconciled) -> None:
    world.drop(REJECTED)
    world.change(REJECTED, lingering=True, updated_at=world.clock())
    indexed_as_nobodys(world, REJECTED)

    assert Kind.REJECTED_IN_INDEX not in [kind for kind, _ in world.found()]


def test_what_a_rejected_version_left_of_an_indexed_file_is_replaced(world: Reconciled) -> None:
    world.dropped_and_indexed(GOOD)
    indexed_as_nobodys(world, GOOD)

    found = world.found()

    assert found == [(Kind.REJECTED_IN_INDEX, GOOD)]
    assert world.document(GOOD).status is DocumentStatus.PENDING


def test_a_store_that_ignores_the_filter_tells_nothing(world: Reconciled) -> None:
    world.dropped_and_indexed(GOOD)
    world.knowledge_base.ignores_filters = True

    assert world.found() == [(Kind.NOT_COMPARED, "rejected files in KB1")]
