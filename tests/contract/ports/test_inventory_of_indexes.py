"""
Every `Inventory` lists the data sources of knowledge bases and their documents.

Apart from what it tells of tables: moto is as new for each test there, and one for all here.
"""

import pytest

from stackroom.model.records import DataSource
from stackroom.reconciler.control_audit import known_sources
from stackroom.runs.bedrock_calls import Submission
from stackroom.runs.inventory import ListedDocument
from tests.contract.ports.homes import NAME, PREFIX, Home, as_simulated, in_memory


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
    """Return the documents on all pages, or None if the data source lists nothing yet."""
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


def test_s3_data_source_lists_documents_by_uri_after_its_first_job(
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
