"""Records, objects and sidecars that disagree, and rejected files that a search finds."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stackroom.model.catalog_counts import counts_in
from stackroom.model.keys import (
    SIDECAR_SUFFIX,
    TextName,
)
from stackroom.model.records import CatalogStatus, DocumentStatus
from stackroom.reconciler.discrepancies import Kind, Outcome
from stackroom.runs.evidence import MAX_ATTEMPTS
from tests.unit.pipeline import CATALOG, KEY
from tests.unit.reconciling import LONG, Reconciled

Look = Callable[[Reconciled], list[tuple[Kind, str]]]
UNFINISHED = (DocumentStatus.PENDING, DocumentStatus.INDEXING)


IN_A_ROUND_OR_BETWEEN = pytest.mark.parametrize(
    "look", [Reconciled.found, Reconciled.found_between]
)


@IN_A_ROUND_OR_BETWEEN
@pytest.mark.parametrize("status", UNFINISHED)
def test_stalled_document_gets_a_run_once_none_could_be_coming(
    world: Reconciled, status: DocumentStatus, look: Look
) -> None:
    world.dropped_and_indexed(KEY)
    world.clock.pass_by(LONG)
    world.change(KEY, status=status, updated_at=world.clock())

    at_once = world.reconcile()
    between = world.reconciliation().check_between_rounds(has_time=lambda: True)

    assert at_once == [*between] == []
    assert look(world) == [(Kind.STALLED_DOCUMENT, KEY)]
    assert world.leases.kept[CATALOG].held
    assert look(world) == []


def test_empty_catalog_whose_deletion_no_run_ends_gets_one(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.bucket.empty()
    world.loses(KEY)
    world.documents.remove(world.document())
    world.catalogs.mark_deleting(CATALOG, at=world.clock())

    assert world.found() == [(Kind.STALLED_CATALOG, CATALOG)]
    assert world.leases.kept[CATALOG].held
    assert world.found() == []


@pytest.mark.parametrize(
    ("attempts", "expected"), [(0, [(Kind.STALLED_DOCUMENT, KEY)]), (MAX_ATTEMPTS, [])]
)
def test_rejected_file_that_may_be_found_gets_some_runs_and_no_more(
    world: Reconciled, attempts: int, expected: list[tuple[Kind, str]]
) -> None:
    world.dropped_and_indexed(KEY)
    world.loses(KEY)
    rejected = {"status": DocumentStatus.FAILED, "reason": "it is locked", "lingering": True}
    world.change(KEY, **rejected, attempts=attempts, updated_at=world.clock())

    assert world.found_between() == expected


def test_document_that_its_run_finished_meanwhile_has_not_stalled(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.change(KEY, status=DocumentStatus.PENDING, updated_at=world.clock())
    world.documents.after("open_in", lambda *_, **__: world.requests.ask(CATALOG), times=1)

    assert world.found_between() == []


def test_file_unread_for_a_quarter_of_an_hour_is_to_be_read_once_more(world: Reconciled) -> None:
    world.findings.everything = False
    world.drop(KEY)
    world.clock.pass_by(14 * 60)
    too_soon = world.reconcile()
    world.clock.pass_by(60)

    rehearsed = world.reconcile(dry_run=True)
    asked_before = list(world.readings.asked)
    told = world.reconcile()

    assert too_soon == []
    kinds = [(each.kind, each.what, each.outcome) for each in (*rehearsed, *told)]
    assert kinds == [
        (Kind.UNREAD_FILE, KEY, Outcome.LEFT),
        (Kind.UNREAD_FILE, KEY, Outcome.ASKED_FOR),
    ]
    assert (asked_before, world.readings.asked) == ([], [KEY])
    assert world.executions.started == {}


def test_unread_file_is_asked_for_at_once_after_a_power_cut(world: Reconciled) -> None:
    world.findings.everything = False
    world.drop(KEY)
    world.clock.pass_by(1)

    list(world.reconciliation(idle_before=world.clock()).resume())

    assert world.readings.asked == [KEY]


def test_file_of_a_lost_event_is_to_be_read_in_the_round_that_finds_it(world: Reconciled) -> None:
    world.findings.everything = False
    world.bucket.upload(KEY)
    world.clock.pass_by(LONG)

    [rehearsed] = world.reconcile(dry_run=True)
    asked_before = list(world.readings.asked)
    told = world.reconcile()

    assert rehearsed.remedy.endswith("have the file read")
    assert [(each.kind, each.outcome) for each in told] == [
        (Kind.OBJECT_WITHOUT_RECORD, Outcome.MENDED)
    ]
    assert (asked_before, world.readings.asked) == ([], [KEY])
    assert world.document().unread


@IN_A_ROUND_OR_BETWEEN
def test_run_that_ended_silently_gets_a_successor(world: Reconciled, look: Look) -> None:
    world.drop()
    world.executions.ended.add(f"{CATALOG}-1")
    world.clock.pass_by(48 * 3600)

    assert look(world) == [(Kind.DEAD_RUN, f"{CATALOG}-1")]
    assert f"{CATALOG}-2" in world.executions.started
    assert (world.leases.kept[CATALOG].epoch, world.leases.kept[CATALOG].failures) == (2, 1)
    assert look(world) == []


def test_catalog_whose_deletion_stopped_half_way_is_reopened(world: Reconciled) -> None:
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


def test_catalog_with_wrong_counters_is_recounted(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    right = counts_in(world.catalogs.kept[CATALOG])
    wrong = {"document_count": 7, "total_bytes": 1, "failed_count": 3}
    world.catalogs.kept[CATALOG] = world.catalogs.kept[CATALOG].model_copy(update=wrong)

    dry = world.found(dry_run=True)
    found = world.found()

    assert dry == found == [(Kind.WRONG_COUNTS, CATALOG)]
    assert counts_in(world.catalogs.kept[CATALOG]) == right
    assert world.found() == []


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


def test_an_object_whose_event_was_lost_is_registered_and_gets_a_run(world: Reconciled) -> None:
    world.bucket.upload(KEY)

    assert world.found() == [(Kind.OBJECT_WITHOUT_RECORD, KEY)]
    assert world.document().status is DocumentStatus.PENDING
    assert world.leases.kept[CATALOG].held


def test_a_young_object_may_still_have_its_event_under_way(world: Reconciled) -> None:
    world.clock.pass_by(LONG)
    world.bucket.upload(KEY)

    assert world.reconcile() == []
    assert world.documents.kept == {}


def test_unchanged_rejected_and_internal_objects_are_no_discrepancy(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    world.drop("alice/research/setup.exe")
    world.clock.pass_by(1)
    world.bucket.upload(KEY)
    world.bucket.upload("alice/research/", "")
    world.bucket.upload(TextName("alice", f"cat-{'0' * 24}", f"doc-{'0' * 24}", "0" * 16).key)

    assert world.found() == []
    world.bucket.upload("alice/research/")
    assert world.found() == [(Kind.OBJECT_WITHOUT_RECORD, "alice/research/")]


def test_a_sidecar_without_its_document_is_removed(world: Reconciled) -> None:
    world.bucket.write_sidecar(KEY, b"{}")

    assert world.found() == [(Kind.SIDECAR_WITHOUT_OBJECT, f"{KEY}.metadata.json")]
    assert world.bucket.sidecars == {}


@pytest.mark.parametrize("is_lost", [True, False])
def test_missing_object_is_reported_lost_unless_its_deletion_was_seen(
    world: Reconciled, is_lost: bool
) -> None:
    world.dropped_and_indexed(KEY)
    (world.bucket.lose if is_lost else world.bucket.delete)(KEY)
    world.clock.pass_by(LONG)

    planned, told = world.reconcile(dry_run=True), world.reconcile()

    [receipt] = world.receipts.of_user("alice")
    assert receipt.lost is is_lost
    assert ("keep a receipt of its loss" in planned[0].remedy) is is_lost
    assert told[0].remedy.startswith("lost, for no deletion of it was seen: ") is is_lost
    assert world.document().status is DocumentStatus.DELETING


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


@settings(max_examples=50)
@given(data=st.data())
def test_second_reconciliation_finds_nothing_whatever_the_keys(data: st.DataObject) -> None:
    world = Reconciled(page=data.draw(st.integers(1, 4)), capacity=data.draw(st.integers(1, 4)))
    for key in data.draw(st.sets(ODD_KEYS, max_size=8)):
        if key.endswith(SIDECAR_SUFFIX):
            world.bucket.write_sidecar(key.removesuffix(SIDECAR_SUFFIX), b"{}")
        else:
            world.bucket.upload(key)
    world.found()

    assert world.found() == []


GOOD = "alice/research/report.txt"
REJECTED = "alice/research/report.doc"


def test_rejected_file_listed_as_indexed_is_removed_though_not_found(world: Reconciled) -> None:
    world.dropped_and_indexed(GOOD)
    world.drop(REJECTED)
    world.says(REJECTED, "INDEXED")

    found = world.found()

    assert found == [(Kind.REJECTED_IN_INDEX, REJECTED)]
    assert world.document(REJECTED).lingering


def test_junk_in_the_bucket_is_no_discrepancy(world: Reconciled) -> None:
    world.dropped_and_indexed(KEY)
    for key in ("alice/research/.DS_Store", "alice/.DS_Store", "Thumbs.db", "bob/home/._a.txt"):
        world.bucket.upload(key)

    assert world.found(dry_run=True) == []
    assert world.found() == []
    assert len(world.catalogs.kept) == len(world.documents.kept) == 1


TWIN, OTHER_TWIN = "alice/research/Ma\u0308rz.txt", "alice/research/M\u00e4rz.txt"


@pytest.mark.parametrize(("first", "second"), [(TWIN, OTHER_TWIN), (OTHER_TWIN, TWIN)])
def test_two_keys_of_a_name_are_no_discrepancy_while_one_is_rejected(
    world: Reconciled, first: str, second: str
) -> None:
    world.dropped_and_indexed(first)
    world.drop(second, "another")

    assert world.found() == []

    world.bucket.upload(first, "an event of it was lost")
    assert world.found() == [(Kind.STALE_RECORD, first)]
    world.bucket.delete(first)
    assert {what for _, what in world.found()} <= {first, second}
    assert world.document(first).s3_key == second


def test_junk_that_jobs_crawl_is_quarantined_by_the_reconciler() -> None:
    world = Reconciled(by_jobs=True)
    world.dropped_and_indexed(KEY)
    junk = "alice/research/._report.pdf"
    world.bucket.upload(junk)

    assert world.found() == []

    assert world.bucket.sidecar_attributes(junk)["user_id"] == "!rejected"
