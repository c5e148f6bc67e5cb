from datetime import timedelta

import pytest

from stackroom.errors import CatalogNotFound, DocumentNotFound, RecordChanged
from stackroom.model.keys import Unplaced, locate
from stackroom.model.records import CatalogStatus, Document, DocumentStatus
from tests.fakes.pipeline import PAGE
from tests.unit.pipeline import CATALOG, EXE, KEY, Pipeline, document_at, place_of, receipts_of

DOCUMENT = place_of(KEY).document_id


def dropped(pipeline: Pipeline, count: int) -> list[str]:
    keys = [f"alice/research/{number:02}.txt" for number in range(count)]
    for key in keys:
        pipeline.drop(key)
    return keys


def test_a_deleted_document_loses_its_object_and_has_a_receipt(indexed: Pipeline) -> None:
    asked_before = indexed.leases.kept[CATALOG].requested

    receipt = indexed.deletions.delete_document("alice", CATALOG, DOCUMENT)

    assert KEY not in indexed.bucket.objects
    assert indexed.document().status is DocumentStatus.DELETING
    assert indexed.document().receipt_id == receipt.receipt_id
    assert receipt.is_open
    assert receipt.searchable_before is not None
    assert indexed.leases.kept[CATALOG].requested == asked_before + 1


@pytest.mark.parametrize("key", ["stray.txt", "alice/stray.txt", "alice/re_search/x.txt"])
def test_an_object_that_belongs_to_no_catalog_is_removed_with_its_record(
    pipeline: Pipeline, key: str
) -> None:
    pipeline.drop(key)
    location = locate(key)
    assert isinstance(location, Unplaced)
    assert pipeline.documents.get(location.partition, location.document_id) is not None

    pipeline.deletions.delete_unplaced(key)
    pipeline.deletions.delete_unplaced(key)

    assert key not in pipeline.bucket.objects
    assert pipeline.documents.get(location.partition, location.document_id) is None


def test_a_removal_that_the_event_has_followed_has_the_same_receipt(filled: Pipeline) -> None:
    def follow_to_the_end(key: str) -> None:
        filled.deliver(key)
        filled.documents.remove(filled.document())

    filled.bucket.after("remove", follow_to_the_end)
    receipt = filled.deletions.delete_document("alice", CATALOG, DOCUMENT)

    assert list(filled.receipts.kept.values()) == [receipt]
    assert receipt.is_open


def test_a_removal_asked_for_again_has_one_receipt_though_it_ends(filled: Pipeline) -> None:
    first = filled.deletions.delete_document("alice", CATALOG, DOCUMENT)
    again = filled.deletions.delete_document("alice", CATALOG, DOCUMENT)
    filled.clock.pass_by(3600)
    filled.bucket.before("head", lambda _: filled.documents.kept.clear(), times=1)
    as_it_ends = filled.deletions.delete_document("alice", CATALOG, DOCUMENT)

    assert first == again == as_it_ends
    assert list(filled.receipts.kept.values()) == [first]


def test_upload_that_was_not_yet_registered_is_deleted_at_once(filled: Pipeline) -> None:
    key = "alice/research/new.txt"
    until = filled.clock() + timedelta(minutes=15)
    announced = document_at(key, status=DocumentStatus.UPLOADING, upload_until=until, etag="")
    filled.documents.save(announced)
    filled.bucket.upload(key, "on its way")

    receipt = filled.deletions.delete_document("alice", CATALOG, announced.document_id)
    filled.deliver(key)  # late

    assert key not in filled.bucket.objects
    assert filled.documents.get(CATALOG, announced.document_id) is None
    assert (receipt.is_open, receipt.superseded_at) == (False, None)
    assert receipt.unsearchable_since is not None


def test_a_document_dropped_again_meanwhile_has_a_superseded_receipt(filled: Pipeline) -> None:
    filled.bucket.after("remove", lambda key: filled.bucket.upload(key, "other"))
    receipt = filled.deletions.delete_document("alice", CATALOG, DOCUMENT)

    assert receipt.superseded_at is not None
    assert receipt.unsearchable_since is None
    assert filled.document().etag == "etag of other"
    assert filled.document().receipt_id is None


@pytest.mark.parametrize(("user_id", "catalog_id"), [("bob", CATALOG), ("alice", "cat-none")])
def test_foreign_or_missing_catalog_or_document_is_not_found(
    filled: Pipeline, user_id: str, catalog_id: str
) -> None:
    with pytest.raises(CatalogNotFound, match="not found"):
        filled.deletions.delete_document(user_id, catalog_id, DOCUMENT)
    with pytest.raises(CatalogNotFound, match="not found"):
        filled.deletions.delete_catalog(user_id, catalog_id)
    with pytest.raises(DocumentNotFound, match="Document 'doc-none' not found in catalog"):
        filled.deletions.delete_document("alice", CATALOG, "doc-none")

    assert filled.document().status is DocumentStatus.PENDING
    assert filled.catalogs.kept[CATALOG].status is CatalogStatus.INDEXING


def test_a_deleted_catalog_loses_every_object_and_waits_for_its_run(pipeline: Pipeline) -> None:
    keys = dropped(pipeline, 7)
    pipeline.drop("alice/law/kept.txt")

    deletion = pipeline.deletions.delete_catalog("alice", CATALOG)

    assert list(pipeline.bucket.objects) == ["alice/law/kept.txt"]
    assert list(pipeline.bucket.sidecars) == ["alice/law/kept.txt"]
    assert pipeline.catalogs.kept[CATALOG].status is CatalogStatus.DELETING
    assert {pipeline.document(key).status for key in keys} == {DocumentStatus.DELETING}
    assert deletion.receipt_ids == tuple(sorted(str(pipeline.document(k).receipt_id) for k in keys))
    assert (deletion.documents, deletion.size) == (7, 28)


def test_a_deleted_catalog_loses_folders_of_its_name_in_other_encodings(
    pipeline: Pipeline,
) -> None:
    keys = ["alice/B\u00fcro/a.txt", "alice/Bu\u0308ro/b.txt", "alice/B\u00fcro\u200b/c.txt"]
    for key in (*keys, "alice/Buro/kept.txt"):
        pipeline.drop(key)
    catalog_id = pipeline.document(keys[0]).catalog_id

    deletion = pipeline.deletions.delete_catalog("alice", catalog_id)

    assert list(pipeline.bucket.objects) == ["alice/Buro/kept.txt"]
    assert list(pipeline.bucket.sidecars) == ["alice/Buro/kept.txt"]
    assert {pipeline.document(key).status for key in keys} == {DocumentStatus.DELETING}
    assert len(deletion.receipt_ids) == 3


def test_catalog_deletion_resumes_after_a_crash(pipeline: Pipeline) -> None:
    keys = dropped(pipeline, 7)

    def crash(document: Document) -> None:
        if document.filename == "03.txt":
            raise ConnectionError

    crashes = pipeline.documents.before("save", crash)
    with pytest.raises(ConnectionError):
        pipeline.deletions.delete_catalog("alice", CATALOG)
    crashes.end()
    deletion = pipeline.deletions.delete_catalog("alice", CATALOG)

    assert not pipeline.bucket.objects
    assert {pipeline.document(key).status for key in keys} == {DocumentStatus.DELETING}
    assert len(deletion.receipt_ids) == len(pipeline.receipts.kept) == 7


def test_deletion_of_a_large_catalog_resumes_after_its_timeout(pipeline: Pipeline) -> None:
    keys = dropped(pipeline, 3 * PAGE)
    pipeline.documents.fails("of_catalog", AssertionError("it was read whole"))
    # A page that the bucket purges takes more time than there is.
    pipeline.bucket.before("remove", lambda _: pipeline.clock.pass_by(pipeline.deletions.seconds))

    first = pipeline.deletions.delete_catalog("alice", CATALOG)
    left = len(pipeline.bucket.objects)
    others = [pipeline.deletions.delete_catalog("alice", CATALOG) for _ in range(9)]

    assert not first.is_asked_for
    assert (first.documents, left) == (9, 7)
    assert [each.is_asked_for for each in others] == [False] * 3 + [True] * 6
    assert not pipeline.bucket.objects
    assert {pipeline.document(key).status for key in keys} == {DocumentStatus.DELETING}
    assert pipeline.catalogs.kept[CATALOG].status is CatalogStatus.DELETING


def test_document_added_after_a_deletion_request_stays(pipeline: Pipeline) -> None:
    dropped(pipeline, 2)
    pipeline.catalogs.mark_deleting(CATALOG, at=pipeline.clock())
    pipeline.clock.pass_by(3600)
    pipeline.bucket.upload("alice/research/new.txt")  # its event is on its way

    pipeline.deletions.delete_catalog("alice", CATALOG)

    assert list(pipeline.bucket.objects) == ["alice/research/new.txt"]


def test_late_event_of_a_deleted_object_does_not_reopen_the_catalog(pipeline: Pipeline) -> None:
    dropped(pipeline, 4)

    def late_event(_: Document) -> None:
        pipeline.uploads.reconcile("alice/research/03.txt")  # it still lies there

    pipeline.documents.before("save", late_event, times=1)
    pipeline.deletions.delete_catalog("alice", CATALOG)

    assert not pipeline.bucket.objects
    assert pipeline.catalogs.kept[CATALOG].status is CatalogStatus.DELETING


def test_a_file_dropped_during_a_deletion_is_kept_with_the_catalog(filled: Pipeline) -> None:
    new = "alice/research/new.txt"

    def drop_another(document: Document) -> None:
        if document.status is DocumentStatus.DELETING:
            dropping.end()
            filled.drop(new)

    dropping = filled.documents.before("save", drop_another)

    deletion = filled.deletions.delete_catalog("alice", CATALOG)

    assert deletion.documents == 1
    assert filled.document().status is DocumentStatus.DELETING
    assert filled.catalogs.kept[CATALOG].status is CatalogStatus.INDEXING
    assert filled.document(new).status is DocumentStatus.PENDING
    assert filled.bucket.head(new) is not None


def test_catalog_unmarked_on_every_try_is_not_reported_as_deleted(filled: Pipeline) -> None:
    filled.catalogs.after("mark_deleting", filled.catalogs.unmark_deleting)

    with pytest.raises(RecordChanged):
        filled.deletions.delete_catalog("alice", CATALOG)


def test_document_dropped_in_the_second_of_the_request_stays(pipeline: Pipeline) -> None:
    old = dropped(pipeline, 3)
    new = "alice/research/new.txt"
    pipeline.bucket.after("versions_since", lambda *_: pipeline.bucket.upload(new), times=1)

    pipeline.deletions.delete_catalog("alice", CATALOG)

    assert new in pipeline.bucket.objects
    assert not {*old} & {*pipeline.bucket.objects}


def test_object_dated_later_than_our_clock_is_removed_with_its_catalog(pipeline: Pipeline) -> None:
    pipeline.clock.pass_by(2)
    pipeline.bucket.upload(KEY)
    pipeline.clock.pass_by(-2)

    pipeline.deliver()
    pipeline.deletions.delete_catalog("alice", CATALOG)

    assert pipeline.bucket.objects == {}


def test_a_removed_object_is_deleted_with_one_receipt(indexed: Pipeline) -> None:
    indexed_at = indexed.document().indexed_at

    reconciled = indexed.delete()
    asked_at = indexed.clock()
    indexed.deliver()

    (receipt,) = receipts_of(indexed)
    assert indexed.document().status is DocumentStatus.DELETING
    assert KEY not in indexed.bucket.sidecars
    assert reconciled.run_for == CATALOG
    assert receipt.receipt_id == indexed.document().receipt_id == reconciled.receipt_id
    assert (receipt.asked_at, receipt.searchable_before) == (asked_at, indexed_at)
    assert (receipt.is_open, receipt.filename) == (True, "report.pdf")


@pytest.mark.parametrize(
    ("port", "write", "nth"),
    [("documents", "save", 1), ("receipts", "keep", 1), ("documents", "save", 2)],
    ids=["before naming", "before keeping", "before deleting"],
)
def test_a_removal_goes_on_with_its_receipt_after_a_crash(
    filled: Pipeline, port: str, write: str, nth: int
) -> None:
    filled.bucket.delete(KEY)
    writes: list[object] = []

    def crash(*given: object) -> None:
        writes.append(given)
        if len(writes) == nth:
            raise ConnectionError

    getattr(filled, port).before(write, crash)
    with pytest.raises(ConnectionError):
        filled.deliver()
    named = filled.document()
    filled.deliver()

    (receipt,) = receipts_of(filled)
    assert named.status is DocumentStatus.PENDING
    assert named.receipt_id in ({None} if (port, nth) == ("documents", 1) else {receipt.receipt_id})
    assert filled.document().status is DocumentStatus.DELETING
    assert filled.document().receipt_id == receipt.receipt_id


def test_an_upload_supersedes_a_receipt_and_another_removal_has_its_own(filled: Pipeline) -> None:
    filled.delete()

    filled.drop()
    (superseded,), dropped_at = receipts_of(filled), filled.clock()
    document = filled.document()
    filled.delete()

    assert superseded.superseded_at == dropped_at
    assert (document.receipt_id, document.status) == (None, DocumentStatus.PENDING)
    assert [each.is_open for each in receipts_of(filled)] == [True, False]


def test_a_receipt_kept_too_late_opens_nothing_that_was_superseded(filled: Pipeline) -> None:
    filled.bucket.delete(KEY)

    filled.receipts.before("keep", lambda _: filled.drop(), times=1)
    filled.deliver()

    (receipt,) = receipts_of(filled)
    assert receipt.superseded_at is not None
    assert filled.document().status is DocumentStatus.PENDING


def test_a_file_that_came_back_and_went_again_has_another_receipt(filled: Pipeline) -> None:
    filled.delete()
    filled.bucket.upload(KEY)
    filled.documents.fails("save", ConnectionError(), times=1)
    with pytest.raises(ConnectionError):
        filled.deliver()

    filled.delete()

    newest, first = receipts_of(filled)
    assert first.superseded_at is not None
    assert newest.is_open
    assert filled.document().receipt_id == newest.receipt_id


def test_a_removal_whose_receipt_a_crash_left_closed_goes_on_with_it(pipeline: Pipeline) -> None:
    pipeline.drop(EXE)
    pipeline.documents.fails("remove", ConnectionError(), times=1)
    with pytest.raises(ConnectionError):
        pipeline.delete(EXE)

    again = pipeline.uploads.reconcile(EXE)

    (receipt,) = receipts_of(pipeline)
    assert again.receipt_id == receipt.receipt_id
    assert pipeline.documents.kept == {}


def test_a_removal_whose_catalog_is_lost_has_it_opened_to_end(indexed: Pipeline) -> None:
    asked = indexed.delete()
    indexed.catalogs.lose()

    goes_on = indexed.uploads.reconcile(KEY)

    assert goes_on.receipt_id == asked.receipt_id
    assert goes_on.run_for == CATALOG
    assert indexed.catalogs.kept[CATALOG].s3_prefix == "alice/research/"
    assert indexed.document().status is DocumentStatus.DELETING
