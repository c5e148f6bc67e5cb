"""Every `Documents` keeps a document's open item and its catalog's counts with the document."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from stackroom.aws.dynamodb.catalog_records import DynamoCatalogRegister
from stackroom.aws.dynamodb.document_names import DynamoStayingDocuments
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.errors import RecordChanged
from stackroom.model.catalog_counts import Counts, counts_in
from stackroom.model.keys import unplaced_partition
from stackroom.model.records import (
    NOT_BY_FOLDER,
    NOT_BY_THEIRS,
    CapKind,
    Catalog,
    CatalogStatus,
    Document,
    DocumentStatus,
)
from stackroom.model.repositories import (
    CatalogRegister,
    DocumentNotes,
    Documents,
    StayingDocuments,
)
from tests.aws.stores import CATALOG_TABLE, CONTROL_TABLE
from tests.fakes.pipeline import FakeCatalogs, FakeDocuments
from tests.support.records import NOW, a_catalog
from tests.support.records import a_document as a_document_of_cat_1

CATALOG = "cat-alice-1"
LATER = NOW + timedelta(minutes=1)
LATEST = NOW + timedelta(minutes=2)
FAILED = DocumentStatus.FAILED
INDEXED = DocumentStatus.INDEXED


@dataclass(frozen=True)
class CountedStores:
    documents: Documents
    catalogs: CatalogRegister
    staying: StayingDocuments

    @property
    def catalog(self) -> Catalog:
        catalog = self.catalogs.get(CATALOG)
        assert catalog is not None
        return catalog

    @property
    def counts(self) -> tuple[int, int, int, int, int]:
        """Documents, bytes, those that failed, those that wait, those that are open."""
        catalog = self.catalog
        totals = (catalog.document_count, catalog.total_bytes)
        return (*totals, catalog.failed_count, catalog.waiting_count, catalog.open_count)

    @property
    def open_ids(self) -> list[str]:
        return [each.document_id for each in self.documents.open_in(CATALOG)]

    @property
    def failed_ids(self) -> list[str]:
        return [each.document_id for each in self.documents.failed_in(CATALOG)]


@pytest.fixture(params=["fake", "dynamodb"])
def counted_stores(request: pytest.FixtureRequest) -> CountedStores:
    """An empty catalog in each store."""
    if request.param == "fake":
        catalogs = FakeCatalogs()
        documents = FakeDocuments(catalogs)
        counted_stores = CountedStores(documents, catalogs, documents)
    else:
        client = request.getfixturevalue("dynamodb")
        counted_stores = CountedStores(
            DynamoDocuments(client=client, table=CATALOG_TABLE),
            DynamoCatalogRegister(client=client, table=CATALOG_TABLE, control_table=CONTROL_TABLE),
            DynamoStayingDocuments(client=client, table=CATALOG_TABLE),
        )
    counted_stores.catalogs.open(a_catalog())
    return counted_stores


def a_document(number: int = 1, size: int = 10, **fields: Any) -> Document:
    return a_document_of_cat_1(number, **{"catalog_id": CATALOG, "size": size, **fields})


def failed(document: Document, **fields: Any) -> Document:
    return document.moved(FAILED, at=LATER, reason="no text").model_copy(update=fields)


def indexed(document: Document) -> Document:
    return document.moved(INDEXED, at=LATER)


def test_document_is_open_and_counted_from_registration_until_indexed(
    counted_stores: CountedStores,
) -> None:
    pending = counted_stores.documents.save(a_document(updated_at=LATER))
    registered = counted_stores.open_ids, counted_stores.counts, counted_stores.catalog
    indexing = counted_stores.documents.save(pending.moved(DocumentStatus.INDEXING, at=LATEST))
    while_indexing = counted_stores.open_ids, counted_stores.counts
    done = counted_stores.documents.save(indexed(indexing))

    assert pending.opened_at == indexing.opened_at == LATER
    assert registered[:2] == while_indexing == (["doc-0001"], (1, 10, 0, 1, 1))
    assert (registered[2].status, registered[2].updated_at) == (CatalogStatus.INDEXING, LATER)
    assert (done.opened_at, counted_stores.open_ids) == (None, [])
    assert counted_stores.counts == (1, 10, 0, 0, 0)
    # One built anew carries what is counted of the record that it replaces, and has its own size.
    first = counted_stores.documents.save(a_document(2))
    anew = a_document(2, size=4, updated_at=LATEST).following(first)
    second = counted_stores.documents.save(anew)
    assert second.opened_at == first.opened_at
    assert (counted_stores.open_ids, counted_stores.counts) == (["doc-0002"], (2, 14, 0, 1, 1))


def test_deleting_document_is_open_and_not_counted(counted_stores: CountedStores) -> None:
    saved = counted_stores.documents.save(indexed(counted_stores.documents.save(a_document())))

    deleting = counted_stores.documents.save(saved.moved(DocumentStatus.DELETING, at=LATER))
    while_deleting = counted_stores.open_ids, counted_stores.counts
    counted_stores.documents.remove(deleting)

    assert while_deleting == (["doc-0001"], (0, 0, 0, 0, 1))
    assert (counted_stores.open_ids, counted_stores.counts) == ([], (0, 0, 0, 0, 0))
    assert counted_stores.catalog.status is CatalogStatus.READY


def test_failed_document_is_counted_and_listed_until_it_is_retried(
    counted_stores: CountedStores,
) -> None:
    one = counted_stores.documents.save(failed(counted_stores.documents.save(a_document())))
    counted_stores.documents.save(indexed(counted_stores.documents.save(a_document(2))))
    while_failed = counted_stores.failed_ids, counted_stores.counts

    counted_stores.documents.save(one.moved(DocumentStatus.PENDING, at=LATEST))

    assert while_failed == (["doc-0001"], (2, 20, 1, 0, 0))
    assert (counted_stores.failed_ids, counted_stores.counts) == ([], (2, 20, 0, 1, 1))


def test_a_rejected_file_whose_earlier_version_lingers_is_open_and_failed(
    counted_stores: CountedStores,
) -> None:
    saved = counted_stores.documents.save(failed(a_document(), lingering=True))
    while_lingering = counted_stores.open_ids, counted_stores.failed_ids, counted_stores.counts

    counted_stores.documents.save(saved.model_copy(update={"lingering": False}))

    assert while_lingering == (["doc-0001"], ["doc-0001"], (1, 10, 1, 0, 1))
    assert (counted_stores.open_ids, counted_stores.failed_ids, counted_stores.counts) == (
        [],
        ["doc-0001"],
        (1, 10, 1, 0, 0),
    )


def test_expected_upload_is_not_open_and_counts_once_a_tool_wrote_it(
    counted_stores: CountedStores,
) -> None:
    uploading = DocumentStatus.UPLOADING
    counted_stores.documents.save(a_document(size=0, status=uploading, upload_until=LATER))
    by_a_link = counted_stores.counts, counted_stores.catalog
    counted_stores.documents.save(a_document(2, status=uploading, etag="abc"))

    assert by_a_link == ((0, 0, 0, 0, 0), a_catalog())
    assert (counted_stores.open_ids, counted_stores.counts) == ([], (1, 10, 0, 1, 0))
    assert counted_stores.catalog.status is CatalogStatus.INDEXING


def test_open_documents_are_listed_oldest_first_and_failed_by_id(
    counted_stores: CountedStores,
) -> None:
    counted_stores.documents.save(a_document(1, updated_at=LATEST))
    counted_stores.documents.save(a_document(2, updated_at=NOW))
    counted_stores.documents.save(a_document(3, updated_at=LATER))
    counted_stores.documents.save(
        indexed(counted_stores.documents.save(a_document(4, updated_at=NOW)))
    )
    counted_stores.documents.save_all(failed(a_document(number)) for number in range(5, 9))

    of_two = [
        [each.document_id for each in listed(CATALOG, limit=2)]
        for listed in (counted_stores.documents.open_in, counted_stores.documents.failed_in)
    ]

    assert counted_stores.open_ids == ["doc-0002", "doc-0003", "doc-0001"]
    assert of_two == [["doc-0002", "doc-0003"], ["doc-0005", "doc-0006"]]
    assert list(counted_stores.documents.failed_in("cat-alice-2")) == []


def test_more_documents_than_a_transaction_takes_are_counted_correctly(
    counted_stores: CountedStores,
) -> None:
    many = counted_stores.documents.save_all(a_document(number) for number in range(110))
    changed = [indexed(each) for each in many[:109]]

    done = counted_stores.documents.save_all([*changed, many[109]])

    assert len(many) == len(done) == 110
    assert counted_stores.open_ids == ["doc-0109"]
    assert counted_stores.counts == (110, 1100, 0, 1, 1)


def test_refused_write_changes_no_counters(counted_stores: CountedStores) -> None:
    read = counted_stores.documents.save_all(a_document(number) for number in range(10))
    current = counted_stores.documents.save(read[3].model_copy(update={"etag": "current"}))

    with pytest.raises(RecordChanged):
        counted_stores.documents.save(indexed(read[3]))
    with pytest.raises(RecordChanged):
        counted_stores.documents.remove(read[3])
    saved = counted_stores.documents.save_all(indexed(each) for each in read)

    assert len(saved) == 9
    assert list(counted_stores.documents.open_in(CATALOG)) == [current]
    assert counted_stores.counts == (10, 100, 0, 1, 1)


def test_document_without_catalog_is_kept_and_counted_once_it_reopens(
    counted_stores: CountedStores,
) -> None:
    opened = a_catalog(2)
    saved = counted_stores.documents.save(a_document(catalog_id=opened.catalog_id))
    other = counted_stores.documents.save(a_document(2, catalog_id=opened.catalog_id))
    [again] = counted_stores.documents.save_all([saved.model_copy(update={"size": 4})])
    counted_stores.documents.remove(other)
    without = (
        list(counted_stores.documents.open_in(opened.catalog_id)),
        counted_stores.catalogs.get("cat-alice-2"),
    )
    counted_stores.catalogs.open(opened)
    counted_stores.documents.save(again)

    catalog = counted_stores.catalogs.get(opened.catalog_id)
    assert (saved.opened_at, saved.counted, without) == (None, None, ([], None))
    assert catalog is not None
    assert (catalog.document_count, catalog.total_bytes, catalog.open_count) == (1, 4, 1)
    assert len(list(counted_stores.documents.open_in(opened.catalog_id))) == 1


def test_an_object_of_no_catalog_is_counted_nowhere(counted_stores: CountedStores) -> None:
    unplaced = unplaced_partition("alice")

    saved = counted_stores.documents.save(failed(a_document(catalog_id=unplaced)))

    assert saved.counted is None
    assert list(counted_stores.documents.failed_in(unplaced)) == []
    assert counted_stores.counts == (0, 0, 0, 0, 0)


def test_documents_added_to_deleting_catalog_count_and_index_if_it_stays(
    counted_stores: CountedStores,
) -> None:
    counted_stores.catalogs.mark_deleting(CATALOG, at=NOW)

    counted_stores.documents.save_all([a_document(1), a_document(2)])
    counted_stores.documents.save(a_document(3))
    while_going = counted_stores.catalog.status
    counted_stores.catalogs.unmark_deleting(CATALOG, at=LATER)

    assert while_going is CatalogStatus.DELETING
    assert counted_stores.catalog.status is CatalogStatus.INDEXING
    assert counted_stores.counts == (3, 30, 0, 3, 3)


def test_counters_of_a_reopened_catalog_never_fall_below_zero(
    counted_stores: CountedStores,
) -> None:
    left = counted_stores.documents.save(indexed(counted_stores.documents.save(a_document())))
    counted_stores.catalogs.mark_deleting(CATALOG, at=NOW)
    counted_stores.catalogs.close(counted_stores.catalog)
    counted_stores.catalogs.open(a_catalog(at=LATER))

    counted_stores.documents.remove(left)

    assert counted_stores.counts == (0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("ends", "status"),
    [
        ([INDEXED], CatalogStatus.READY),
        ([FAILED], CatalogStatus.FAILED),
        ([FAILED, INDEXED], CatalogStatus.READY),
        ([FAILED, DocumentStatus.PENDING], CatalogStatus.INDEXING),
        ([DocumentStatus.DELETING], CatalogStatus.READY),
        ([], CatalogStatus.READY),
    ],
)
def test_status_of_a_catalog_follows_from_its_counts(
    counted_stores: CountedStores, ends: list[DocumentStatus], status: CatalogStatus
) -> None:
    for number, end in enumerate(ends):
        read = counted_stores.documents.save(a_document(number))
        counted_stores.documents.save(failed(read) if end is FAILED else read.moved(end, at=LATER))

    assert counted_stores.catalog.status is status
    counted_stores.catalogs.mark_deleting(CATALOG, at=LATEST)
    assert counted_stores.catalog.status is CatalogStatus.DELETING
    counted_stores.catalogs.unmark_deleting(CATALOG, at=LATEST)
    assert counted_stores.catalog.status is status


def test_postponed_documents_are_listed_last_until_they_are_replaced(
    counted_stores: CountedStores,
) -> None:
    first, second = counted_stores.documents.save_all(a_document(number) for number in range(2))

    failing = {"failing_since": NOW, "retry_at": LATER, "status_reason": "Bedrock fails"}
    postponed = counted_stores.documents.save(first.model_copy(update=failing))
    third = counted_stores.documents.save(a_document(2, updated_at=LATEST))
    behind = counted_stores.open_ids
    anew = counted_stores.documents.save(postponed.moved(DocumentStatus.PENDING, at=LATER))

    assert behind == [second.document_id, third.document_id, first.document_id]
    assert (postponed.retry_at, postponed.due_since) == (LATER, LATER)
    assert (anew.retry_at, anew.failing_since, anew.opened_at) == (None, None, LATER)
    assert counted_stores.open_ids == [second.document_id, first.document_id, third.document_id]


def test_documents_over_a_cap_are_listed_apart_and_catalog_is_ready(
    counted_stores: CountedStores,
) -> None:
    first, second = counted_stores.documents.save_all(a_document(number) for number in range(2))

    held = [
        each.model_copy(update={"over_cap": CapKind.DOCUMENTS, "status_reason": "waits"})
        for each in (second, first)
    ]
    counted_stores.documents.save_all(held)

    over = list(counted_stores.documents.over_in(CATALOG))
    assert [each.document_id for each in over] == [first.document_id, second.document_id]
    assert counted_stores.open_ids == []
    assert counted_stores.counts == (2, first.size + second.size, 0, 0, 0)
    assert counts_in(counted_stores.catalog).each[5:] == (2, 2, first.size + second.size)
    assert counted_stores.catalog.status is CatalogStatus.READY
    [let_go] = counted_stores.documents.save_all([over[0].model_copy(update={"over_cap": None})])
    counted_stores.documents.remove(over[1])
    assert counted_stores.open_ids == [let_go.document_id]
    assert let_go.opened_at == first.opened_at
    assert list(counted_stores.documents.over_in(CATALOG)) == []
    assert counts_in(counted_stores.catalog).each[5:] == (0, 0, 0)


def test_earlier_version_of_a_waiting_document_uses_its_place(
    counted_stores: CountedStores,
) -> None:
    again = counted_stores.documents.save(a_document().model_copy(update={"indexed_at": NOW}))

    counted_stores.documents.save(again.model_copy(update={"over_cap": CapKind.BYTES}))

    assert counts_in(counted_stores.catalog).each[5:] == (1, 0, 0)


def test_newest_open_documents_can_be_listed(counted_stores: CountedStores) -> None:
    saved = counted_stores.documents.save_all(a_document(number) for number in range(3))

    found = [each.document_id for each in counted_stores.documents.open_in(CATALOG, newest=True)]

    assert found == [each.document_id for each in saved][::-1]


def test_a_catalog_is_read_page_by_page_in_the_order_of_ids(counted_stores: CountedStores) -> None:
    counted_stores.documents.save_all(a_document(number) for number in range(5))

    ids: list[list[str]] = []
    page = counted_stores.documents.page(CATALOG, after=None, limit=2)
    ids.append([each.document_id for each in page.documents])
    while page.next is not None:
        page = counted_stores.documents.page(CATALOG, after=page.next, limit=2)
        ids.append([each.document_id for each in page.documents])

    assert ids[:3] == [["doc-0000", "doc-0001"], ["doc-0002", "doc-0003"], ["doc-0004"]]


def test_recount_is_refused_if_the_counters_have_changed(counted_stores: CountedStores) -> None:
    counted_stores.documents.save(a_document())
    seen = counted_stores.catalog
    right = Counts(documents=2, size=30, failed=1, waiting=1, open=1)

    counted_stores.catalogs.recount(seen, right)
    recounted = counted_stores.counts
    with pytest.raises(RecordChanged):
        counted_stores.catalogs.recount(seen, Counts())
    with pytest.raises(RecordChanged):
        counted_stores.catalogs.recount(a_catalog(2), Counts(documents=1))

    assert counted_stores.catalogs.get("cat-alice-2") is None
    assert recounted == right.each[:5] == counted_stores.counts
    assert counted_stores.catalog.status is CatalogStatus.INDEXING


def test_catalog_is_recounted_before_any_document_is_saved(counted_stores: CountedStores) -> None:
    right = Counts(documents=3, size=30)

    counted_stores.catalogs.recount(counted_stores.catalog, right)

    assert counted_stores.counts == right.each[:5]


def test_only_documents_not_being_deleted_in_open_catalogs_are_staying(
    counted_stores: CountedStores,
) -> None:
    counted_stores.catalogs.open(a_catalog(catalog_id="cat-2", name="goes"))
    counted_stores.documents.save(a_document())
    counted_stores.documents.save(a_document(2, status=DocumentStatus.DELETING))
    counted_stores.documents.save(a_document(catalog_id="cat-2"))
    counted_stores.documents.save(a_document(catalog_id="cat-9"))  # there is no such catalog
    counted_stores.catalogs.mark_deleting("cat-2", at=LATER)
    numbers = range(1, 60)  # of three catalogs more than one request takes

    stays = counted_stores.staying.staying(
        (catalog_id, f"doc-{number:04}")
        for catalog_id in (CATALOG, "cat-2", "cat-9")
        for number in numbers
    )

    assert stays == {(CATALOG, "doc-0001"): DocumentNotes(status=DocumentStatus.PENDING)}
    assert counted_stores.staying.staying([]) == {}


def test_staying_document_has_its_gaps(counted_stores: CountedStores) -> None:
    flags: dict[str, Any] = dict.fromkeys(("lacks_folder", "lost_sidecar"), True)
    of_it = {"gaps": ("page 2 is a scan",), **flags}
    counted_stores.documents.save(a_document(status=DocumentStatus.INDEXED, **of_it))

    stays = counted_stores.staying.staying([(CATALOG, "doc-0001")])

    told = ("page 2 is a scan", NOT_BY_FOLDER, NOT_BY_THEIRS)
    assert stays == {(CATALOG, "doc-0001"): DocumentNotes(gaps=told)}
