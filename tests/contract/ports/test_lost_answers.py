"""
A write whose answer got lost, and which boto3 repeats, is a success like any other.

A fake's calls reach no wire: what it answers, and keeps, is what each adapter must come to whose
every write loses its first answer.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import pytest

from stackroom.aws.dynamodb.admission_records import DynamoAdmissionBook
from stackroom.aws.dynamodb.catalog_records import DynamoCatalogRegister
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.aws.dynamodb.lease_records import DynamoLeases, DynamoSlots
from stackroom.aws.dynamodb.receipt_records import DynamoReceipts
from stackroom.model.records import DataSource, DataSourceType, DocumentStatus
from stackroom.model.repositories import CatalogRegister, Documents, Receipts
from stackroom.runs.capacity import Slots
from stackroom.runs.ledger import AdmissionBook, Mode, Waiter
from stackroom.runs.run_leases import Lease, Leases
from tests.aws.lost_answers import forgetful_client
from tests.aws.stores import CATALOG_TABLE, CONTROL_TABLE
from tests.contract.ports.conftest import CREDENTIALS
from tests.fakes.pipeline import (
    FakeAdmissionBook,
    FakeCatalogs,
    FakeDocuments,
    FakeLeases,
    FakeReceipts,
    FakeSlots,
)
from tests.support.records import NOW, a_catalog, a_document, a_receipt

LATER = NOW + timedelta(minutes=15)
SOURCE = DataSource(knowledge_base_id="KB1", data_source_id="DS1", type=DataSourceType.S3)
WAITER = Waiter(
    worklist_id="cat-1",
    epoch=1,
    knowledge_base_id="KB1",
    mode=Mode.DIRECT,
    since=NOW,
    calls=2,
    token="t",
)


@dataclass(frozen=True)
class Stores:
    documents: Documents
    catalogs: CatalogRegister
    leases: Leases
    book: AdmissionBook
    slots: Slots
    receipts: Receipts


@dataclass(frozen=True)
class Forgetful:
    """A client that loses the first answer of every write; `lost` are the writes that it lost."""

    stores: Stores
    lost: list[str]


def fakes() -> Stores:
    catalogs = FakeCatalogs()
    return Stores(
        documents=FakeDocuments(catalogs),
        catalogs=catalogs,
        leases=FakeLeases(),
        book=FakeAdmissionBook(),
        slots=FakeSlots(),
        receipts=FakeReceipts(),
    )


@pytest.fixture
def forgetful(dynamodb: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[Forgetful]:
    with forgetful_client(monkeypatch, **CREDENTIALS) as (client, lost):
        stores = Stores(
            documents=DynamoDocuments(client=client, table=CATALOG_TABLE),
            catalogs=DynamoCatalogRegister(
                client=client, table=CATALOG_TABLE, control_table=CONTROL_TABLE
            ),
            leases=DynamoLeases(client=client, table=CONTROL_TABLE),
            book=DynamoAdmissionBook(client=client, table=CONTROL_TABLE),
            slots=DynamoSlots(client=client, table=CONTROL_TABLE),
            receipts=DynamoReceipts(client=client, table=CONTROL_TABLE),
        )
        yield Forgetful(stores, lost)


def taken(stores: Stores) -> Lease:
    lease = stores.leases.take(stores.leases.ask("cat-1"), until=NOW, failures=2)
    assert lease is not None
    return lease


def a_document_is_saved_changed_and_removed(stores: Stores) -> object:
    first = stores.documents.save(a_document())
    second = stores.documents.save(first)
    many = stores.documents.save_all([second, a_document(2)])
    stores.documents.remove(many[0])
    return first, second, many, list(stores.documents.of_catalog("cat-1"))


def documents_of_a_catalog_are_counted(stores: Stores) -> object:
    catalog_id = stores.catalogs.open(a_catalog()).catalog_id
    first = stores.documents.save(a_document(catalog_id=catalog_id))
    indexing = stores.documents.save(first.moved(DocumentStatus.INDEXING, at=LATER))
    many = stores.documents.save_all([indexing, a_document(2, catalog_id=catalog_id)])
    failed = stores.documents.save(many[1].moved(DocumentStatus.FAILED, at=LATER, reason="empty"))
    stores.documents.remove(many[0])
    left = list(stores.documents.open_in(catalog_id))
    return indexing, many, failed, left, stores.catalogs.get(catalog_id)


def a_lease_is_taken_kept_and_given_back(stores: Stores) -> object:
    lease = taken(stores)
    stores.leases.mark_started(lease)
    kept = stores.leases.renew("cat-1", lease.epoch, until=LATER)
    early = stores.leases.release("cat-1", lease.epoch, served=kept.requested - 1)
    released = stores.leases.release("cat-1", lease.epoch, served=kept.requested)
    again = stores.leases.claim("cat-1", until=LATER)
    return lease, kept, early, released, again, stores.leases.get("cat-1")


def a_lease_passes_on(stores: Stores) -> object:
    next_one = stores.leases.take(taken(stores), until=LATER, failures=3)
    return next_one, stores.leases.get("cat-1")


def the_ledger_is_written_and_a_waiter_leaves(stores: Stores) -> object:
    first = stores.book.write(stores.book.read())
    second = stores.book.write(first)
    stores.book.enqueue(WAITER)
    waiting = stores.book.waiting("KB1", Mode.DIRECT, limit=9)
    left = stores.book.dequeue(WAITER)
    return second, waiting, left, stores.book.waiting("KB1", Mode.DIRECT, limit=9)


def slots_are_taken_and_freed(stores: Stores) -> object:
    given = [stores.slots.take("KB1", f"cat-{number}", limit=2) for number in range(3)]
    stores.slots.free("KB1", "cat-1")
    given.append(stores.slots.take("KB1", "cat-2", limit=2))
    return given, stores.slots.holders("KB1")


def a_catalog_is_opened_placed_and_closed(stores: Stores) -> object:
    catalog_id = a_catalog().catalog_id
    seen = [stores.catalogs.open(a_catalog())]
    steps: list[Callable[[], None]] = [
        lambda: stores.catalogs.place(catalog_id, SOURCE),
        lambda: stores.catalogs.mark_deleting(catalog_id, at=LATER),
        lambda: stores.catalogs.unmark_deleting(catalog_id, at=NOW),
        lambda: stores.catalogs.mark_deleting(catalog_id, at=LATER),
        lambda: stores.catalogs.clear_data_source(catalog_id),
    ]
    for step in steps:
        step()
        now = stores.catalogs.get(catalog_id)
        assert now is not None
        seen.append(now)
    stores.catalogs.close(seen[-1])
    return seen, stores.catalogs.get(catalog_id)


def a_receipt_is_kept_and_closed(stores: Stores) -> object:
    stores.receipts.keep(a_receipt())
    stores.receipts.keep(a_receipt(unsearchable_since=LATER))
    stores.receipts.keep(a_receipt())
    return list(stores.receipts.of_user("alice"))


@pytest.mark.parametrize(
    "story",
    [
        a_document_is_saved_changed_and_removed,
        documents_of_a_catalog_are_counted,
        a_lease_is_taken_kept_and_given_back,
        a_lease_passes_on,
        the_ledger_is_written_and_a_waiter_leaves,
        slots_are_taken_and_freed,
        a_catalog_is_opened_placed_and_closed,
        a_receipt_is_kept_and_closed,
    ],
    ids=lambda story: story.__name__,
)
def test_repeated_write_returns_its_result_after_each_first_answer_is_lost(
    story: Callable[[Stores], object], forgetful: Forgetful
) -> None:
    expected = story(fakes())

    told = story(forgetful.stores)

    assert told == expected
    assert forgetful.lost


def test_write_by_another_process_is_not_taken_for_ours(forgetful: Forgetful) -> None:
    seen = forgetful.stores.leases.ask("cat-1")
    theirs = forgetful.stores.leases.take(seen, until=NOW, failures=0)

    ours = forgetful.stores.leases.take(seen, until=NOW, failures=0)

    assert theirs is not None
    assert ours is None
