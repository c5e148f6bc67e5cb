"""Objects, sidecars and records that disagree; what is young or in order is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stackroom.audits.discrepancies import Kind
from stackroom.keys import SIDECAR_SUFFIX
from stackroom.model import DocumentStatus
from tests.unit.pipeline import CATALOG, KEY
from tests.unit.reconciling import LONG, Reconciled

KEYS = [f"alice/research/{number}.txt" for number in range(9)]

LONGEST = "alice/research/" + "a" * 1005 + ".txt"

_PARTS = ("", ".", "..", "....", "a", "\x07", "\n", "é", "e\u0301", "x.txt", "!")
ODD_KEYS = st.just(LONGEST) | st.builds(
    lambda user, folder, parts, suffix: "/".join((user, folder, *parts)) + suffix,
    st.sampled_from(("alice", "", "!")),
    st.sampled_from(("research", "Research", "research-2", "", "cat-0123456789abcdef01234567")),
    st.lists(st.sampled_from(_PARTS), max_size=3),
    st.sampled_from(("", ".txt", "/", SIDECAR_SUFFIX)),
)


@pytest.fixture
def world() -> Reconciled:
    return Reconciled()


def test_an_object_whose_event_was_lost_is_registered_and_gets_a_run(world: Reconciled) -> None:
    world.bucket.upload(KEY)

    assert world.found() == [(Kind.OBJECT_WITHOUT_RECORD, KEY)]
    assert world.document().status is DocumentStatus.PENDING
    assert world.leases.kept[CATALOG].held


@pytest.mark.parametrize("capacity", [1, 3, 100])
def test_every_object_is_found_however_few_are_held_at_a_time(capacity: int) -> None:
    world = Reconciled(capacity=capacity)
    for key in KEYS:
        world.bucket.upload(key)

    found = world.found()

    assert sorted(found) == [(Kind.OBJECT_WITHOUT_RECORD, key) for key in KEYS]
    assert world.leases.kept[CATALOG].epoch == 1


def test_a_young_object_may_still_have_its_event_under_way(world: Reconciled) -> None:
    world.clock.pass_by(LONG)
    world.bucket.upload(KEY)

    assert world.reconcile() == []
    assert world.documents.kept == {}


def test_what_is_as_it_was_rejected_or_no_document_is_no_disagreement(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.drop("alice/research/setup.exe")
    world.clock.pass_by(1)
    world.bucket.upload(KEY)
    world.bucket.upload("alice/research/")
    world.bucket.upload("_pagemaps/doc-1.json.gz")

    assert world.found() == []


def test_a_sidecar_without_its_document_is_removed(world: Reconciled) -> None:
    world.bucket.write_sidecar(KEY, b"{}")

    assert world.found() == [(Kind.SIDECAR_WITHOUT_OBJECT, f"{KEY}.metadata.json")]
    assert world.bucket.sidecars == {}


def test_a_deleted_object_is_deleted_from_the_index_too(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY, KEYS[0])
    world.bucket.delete(KEY)

    assert world.found() == [(Kind.RECORD_WITHOUT_OBJECT, KEY)]
    assert world.document().status is DocumentStatus.DELETING
    assert world.document().receipt_id is not None
    assert world.leases.kept[CATALOG].held


def test_an_object_that_came_back_during_its_deletion_is_registered(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.delete()
    world.bucket.upload(KEY)

    assert (Kind.STALE_RECORD, KEY) in world.found()
    assert world.document().status is DocumentStatus.PENDING


def test_a_lost_catalog_is_opened_again_and_its_documents_stay(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY, *KEYS)
    world.catalogs.lose()

    found = world.found()

    assert [kind for kind, _ in found] == [Kind.OBJECT_WITHOUT_RECORD, Kind.WRONG_COUNTS]
    assert world.catalogs.kept[CATALOG].s3_prefix == "alice/research/"
    assert world.leases.kept[CATALOG].held  # for the run that gives it its place again
    assert all(world.document(key).status is DocumentStatus.INDEXED for key in (KEY, *KEYS))


def test_what_a_limit_keeps_out_is_recorded_once_and_taken_later(world: Reconciled) -> None:
    world.catalogs.limit = 0
    for key in KEYS:
        world.bucket.upload(key)
    assert len(world.found()) == len(KEYS)
    assert world.found() == []

    world.catalogs.limit = 1

    assert len(world.found()) == len(KEYS)
    assert {each.catalog_id for each in world.documents.kept.values()} == {CATALOG}


@given(data=st.data())
def test_whatever_the_keys_are_a_second_reconciliation_finds_nothing(data: st.DataObject) -> None:
    world = Reconciled(page=data.draw(st.integers(1, 4)), capacity=data.draw(st.integers(1, 4)))
    for key in data.draw(st.sets(ODD_KEYS, max_size=8)):
        if key.endswith(SIDECAR_SUFFIX):
            world.bucket.write_sidecar(key.removesuffix(SIDECAR_SUFFIX), b"{}")
        else:
            world.bucket.upload(key)
    world.found()

    assert world.found() == []
