"""
A local mode whose Bedrock tells documents of CUSTOM data sources by nothing but the data source:
what is found, answered and shared is what there is, and nobody reaches another's.
"""

from collections.abc import Iterator

import pytest

from stackroom.model import DataSourceType
from stackroom_local.gateway.client import call_tool
from stackroom_local.state import Instance
from tests.campaigns.attack.campaign import attempts, run
from tests.campaigns.attack.stage import TOOLS, staged
from tests.e2e.people import Person
from tests.local.running import ANY_SCORE, local_mode

SEED = 11
GROUP = "harbour-masters"


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    state = tmp_path_factory.mktemp("origins") / "state"
    with local_mode(state, "--omit-source-uri", "--sharing", *ANY_SCORE) as running:
        yield running


@pytest.fixture(scope="module")
def ida(instance: Instance) -> Person:
    """She and kim have files of the same names in catalogs of the same name."""
    ida, kim = Person(instance, "ida"), Person(instance, "kim")
    shared = {"kb-list-allowed_groups": GROUP}
    ida.settle(
        [
            ida.put("harbour/gate.txt", "The gate of the harbour opens at six."),
            ida.put("harbour/fees.txt", "The fees of the harbour are due in May.", shared),
        ]
    )
    kim.settle([kim.put("harbour/gate.txt", "The gate of the harbour opens at nine.")])
    return ida


def test_each_finds_their_own_with_its_object_and_is_told_of_no_trouble(
    instance: Instance, ida: Person
) -> None:
    catalog = ida.catalog("harbour")

    everything = ida.call(query="when does the gate open?", top_k=20)
    narrowed = ida.call(query="when does the gate open?", catalog_id=catalog.catalog_id)
    kims = Person(instance, "kim").find("when does the gate open?")

    assert catalog.data_source_type is DataSourceType.CUSTOM
    for answer in (everything, narrowed):
        assert {each["source"]["uri"] for each in answer["results"]} == {
            f"s3://{instance.bucket}/ida/harbour/{name}" for name in ("gate.txt", "fees.txt")
        }
        assert answer["metadata"]["search"] == "hybrid"
        assert not {"search_notices", "withheld_results"} & answer["metadata"].keys()
    assert [each["content"] for each in kims] == ["The gate of the harbour opens at nine."]


def test_a_question_is_answered_from_them(instance: Instance, ida: Person) -> None:
    given = {"catalog_id": ida.catalog("harbour").catalog_id, "query": "When does the gate open?"}

    answer = call_tool(instance.mcp_url, ida.token(), TOOLS["query_catalog"], given)

    assert "opens at six" in answer["content"][0]["text"]
    assert answer["metadata"]["sources"][0]["filename"] == "gate.txt"


def test_what_is_shared_is_found_by_who_is_in_the_group(instance: Instance, ida: Person) -> None:
    master = Person(instance, "mo", (GROUP,))

    assert master.files_found("when are fees due?") == ["fees.txt"]
    assert Person(instance, "mo").find("when are fees due?") == []


def test_no_attempt_of_a_sample_reaches_what_is_another_users(instance: Instance) -> None:
    cast = {"victim": ("vera", "quay"), "attacker": ("hugo", "reef")}
    with staged(instance, SEED, **cast) as stage:
        tally = run(stage, attempts(stage, SEED, share=25))

    assert (tally.leaks, tally.unstructured, tally.changes) == ({}, {}, [])
