"""Retrieve: results, filters as S3 Vectors has them, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stackroom_local.simulator.assumptions import Assumptions
from stackroom_local.simulator.server import Configuration, Simulator
from tests.simulator.holding import holds
from tests.simulator.world import World, eventually, refused


@pytest.fixture(scope="module")
def shelf(shared: World) -> tuple[World, str, str]:
    """Four documents with attributes, one without; read only."""
    world = shared.anew()
    knowledge_base, source = world.pair()
    world.put("berlin.txt", "Berlin has lakes.", {"city": "Berlin", "year": 2024, "open": True})
    world.put("rome.txt", "Rome has seven hills.", {"city": "Rome", "year": 2025, "open": False})
    world.put(
        "paris.txt", "Paris has a tower.", {"city": "Paris", "year": 2026, "tags": ["a", "b"]}
    )
    world.put("bonn.txt", "Bonn has a river.", {"city": "Bonn", "year": 1, "tags": ["b", "c"]})
    world.put("plain.txt", "No attributes here.")
    world.sync(knowledge_base, source)
    eventually(lambda: len(world.search(knowledge_base, "city")) == 5)
    return world, knowledge_base, source


def _is(operator: str, key: str, value: object) -> dict[str, Any]:
    return {operator: {"key": key, "value": value}}


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        (_is("equals", "city", "Rome"), {"rome"}),
        (_is("equals", "tags", "b"), {"paris", "bonn"}),
        (_is("equals", "year", 1), {"bonn"}),
        (_is("equals", "open", True), {"berlin"}),
        (_is("notEquals", "city", "Rome"), {"berlin", "paris", "bonn", "plain"}),
        (_is("notEquals", "tags", "a"), {"berlin", "rome", "bonn", "plain"}),
        (_is("greaterThan", "year", 2025), {"paris"}),
        (_is("greaterThanOrEquals", "year", 2025), {"rome", "paris"}),
        (_is("lessThan", "year", 2024), {"bonn"}),
        (_is("lessThanOrEquals", "year", 2024), {"berlin", "bonn"}),
        (_is("greaterThan", "city", 1), set()),
        (_is("listContains", "tags", "c"), {"bonn"}),
        (_is("listContains", "city", "Rome"), set()),
        (_is("in", "city", ["Rome", "Bonn", "Oslo"]), {"rome", "bonn"}),
        (_is("in", "tags", ["a", "c"]), {"paris", "bonn"}),
        (_is("in", "year", [2024]), {"berlin"}),
        (_is("notIn", "city", ["Rome", "Bonn"]), {"berlin", "paris", "plain"}),
        (_is("in", "city", ["Rome"] + [f"city {number}" for number in range(99)]), {"rome"}),
        (
            {"andAll": [_is("equals", "tags", "b"), _is("greaterThan", "year", 100)]},
            {"paris"},
        ),
        (
            {
                "orAll": [
                    _is("equals", "city", "Rome"),
                    {"andAll": [_is("equals", "tags", "b"), _is("notEquals", "city", "Paris")]},
                ]
            },
            {"rome", "bonn"},
        ),
    ],
)
def test_a_filter_means_what_it_means_on_aws(
    shelf: tuple[World, str, str], condition: dict[str, Any], found: set[str]
) -> None:
    world, knowledge_base, _ = shelf

    keys = world.found_keys(knowledge_base, "a city", condition)

    assert keys == {f"{name}.txt" for name in found}


@holds("filter.in")
def test_data_sources_are_chosen_as_aws_s_own_mcp_server_does_it(
    shelf: tuple[World, str, str],
) -> None:
    world, knowledge_base, source = shelf
    key = "x-amz-bedrock-kb-data-source-id"

    here = world.search(knowledge_base, "a city", _is("in", key, ["ELSEWHERE0", source]))
    elsewhere = world.search(knowledge_base, "a city", _is("in", key, ["ELSEWHERE0"]))

    assert len(here) == 5
    assert elsewhere == []


@holds("filter.in")
@pytest.mark.parametrize(("operator", "name"), [("in", "IN"), ("notIn", "NOT_IN")])
def test_in_is_refused_where_the_simulator_is_told_to(
    tmp_path: Path, s3_endpoint: str, operator: str, name: str
) -> None:
    configuration = Configuration(
        data_dir=tmp_path,
        s3_endpoint=s3_endpoint,
        speed=100,
        assumptions=Assumptions(s3_vectors_take_in=False),
    )
    with Simulator(configuration) as simulator:
        world = World(simulator.endpoint, s3_endpoint)
        knowledge_base = world.knowledge_base()
        condition = _is(operator, "city", ["Rome"])

        error = refused(lambda: world.search(knowledge_base, "a city", condition))

    assert error["Message"] == f"{name} operation type is not supported for S3 Vectors"


def test_the_reserved_keys_can_be_filtered_by(shelf: tuple[World, str, str]) -> None:
    world, knowledge_base, source = shelf
    key = "x-amz-bedrock-kb-data-source-id"

    here = world.search(knowledge_base, "a city", _is("equals", key, source))
    elsewhere = world.search(knowledge_base, "a city", _is("equals", key, "ELSEWHERE0"))

    assert len(here) == 5
    assert elsewhere == []


@holds("filter.*")
@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (_is("startsWith", "city", "R"), "STARTS_WITH operation type is not supported"),
        (_is("stringContains", "city", "R"), "STRING_CONTAINS operation type is not supported"),
        (_is("in", "city", "Rome"), "in for key city"),
        (_is("notIn", "city", []), "notIn for key city"),
        (_is("in", "city", [f"city {number}" for number in range(101)]), "at most 100"),
        (
            {"orAll": [_is("notIn", "year", list(range(50)))] * 2 + [_is("equals", "year", 1)]},
            "100",
        ),
        (_is("greaterThan", "city", "Rome"), "greaterThan"),
        (_is("equals", "city", {"nested": 1}), "equals"),
        ({"andAll": [_is("equals", "city", "Rome")]}, "andAll"),
        ({"orAll": [_is("equals", "city", "Rome")] * 6}, "between 2 and 5"),
        (
            {"andAll": [{"orAll": [{"andAll": [_is("equals", "a", 1)] * 2}] * 2}] * 2},
            "one level deep",
        ),
        ({**_is("equals", "a", 1), **_is("notEquals", "b", 1)}, "exactly one operator"),
    ],
)
def test_a_filter_that_s3_vectors_does_not_take_is_refused(
    shelf: tuple[World, str, str], condition: dict[str, Any], message: str
) -> None:
    world, knowledge_base, _ = shelf

    error = refused(
        world.runtime.retrieve,
        knowledgeBaseId=knowledge_base,
        retrievalQuery={"text": "a city"},
        retrievalConfiguration={"vectorSearchConfiguration": {"filter": condition}},
    )

    assert error["Code"] == "ValidationException"
    assert message in error["Message"]


def test_a_result_has_the_shape_of_aws(shelf: tuple[World, str, str]) -> None:
    world, knowledge_base, source = shelf

    best = world.search(knowledge_base, "the town with hills")[0]

    uri = f"s3://{world.bucket}/rome.txt"
    chunk = best["metadata"].pop("x-amz-bedrock-kb-chunk-id")
    assert chunk
    assert 0 < best.pop("score") <= 1
    assert best == {
        "content": {"type": "TEXT", "text": "Rome has seven hills."},
        "location": {"type": "S3", "s3Location": {"uri": uri}},
        "metadata": {
            "city": "Rome",
            "year": 2025,
            "open": False,
            "x-amz-bedrock-kb-source-uri": uri,
            "x-amz-bedrock-kb-data-source-id": source,
        },
    }


def test_results_are_best_first_and_as_many_as_asked_for(shelf: tuple[World, str, str]) -> None:
    world, knowledge_base, _ = shelf

    found = world.search(knowledge_base, "river", results=3)

    scores = [result["score"] for result in found]
    assert len(found) == 3
    assert scores == sorted(scores, reverse=True)
    assert found[0]["content"]["text"] == "Bonn has a river."


@holds("retrieve.default-results")
def test_five_results_are_answered_unless_told_otherwise(world: World) -> None:
    knowledge_base, source = world.pair()
    for number in range(7):
        world.put(f"{number}.txt", f"City number {number}.")
    world.sync(knowledge_base, source)
    eventually(lambda: len(world.search(knowledge_base, "city")) == 7)

    answer = world.runtime.retrieve(knowledgeBaseId=knowledge_base, retrievalQuery={"text": "city"})

    assert len(answer["retrievalResults"]) == 5


@holds("retrieve.query-length", "retrieve.managed-configuration", "retrieve.guardrail-missing")
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"knowledgeBaseId": "NOSUCHBASE"}, "ResourceNotFoundException"),
        ({"knowledgeBaseId": "too-long-an-id"}, "ValidationException"),
        ({"retrievalQuery": {"text": ""}}, "ValidationException"),
        ({"retrievalQuery": {"text": "x" * 1001}}, "ValidationException"),
        ({"retrievalConfiguration": {"vectorSearchConfiguration": {"numberOfResults": 0}}}, None),
        ({"retrievalConfiguration": {"vectorSearchConfiguration": {"numberOfResults": 101}}}, None),
        (
            {"retrievalConfiguration": {"managedSearchConfiguration": {"numberOfResults": 1}}},
            None,
        ),
        (
            {"guardrailConfiguration": {"guardrailId": "gr123", "guardrailVersion": "DRAFT"}},
            None,
        ),
        ({"retrievalQuery": {"type": "IMAGE"}}, None),
    ],
)
def test_a_request_that_aws_refuses_is_refused(
    shelf: tuple[World, str, str], changes: dict[str, Any], code: str | None
) -> None:
    world, knowledge_base, _ = shelf
    request = {"knowledgeBaseId": knowledge_base, "retrievalQuery": {"text": "a city"}}

    error = refused(world.runtime.retrieve, **{**request, **changes})

    assert error["Code"] == (code or "ValidationException")


@holds("retrieve.hybrid")
def test_s3_vectors_searches_by_meaning_alone(shelf: tuple[World, str, str]) -> None:
    world, knowledge_base, _ = shelf

    def asked(kind: str) -> dict[str, Any]:
        search = {"overrideSearchType": kind}
        return {
            "knowledgeBaseId": knowledge_base,
            "retrievalQuery": {"text": "a city"},
            "retrievalConfiguration": {"vectorSearchConfiguration": search},
        }

    semantic = world.runtime.retrieve(**asked("SEMANTIC"))
    error = refused(world.runtime.retrieve, **asked("HYBRID"))

    assert len(semantic["retrievalResults"]) == 5
    assert error == {
        "Code": "ValidationException",
        "Message": "HYBRID search type is not supported for search operation on index"
        f" {knowledge_base}.",
    }


@holds("retrieve.user-context")
def test_a_user_is_not_taken_by_what_would_not_heed_him(shelf: tuple[World, str, str]) -> None:
    world, knowledge_base, _ = shelf

    error = refused(
        world.runtime.retrieve,
        knowledgeBaseId=knowledge_base,
        retrievalQuery={"text": "a city"},
        userContext={"userId": "alice@example.com"},
    )

    assert error["Code"] == "ValidationException"
    assert "userContext on a VECTOR knowledge base" in error["Message"]


@holds("retrieve.guardrail")
def test_a_guardrail_looks_at_the_query_and_never_at_what_is_found(
    shelf: tuple[World, str, str],
) -> None:
    world, knowledge_base, _ = shelf
    named = {"guardrailId": world.guardrail(words=["lakes"]), "guardrailVersion": "DRAFT"}
    request = {"knowledgeBaseId": knowledge_base, "guardrailConfiguration": named}

    free = world.runtime.retrieve(**request, retrievalQuery={"text": "Berlin"})
    blocked = world.runtime.retrieve(**request, retrievalQuery={"text": "Where are lakes?"})
    plain = world.runtime.retrieve(
        knowledgeBaseId=knowledge_base, retrievalQuery={"text": "Where are lakes?"}
    )

    assert free["guardrailAction"] == "NONE"
    assert free["retrievalResults"][0]["content"]["text"] == "Berlin has lakes."
    assert (blocked["guardrailAction"], blocked["retrievalResults"]) == ("INTERVENED", [])
    assert "guardrailAction" not in plain
    assert len(plain["retrievalResults"]) == 5


@holds("rate.Retrieve")
def test_the_account_retrieves_20_times_a_second(world_at: Callable[[float], World]) -> None:
    world = world_at(0.05)
    knowledge_base = world.knowledge_base()
    for _ in range(20):
        world.search(knowledge_base, "anything")

    error = refused(
        world.runtime.retrieve, knowledgeBaseId=knowledge_base, retrievalQuery={"text": "more"}
    )

    assert error["Code"] == "ThrottlingException"
