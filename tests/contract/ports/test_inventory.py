"""Every `Inventory` lists a bucket and a table completely, each item once, in pages."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pytest

from stackroom.aws.dynamodb.catalog_records import DynamoCatalogRegister
from stackroom.aws.dynamodb.document_records import DynamoDocuments
from stackroom.aws.listed_inventory import AwsInventory
from stackroom.aws.s3.document_bucket import S3DocumentBucket
from stackroom.model.bucket import DocumentBucket
from stackroom.model.records import Catalog, Document
from stackroom.model.repositories import CatalogRegister, Documents, ListingPage
from stackroom.runs.inventory import Inventory
from tests.aws.stores import BUCKET, CATALOG_TABLE, CONTROL_TABLE
from tests.fakes.bedrock import FakeBedrock
from tests.fakes.clock import FakeClock
from tests.fakes.inventory import FakeInventory
from tests.fakes.pipeline import FakeBucket, FakeCatalogs, FakeDocuments
from tests.support.records import a_catalog, a_document

KEYS = ["alice/a/b.txt", "alice/a.txt", "alice/a/b-2.txt", "bob/résumé.txt", "alice/a/b.txt2"]

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Stores:
    """An inventory with pages of two, and what it tells of."""

    port: Inventory
    bucket: DocumentBucket
    catalogs: CatalogRegister
    documents: Documents
    put: Callable[[str, str], object]


@pytest.fixture(params=["fake", "aws"])
def stores(request: pytest.FixtureRequest) -> Stores:
    if request.param == "fake":
        return fakes()
    s3, dynamodb = request.getfixturevalue("s3"), request.getfixturevalue("dynamodb")
    inventory = AwsInventory(
        s3=s3,
        dynamodb=dynamodb,
        bedrock_agent=None,
        bucket=BUCKET,
        catalog_table=CATALOG_TABLE,
        page=2,
    )
    return Stores(
        port=inventory,
        bucket=S3DocumentBucket(client=s3, bucket=BUCKET),
        catalogs=DynamoCatalogRegister(
            client=dynamodb, table=CATALOG_TABLE, control_table=CONTROL_TABLE
        ),
        documents=DynamoDocuments(client=dynamodb, table=CATALOG_TABLE),
        put=lambda key, text: s3.put_object(Bucket=BUCKET, Key=key, Body=text.encode()),
    )


def fakes() -> Stores:
    bucket, catalogs, documents = FakeBucket(FakeClock()), FakeCatalogs(), FakeDocuments()
    inventory = FakeInventory(
        bucket=bucket,
        catalogs=catalogs,
        documents=documents,
        bedrock=FakeBedrock(FakeClock()),
        pool=(),
    )
    return Stores(
        port=inventory, bucket=bucket, catalogs=catalogs, documents=documents, put=bucket.upload
    )


def every(first: ListingPage[T], following: Callable[[str], ListingPage[T] | None]) -> Iterable[T]:
    """All items, none of its pages longer than two."""
    page: ListingPage[T] | None = first
    while page is not None:
        assert len(page.items) <= 2
        yield from page.items
        page = following(page.next) if page.next is not None else None


def objects(stores: Stores, prefix: str = "") -> list[str]:
    listed = every(
        stores.port.objects(prefix=prefix),
        lambda after: stores.port.objects(after=after, prefix=prefix),
    )
    return [each.key for each in listed]


def records(stores: Stores) -> list[Catalog | Document]:
    return list(every(stores.port.records(None), stores.port.records))


def test_objects_are_listed_in_key_order_with_sidecars_under_a_prefix(
    stores: Stores,
) -> None:
    for key in KEYS:
        stores.put(key, "text")
        stores.bucket.write_sidecar(key, b"{}")
    every_key = sorted([*KEYS, *(f"{key}.metadata.json" for key in KEYS)])

    listed = objects(stores)

    assert listed == every_key
    assert objects(stores, "alice/a/") == [each for each in every_key if "/a/" in each]
    assert objects(stores, "carol/") == []


def test_a_listed_object_is_described_as_a_head_does(stores: Stores) -> None:
    stores.put(KEYS[0], "text")

    (listed,) = stores.port.objects().items
    found = stores.bucket.head(KEYS[0])

    assert found is not None
    assert (listed.key, listed.size, listed.etag) == (found.key, found.size, found.etag)
    assert listed.last_modified.replace(microsecond=0) == found.last_modified


def test_all_records_are_listed_once_those_of_a_catalog_together(stores: Stores) -> None:
    catalogs = [a_catalog(number) for number in range(3)]
    documents = [
        a_document(number, catalog_id=catalog.catalog_id)
        for catalog in catalogs
        for number in range(3)
    ]
    for catalog in catalogs:
        stores.catalogs.open(catalog)
    for document in documents:
        stores.documents.save(document)

    listed = records(stores)

    assert _names(listed) == _names([*catalogs, *documents])
    groups = [each.catalog_id for each in listed]
    assert groups == [one for one in dict.fromkeys(groups) for _ in range(4)]


def test_the_catalogs_are_listed_once_without_what_they_hold(stores: Stores) -> None:
    catalogs = [a_catalog(number, user) for user in ("alice", "bob") for number in range(2)]
    for catalog in catalogs:
        stores.catalogs.open(catalog)
        stores.documents.save(a_document(catalog_id=catalog.catalog_id))

    listed = list(every(stores.port.all_catalogs(None), stores.port.all_catalogs))

    assert _names(listed) == _names(catalogs)


def _names(listed: Sequence[Catalog | Document]) -> list[tuple[str, str]]:
    return sorted(
        (each.catalog_id, each.filename if isinstance(each, Document) else "METADATA")
        for each in listed
    )
