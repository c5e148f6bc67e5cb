"""A page of a large catalog reads as much as one of a small catalog, over moto."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from stackroom.aws.use_cases import UseCases
from stackroom.catalogs import listing
from stackroom_local.product import StoreSettings
from tests.aws.stores import BUCKET, CATALOG_TABLE, CONTROL_TABLE, create_tables
from tests.large_catalogs import filled

DOCUMENTS = 20  # of a page here
SMALL, LARGE = 2 * DOCUMENTS, 5 * DOCUMENTS


@pytest.fixture
def read() -> Counter[str]:
    """What was read of DynamoDB."""
    return Counter()


@pytest.fixture
def counted(read: Counter[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[UseCases]:
    """The use cases of the console's page, whose reads are counted."""

    def count(parsed: dict[str, Any], **_more: object) -> None:
        read["requests"] += 1
        read["items"] += parsed.get("ScannedCount", int("Item" in parsed))
        read["items"] += sum(map(len, parsed.get("Responses", {}).values()))

    def client(service: str) -> Any:
        # The service is a name known when it runs; types-boto3 has types for literal names only.
        made: Any = boto3.client(service, region_name="us-east-1")  # type: ignore[call-overload]
        made.meta.events.register("after-call.dynamodb", count, unique_id="reads")
        return made

    monkeypatch.setattr(listing, "DOCUMENTS", DOCUMENTS)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    settings = StoreSettings(
        kb_catalog_table=CATALOG_TABLE,
        kb_control_table=CONTROL_TABLE,
        kb_docs_bucket=BUCKET,
        ingest_speed=1,
    )
    with mock_aws():
        create_tables(client("dynamodb"))
        yield UseCases.of(settings, client)


def test_a_page_reads_as_much_however_many_documents_there_are(
    counted: UseCases, read: Counter[str]
) -> None:
    reads = {}
    for size in (SMALL, LARGE):
        catalog_id = filled(counted, "lea", f"Of {size}", size)
        seen, after, pages = set[str](), None, list[dict[str, int]]()
        while after is not None or not pages:
            read.clear()
            listed = counted.listing.documents_of("lea", catalog_id, after=after)
            assert counted.progress.of("lea", catalog_id).total == size
            pages.append(dict(read))
            seen |= {each.document_id for each in listed.documents}
            after = listed.next
        reads[size] = pages
        assert len(seen) == size
        assert len(pages) == size / DOCUMENTS  # and no empty one behind the last

    few, many = (max(each["requests"] for each in reads[size]) for size in (SMALL, LARGE))
    assert few == many
    # A page, one more to know whether it goes on, the catalog itself, and who is before it.
    assert max(each["items"] for size in reads for each in reads[size]) <= DOCUMENTS + 10
