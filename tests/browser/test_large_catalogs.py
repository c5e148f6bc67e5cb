"""A catalog of ten thousand documents, page by page: in a browser, and what is read for a page."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from stackroom.aws.use_cases import UseCases
from stackroom.catalogs.listing import DOCUMENTS
from stackroom_local import clients
from stackroom_local.product import Product, StoreSettings
from stackroom_local.state import Instance
from tests.browser.conftest import SignedIn
from tests.large_catalogs import filled
from tests.local.running import local_mode

SMALL, LARGE = 2 * DOCUMENTS, 10_000
_PAGES = 4  # that are looked at of the large one


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """Of its own: of records without a file a reconciler would make much work for other tests."""
    with local_mode(tmp_path_factory.mktemp("local-mode-of-large-catalogs") / "state") as running:
        yield running


def test_ten_thousand_documents_are_paged_through(signed_in: SignedIn, instance: Instance) -> None:
    lea = signed_in("lea-pages")
    catalog_id = filled(Product(instance).use_cases, lea.name, "Large", LARGE)
    page, names = lea.open(f"/catalogs/{catalog_id}"), list[str]()

    for number in range(_PAGES):
        if number:
            page.get_by_role("link", name="Next page").click()
            expect(page.locator("#documents")).not_to_contain_text(names[-1])
        expect(page.locator("#documents nav")).to_contain_text("200 documents of 10,000")
        names += page.locator("#documents th bdi").all_inner_texts()

    assert len(names) == len(set(names)) == _PAGES * DOCUMENTS
    page.get_by_role("link", name="First page").click()
    expect(page.locator("#documents th bdi").first).to_have_text(names[0])
    assert lea.said == []


def test_a_page_reads_as_much_however_many_documents_there_are(instance: Instance) -> None:
    read: Counter[str] = Counter()
    counted = _counting(instance, read)
    reads = {}
    for size in (SMALL, LARGE):
        catalog_id = filled(counted, "lea-reads", f"Of {size}", size)
        seen, after, pages = set[str](), None, list[dict[str, int]]()
        while len(pages) < _PAGES and (after is not None or not pages):
            read.clear()
            listed = counted.listing.documents_of("lea-reads", catalog_id, after=after)
            assert counted.progress.of("lea-reads", catalog_id).total == size
            pages.append(dict(read))
            assert not seen & {each.document_id for each in listed.documents}
            seen |= {each.document_id for each in listed.documents}
            after = listed.next
        reads[size] = pages
        assert len(seen) == len(pages) * DOCUMENTS
    assert len(reads[SMALL]) == SMALL / DOCUMENTS  # and no empty one behind the last

    few, many = (max(each["requests"] for each in reads[size]) for size in (SMALL, LARGE))
    assert few == many
    # A page, one more to know whether it goes on, the catalog itself, and who is before it.
    assert max(each["items"] for size in reads for each in reads[size]) <= DOCUMENTS + 10


def _counting(instance: Instance, read: Counter[str]) -> UseCases:
    """The use cases of the console's page, with what they read of DynamoDB counted."""

    def count(parsed: dict[str, Any], **_more: object) -> None:
        read["requests"] += 1
        read["items"] += parsed.get("ScannedCount", int("Item" in parsed))
        read["items"] += sum(map(len, parsed.get("Responses", {}).values()))

    def client(service: str) -> Any:
        made = clients.client(service, instance.aws_endpoint)
        made.meta.events.register("after-call.dynamodb", count, unique_id="reads")
        return made

    settings = StoreSettings(
        kb_catalog_table=instance.catalog_table,
        kb_control_table=instance.control_table,
        kb_docs_bucket=instance.bucket,
        ingest_speed=instance.speed,
    )
    return UseCases.of(settings, client)
