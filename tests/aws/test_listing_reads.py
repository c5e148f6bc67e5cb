"""Reads of DynamoDB for one page of documents, whatever the number of documents."""

from collections import Counter
from typing import Any

import boto3
import pytest

from stackroom.app.tool_builder import ToolBuilder
from stackroom.catalogs import listing
from stackroom.runs import estimates
from stackroom_cli.sites.site_services import StoreSettings
from tests.aws.conftest import ONCE
from tests.aws.stores import BUCKET, CATALOG_TABLE, CONTROL_TABLE
from tests.support.large_catalogs import filled

PAGE = 3


@pytest.fixture
def read() -> Counter[str]:
    return Counter()


@pytest.fixture
def counted(dynamodb: Any, s3: Any, read: Counter[str]) -> ToolBuilder:
    """The use cases of the console's page, with what they read counted."""

    def count(parsed: dict[str, Any], **_more: object) -> None:
        read["requests"] += 1
        read["items"] += len(parsed.get("Items", ())) + int("Item" in parsed)
        read["items"] += sum(map(len, parsed.get("Responses", {}).values()))

    def client(service: str) -> Any:
        made = boto3.client(service, config=ONCE)  # type: ignore[call-overload]
        made.meta.events.register("after-call.dynamodb", count, unique_id="reads")
        return made

    settings = StoreSettings(
        kb_catalog_table=CATALOG_TABLE,
        kb_control_table=CONTROL_TABLE,
        kb_docs_bucket=BUCKET,
        ingest_speed=1,
    )
    return ToolBuilder(settings=settings, client=client)


def test_reads_of_a_page_do_not_grow_with_the_catalog(
    counted: ToolBuilder, read: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "DOCUMENTS", PAGE)
    monkeypatch.setattr(estimates, "PAGE", PAGE)  # larger catalogs are not read as a whole
    requests = []

    for size in (2 * PAGE, 5 * PAGE):
        catalog_id = filled(counted, "lea", f"Of {size}", size)
        seen, after, pages = set[str](), None, list[dict[str, int]]()
        while after is not None or not pages:
            read.clear()
            listed = counted.listing.documents_of("lea", catalog_id, after=after)
            assert counted.progress.of("lea", catalog_id).total == size
            pages.append(dict(read))
            seen |= {each.document_id for each in listed.documents}
            after = listed.next
        assert len(seen) == size
        assert len(pages) == size / PAGE  # and no empty one behind the last
        # A page, one more to know whether it goes on, the catalog itself, and who is before it.
        assert max(each["items"] for each in pages) <= PAGE + 10
        requests.append(max(each["requests"] for each in pages))

    assert requests[0] == requests[1]
