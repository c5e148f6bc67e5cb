"""What every `Inventory` promises: all there is, each once, in pages; and what is indexed of it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import pytest

from stackroom.audits.sources import known_sources
from stackroom.aws.bucket import S3DocumentBucket
from stackroom.aws.catalog_register import DynamoCatalogRegister
from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.inventory import AwsInventory
from stackroom.model import Catalog, DataSource, Document
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.catalogs import CatalogRegister
from stackroom.ports.documents import Documents
from stackroom.ports.ingestion import Submission
from stackroom.ports.inventory import Inventory, ListedDocument, Page
from tests.aws.stores import BUCKET, CATALOG_TABLE, CONTROL_TABLE
from tests.contract.ports.homes import NAME, PREFIX, Home, as_simulated, in_memory
from tests.fakes.bedrock import FakeBedrock
from tests.fakes.clock import FakeClock
from tests.fakes.inventory import FakeInventory
from tests.fakes.pipeline import FakeBucket, FakeCatalogs, FakeDocuments
from tests.records import a_catalog, a_document

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


def every(first: Page[T], following: Callable[[str], Page[T] | None]) -> Iterable[T]:
    """All items, none of its pages longer than two."""
    page: Page[T] | None = first
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


def test_objects_come_in_the_order_of_their_keys_with_their_sidecars_or_those_under_a_prefix(
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


def test_an_empty_table_lists_nothing(stores: Stores) -> None:
    assert records(stores) == []
    assert objects(stores) == []
    assert not stores.port.all_catalogs(None).items


def _names(listed: Sequence[Catalog | Document]) -> list[tuple[str, str]]:
    return sorted(
        (each.catalog_id, each.filename if isinstance(each, Document) else "METADATA")
        for each in listed
    )


# Of knowledge bases: their data sources and what each lists.


@pytest.fixture(
    params=[
        "fake",
        pytest.param("bedrock", marks=pytest.mark.processes),
        pytest.param("managed", marks=pytest.mark.processes),
    ]
)
def home(request: pytest.FixtureRequest) -> Home:
    if request.param == "fake":
        return in_memory()
    is_managed = request.param == "managed"
    return as_simulated(request.getfixturevalue("simulated"), is_managed=is_managed)


def listed(home: Home, source: DataSource) -> list[ListedDocument] | None:
    """Of all pages; None if it lists nothing yet."""
    found: list[ListedDocument] = []
    page = home.inventory.indexed(source, None)
    while page is not None:
        found += page.items
        if page.next is None:
            return found
        page = home.inventory.indexed(source, page.next)
    return None


def test_data_sources_are_known_with_their_kind_name_and_prefix(home: Home) -> None:
    found = {
        each.source.data_source_id: each
        for each in known_sources(home.inventory, home.crawled.knowledge_base_id)
    }

    own, shared = found[home.crawled.data_source_id], found[home.custom.data_source_id]
    assert (own.source, own.name, own.prefix) == (home.crawled, NAME, PREFIX)
    assert own.status == shared.status == "AVAILABLE"
    assert (shared.source, shared.prefix) == (home.custom, "")


def test_an_s3_data_source_lists_nothing_before_its_first_job_and_then_its_documents_by_uri(
    home: Home,
) -> None:
    before = home.inventory.indexed(home.crawled, None)
    home.end(home.start())
    empty = listed(home, home.crawled)
    uris = [home.put(f"{number}.txt") for number in range(3)]
    home.end(home.start("run-2"))

    found = listed(home, home.crawled)

    assert before is None
    assert empty == []
    assert found is not None
    assert sorted(each.identifier for each in found) == uris
    assert {each.detail.status for each in found} == {"INDEXED"}
    assert all(each.detail.updated_at is not None for each in found)


def test_a_custom_data_source_lists_documents_by_our_ids(home: Home) -> None:
    submission = Submission(
        document_id="doc-1", uri=home.put("1.txt"), attributes={"document_id": "doc-1"}
    )
    token = home.token("ingest")
    home.once(lambda: home.direct.ingest(home.custom, [submission], token=token))

    found = listed(home, home.custom)

    assert found is not None
    assert [each.identifier for each in found] == ["doc-1"]
