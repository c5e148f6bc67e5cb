"""Small books in the table: bookmark, receipts, results, sign-outs, worklists."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from stackroom.aws.dynamodb.bookmark import DynamoBookmark, DynamoIdParts
from stackroom.aws.dynamodb.inspection_records import DynamoInspections
from stackroom.aws.dynamodb.lease_records import DynamoWorklists
from stackroom.aws.dynamodb.receipt_records import DynamoReceipts
from stackroom.aws.dynamodb.user_records import DynamoSignOuts
from stackroom.model.records import Document
from stackroom.model.repositories import Inspected, InspectionResults, Receipts
from stackroom.runs.inventory import Bookmark, IdParts
from stackroom.runs.run_leases import WorklistEntry, Worklists
from stackroom.text.inspection import Inspections
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.inventory import FakeBookmark, FakeIdParts
from tests.fakes.pipeline import FakeInspectionResults, FakeInspections, FakeReceipts
from tests.fakes.worklists import FakeWorklists
from tests.support.records import NOW, a_document, a_receipt

LATER = NOW + timedelta(minutes=1)
SHARED = "shared-KB1"
OTHER = "shared-KB2"


@dataclass(frozen=True, kw_only=True)
class SmallStores:
    """`find` makes inspection results, as the inspection does."""

    bookmark: Bookmark
    ids: IdParts
    receipts: Receipts
    results: InspectionResults
    find: Callable[[Document, str], object]
    worklists: Worklists


@pytest.fixture(params=["fake", "dynamodb"])
def small_stores(request: pytest.FixtureRequest) -> SmallStores:
    if request.param == "fake":
        found = FakeInspectionResults()
        return SmallStores(
            bookmark=FakeBookmark(),
            ids=FakeIdParts(),
            receipts=FakeReceipts(),
            results=found,
            find=found.find,
            worklists=FakeWorklists(),
        )
    client = request.getfixturevalue("dynamodb")
    kept = DynamoInspections(client=client, table=CONTROL_TABLE)
    return SmallStores(
        bookmark=DynamoBookmark(client=client, table=CONTROL_TABLE),
        ids=DynamoIdParts(client=client, table=CONTROL_TABLE),
        receipts=DynamoReceipts(client=client, table=CONTROL_TABLE),
        results=kept,
        find=lambda document, why: kept.record(
            document.document_id, document.etag, Inspected(reason=why, gaps=(why,))
        ),
        worklists=DynamoWorklists(client=client, table=CONTROL_TABLE),
    )


@pytest.fixture
def receipts(small_stores: SmallStores) -> Receipts:
    return small_stores.receipts


@pytest.fixture
def worklists(small_stores: SmallStores) -> Worklists:
    return small_stores.worklists


def test_the_last_cursor_is_kept_until_it_is_taken_out(small_stores: SmallStores) -> None:
    cursors = [small_stores.bookmark.read()]

    for cursor in ("here", "there", None, None):
        small_stores.bookmark.keep(cursor)
        cursors.append(small_stores.bookmark.read())

    assert cursors == [None, "here", "there", None, None]


def test_parts_of_ids_come_back_as_kept_last_by_their_reading(small_stores: SmallStores) -> None:
    for reading, part, ids in (("a", 10, b"3"), ("a", 9, b"1"), ("b", 9, b"x"), ("a", 9, b"2")):
        small_stores.ids.keep(reading, part, ids)

    assert list(small_stores.ids.parts("a")) == [b"2", b"3"]
    assert list(small_stores.ids.parts("none")) == []


def test_the_latest_moment_is_kept_for_its_user_alone(dynamodb: Any) -> None:
    kept = DynamoSignOuts(client=dynamodb, table=CONTROL_TABLE)

    before = kept.get("alice")
    kept.keep("alice", NOW)
    kept.keep("alice", NOW - timedelta(microseconds=1))
    first = kept.get("alice")
    kept.keep("alice", NOW + timedelta(seconds=1))

    assert before is None
    assert first == NOW
    assert kept.get("alice") == NOW + timedelta(seconds=1)
    assert kept.get("bob") is None


def test_a_receipt_reads_back_whole_and_no_other(receipts: Receipts) -> None:
    receipts.keep(a_receipt(1))

    assert receipts.get("alice", a_receipt(1).receipt_id) == a_receipt(1)
    assert receipts.get("alice", a_receipt(2).receipt_id) is None
    assert receipts.get("bob", a_receipt(1).receipt_id) is None


def test_receipt_saved_again_has_the_last_state(receipts: Receipts) -> None:
    receipts.keep(a_receipt())
    times = {"searchable_before": NOW, "not_found_at": LATER, "unsearchable_since": LATER}
    closed = a_receipt().model_copy(update=times)

    receipts.keep(closed)

    assert receipts.get("alice", closed.receipt_id) == closed
    assert list(receipts.of_user("alice")) == [closed]


@pytest.mark.parametrize("how", ["unsearchable_since", "superseded_at"])
def test_closed_receipt_is_not_changed(receipts: Receipts, how: str) -> None:
    closed = a_receipt().model_copy(update={how: NOW})
    receipts.keep(closed)

    receipts.keep(a_receipt())
    receipts.keep(a_receipt().model_copy(update={"unsearchable_since": LATER}))

    assert receipts.get("alice", closed.receipt_id) == closed


def test_a_user_sees_the_own_receipts_the_newest_first(receipts: Receipts) -> None:
    for number in (2, 1, 3):
        receipts.keep(a_receipt(number))
    receipts.keep(a_receipt(4, user_id="bob"))

    listed = list(receipts.of_user("alice"))

    assert listed == [a_receipt(3), a_receipt(2), a_receipt(1)]
    assert list(receipts.of_user("carol")) == []


def test_inspection_results_are_found_by_document_and_its_version(
    small_stores: SmallStores,
) -> None:
    small_stores.find(a_document(1, etag="etag-1"), "the PDF is encrypted")
    small_stores.find(a_document(2, etag="of the old"), "the PDF is damaged")

    old = small_stores.results.results_for(
        [a_document(1, etag="etag-1"), a_document(2, etag="of the old")]
    )
    new = small_stores.results.results_for(
        [a_document(1, etag="etag-1"), a_document(2, etag="of the new"), a_document(3, etag="any")]
    )

    encrypted, damaged = (
        Inspected(reason=each, gaps=(each,))
        for each in ("the PDF is encrypted", "the PDF is damaged")
    )
    assert old == {"doc-0001": encrypted, "doc-0002": damaged}
    assert new == {"doc-0001": encrypted}
    assert small_stores.results.results_for([]) == {}


@pytest.fixture(params=["fake", "dynamodb"])
def inspections(request: pytest.FixtureRequest) -> Inspections:
    if request.param == "fake":
        return FakeInspections()
    return DynamoInspections(client=request.getfixturevalue("dynamodb"), table=CONTROL_TABLE)


def test_inspection_result_reads_back_whole_and_names_the_text_before(
    inspections: Inspections,
) -> None:
    first = Inspected(version_id="v1", text_id="t1", text_tokens=7, title_words="a b", gaps=("c",))
    defect = Inspected(version_id="v2", reason="no text", illegible="no text")

    before = [
        inspections.record("doc-0001", "e1", first),
        inspections.record("doc-0001", "e1", first),
        inspections.record("doc-0001", "e2", defect),
        inspections.record("doc-0001", "e1", first),
    ]

    found = inspections.results_for([a_document(1, etag="e1")])
    assert before == [None, "t1", "t1", None]
    assert found == {"doc-0001": first}
    assert type(found["doc-0001"].text_tokens) is int
    assert inspections.results_for([a_document(1, etag="e2")]) == {}


def test_inspection_result_that_is_forgotten_is_found_no_more(inspections: Inspections) -> None:
    inspections.record("doc-0001", "e1", Inspected(text_id="t1"))

    for _ in range(2):
        inspections.forget("doc-0001")

    assert inspections.results_for([a_document(1, etag="e1")]) == {}


def test_documents_beyond_one_request_are_all_reported(small_stores: SmallStores) -> None:
    documents = [a_document(number, etag=f"etag-{number}") for number in range(120)]
    for document in documents:
        small_stores.find(document, f"of {document.document_id}")

    reasons = small_stores.results.results_for(document for document in documents)

    assert reasons == {
        each.document_id: Inspected(reason=why, gaps=(why,))
        for each in documents
        if (why := f"of {each.document_id}")
    }


def add(worklists: Worklists, *catalog_ids: str) -> None:
    for catalog_id in catalog_ids:
        worklists.add(SHARED, catalog_id)


def listed(worklists: Worklists, *, after: str | None = None, limit: int = 100) -> list[str]:
    return [each.catalog_id for each in worklists.entries(SHARED, after=after, limit=limit)]


def only(worklists: Worklists) -> WorklistEntry:
    [entry] = worklists.entries(SHARED, limit=100)
    return entry


def test_worklist_lists_its_catalogs_once_by_id_in_pages(
    worklists: Worklists,
) -> None:
    before = listed(worklists)

    add(worklists, "cat-c", "cat-a", "cat-b", "cat-a")

    assert before == []
    assert listed(worklists) == ["cat-a", "cat-b", "cat-c"]
    assert listed(worklists, limit=2) == ["cat-a", "cat-b"]
    assert listed(worklists, after="cat-b", limit=2) == ["cat-c"]
    assert listed(worklists, after="cat-c", limit=2) == []
    assert list(worklists.entries(OTHER, limit=100)) == []


def test_worklist_entry_requested_again_since_its_reading_stays(worklists: Worklists) -> None:
    add(worklists, "cat-a", "cat-b")
    read, _ = worklists.entries(SHARED, limit=100)
    add(worklists, "cat-a")

    assert not worklists.remove_if_unchanged(SHARED, read)

    news, _ = worklists.entries(SHARED, limit=100)
    assert news.stamp != read.stamp
    assert worklists.remove_if_unchanged(SHARED, news)
    assert listed(worklists) == ["cat-b"]


def test_worklist_entry_dropped_and_requested_again_stays(worklists: Worklists) -> None:
    add(worklists, "cat-a")
    read = only(worklists)
    worklists.remove_if_unchanged(SHARED, read)
    add(worklists, "cat-a")

    assert not worklists.remove_if_unchanged(SHARED, read)

    assert listed(worklists) == ["cat-a"]
