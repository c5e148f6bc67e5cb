"""The catalog tools as an agent uses them, through the gateway of a running local mode."""

import base64
from pathlib import Path

import httpx2
import pytest

from stackroom.model.keys import catalog_id_of
from stackroom.runs.estimates import PAGE
from stackroom_cli.sites.site_services import SiteServices
from stackroom_local.state import Instance
from tests.e2e.people import Agent, Person, eventually
from tests.local.running import stackroom
from tests.support.large_catalogs import filled

CATALOG = catalog_id_of("alice", "research")


@pytest.fixture(scope="module")
def agent(instance: Instance) -> Agent:
    return Agent(instance, "alice")


@pytest.fixture(scope="module")
def uploaded(agent: Agent, alice: Person) -> dict[str, str]:
    """
    Three files in one catalog, by their ways in: S3 itself, the tool, and a form that it gave.

    Answers the documents' ids.
    """
    alice.settle([alice.put("research/by-s3.txt", "The lighthouse keeper counts forty ships.")])
    by_tool = agent(
        "upload_to_catalog",
        catalog_id=CATALOG,
        filename="by-tool.md",
        file_content=base64.b64encode(b"# Harbour\n\nThe ferry leaves at noon.\n").decode(),
        metadata={"domain": "harbour"},
    )
    form = agent("upload_to_catalog", catalog_id=CATALOG, filename="by-form.txt")["metadata"]
    sent = httpx2.post(
        form["upload_url"],
        data=form["upload_fields"],
        files={"file": b"The old pier has seventeen lamps."},
    )
    assert sent.status_code == 204, sent.text

    def listed() -> dict[str, str]:
        documents = agent("list_catalog_documents", catalog_id=CATALOG)["metadata"]["documents"]
        mine = [each for each in documents if each["filename"].startswith("by-")]
        is_over = all(each["indexing_status"] == "indexed" for each in mine) and len(mine) == 3
        return {each["filename"]: each["document_id"] for each in mine} if is_over else {}

    found = eventually(listed, "three documents are indexed")
    assert found["by-tool.md"] == by_tool["metadata"]["document_id"]
    assert found["by-form.txt"] == form["document_id"]
    return found


def test_every_way_in_leads_to_the_same_documents(agent: Agent, uploaded: dict[str, str]) -> None:
    questions = {
        "by-s3.txt": "how many ships are counted?",
        "by-tool.md": "when does the ferry leave?",
        "by-form.txt": "how many lamps has the pier?",
    }

    cited = {
        filename: agent("query_catalog", query=question, catalog_id=CATALOG, num_results=1)
        for filename, question in questions.items()
    }

    for filename, answer in cited.items():
        [source] = answer["metadata"]["sources"]
        assert (source["filename"], source["document_id"]) == (filename, uploaded[filename])
    assert cited["by-tool.md"]["content"][0]["text"].splitlines()[-1] == (
        "1. by-tool.md (section Harbour)"
    )


def test_a_drop_by_name_goes_where_the_catalog_of_a_tool_lies(
    instance: Instance, tmp_path: Path
) -> None:
    made = Agent(instance, "tessa")("create_catalog", catalog_name="Lantern log")["metadata"]
    file = tmp_path / "log.exe"  # is refused, and takes no place in a knowledge base
    file.write_bytes(b"x")

    printed = stackroom(
        "drop", str(file), "-u", "tessa", "-c", "Lantern log", state_dir=instance.state_dir
    )

    assert f"into {made['s3_prefix']} in" in printed.stdout
    eventually(
        lambda: (
            "log.exe"
            in Agent(instance, "tessa").text(
                "list_catalog_documents", catalog_id=made["catalog_id"]
            )
        ),
        "the file is in the catalog",
    )


def test_status_of_a_large_catalog_counts_what_it_does_not_list(
    instance: Instance,
) -> None:
    """Another way to read than that of a small one, with other rights."""
    crowd = filled(
        SiteServices(instance).use_cases, "otto", "crowd", PAGE + 1, failed={0}, waiting={1}
    )

    progress = Agent(instance, "otto")("get_indexing_status", catalog_id=crowd)["metadata"]

    documents = {"indexed": PAGE - 1, "indexing": 0, "pending": 1, "failed": 1}
    assert progress["documents"] == documents
    assert len(progress["failures"]) == 1
