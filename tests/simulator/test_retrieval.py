"""Retrieve: results, filters as S3 Vectors has them, and what is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from stackroom_local.simulator.assumptions import Assumptions
from tests.simulator.holding import holds
from tests.simulator.world import World, invalid, refused


@pytest.fixture(scope="module")
def shelf(shared: World) -> tuple[World, str, str]:
    """Four documents with attributes, one without; read only."""
    world = shared.anew()
    knowledge_base = world.filled(
        berlin=("Berlin has lakes.", {"city": "Berlin", "year": 2024, "open": True}),
        rome=("Rome has seven hills.", {"city": "Rome", "year": 2025, "open": False}),
        paris=("Paris has a tower.", {"city": "Paris", "year": 2026, "tags": ["a", "b"]}),
        bonn=("Bonn has a river.", {"city": "Bonn", "year": 1, "tags": ["b", "c"]}),
        plain="No attributes here.",
    )
    [source] = world.agent.list_data_sources(knowledgeBaseId=knowledge_base)["dataSourceSummaries"]
    return world, knowledge_base, source["dataSourceId"]


def _is(operator: str, key: str, value: object) -> dict[str, Any]:
    return {operator: {"key": key, "value": value}}


def request(knowledge_base: str, question: str = "a city", **more: Any) -> dict[str, Any]:
    return {"knowledgeBaseId": knowledge_base, "retrievalQuery": {"text": question}, **more}


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        (_is("equals", "city", "Rome"), {"rome"}),
        (_is("equals", "tags", "b"), {"paris", "bonn"}),
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
def test_in_is_refused_where_the_simulator_is_told_to(world_at: Callable[..., World]) -> None:
    world = world_at(100, assumptions=Assumptions(s3_vectors_take_in=False))
    knowledge_base = world.knowledge_base()

    for operator, name in (("in", "IN"), ("notIn", "NOT_IN")):
        condition = _is(operator, "city", ["Rome"])
        said = invalid(lambda cond: world.search(knowledge_base, "a city", cond), cond=condition)
        assert said == f"{name} operation type is not supported for S3 Vectors"


@holds("filter.in")
@pytest.mark.parametrize("operator", ["equals", "in"])
def test_the_reserved_keys_can_be_filtered_by(shelf: tuple[World, str, str], operator: str) -> None:
    world, knowledge_base, source = shelf

    def found(*sources: str) -> int:
        value = sources[0] if operator == "equals" else sources
        condition = _is(operator, "x-amz-bedrock-kb-data-source-id", value)
        return len(world.search(knowledge_base, "a city", condition))

    assert found(source, "ELSEWHERE0") == 5
    assert found("ELSEWHERE0") == 0


@holds("filter.*")
@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (_is("startsWith", "city", "R"), "STARTS_WITH operation type is not supported"),
        (_is("in", "city", "Rome"), "in for key city"),
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

    search = {"vectorSearchConfiguration": {"filter": condition}}
    asked = request(knowledge_base, retrievalConfiguration=search)

    assert message in invalid(world.runtime.retrieve, **asked)


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
    knowledge_base = world.filled(**{f"city{number}": f"City {number}." for number in range(7)})

    answer = world.runtime.retrieve(**request(knowledge_base))

    assert len(answer["retrievalResults"]) == 5


@holds("retrieve.query-length", "retrieve.managed-configuration", "retrieve.guardrail-missing")
@pytest.mark.parametrize(
    "changes",
    [
        {"knowledgeBaseId": "too-long-an-id"},
        {"retrievalQuery": {"text": ""}},
        {"retrievalQuery": {"text": "x" * 1001}},
        {"retrievalQuery": {"type": "IMAGE"}},
        {"retrievalConfiguration": {"vectorSearchConfiguration": {"numberOfResults": 101}}},
        {"retrievalConfiguration": {"managedSearchConfiguration": {"numberOfResults": 1}}},
        {"guardrailConfiguration": {"guardrailId": "gr123", "guardrailVersion": "DRAFT"}},
    ],
)
def test_a_request_that_aws_refuses_is_refused(
    shelf: tuple[World, str, str], changes: dict[str, Any]
) -> None:
    world, knowledge_base, _ = shelf

    invalid(world.runtime.retrieve, **{**request(knowledge_base), **changes})

    missing = refused(world.runtime.retrieve, **request("NOSUCHBASE"))
    assert missing["Code"] == "ResourceNotFoundException"


@holds("retrieve.hybrid", "retrieve.user-context")
def test_s3_vectors_searches_by_meaning_alone_and_heeds_no_user(
    shelf: tuple[World, str, str],
) -> None:
    world, knowledge_base, _ = shelf
    semantic, hybrid = (
        {"vectorSearchConfiguration": {"overrideSearchType": kind}}
        for kind in ("SEMANTIC", "HYBRID")
    )
    retrieve = world.runtime.retrieve

    found = retrieve(**request(knowledge_base, retrievalConfiguration=semantic))
    both = invalid(retrieve, **request(knowledge_base, retrievalConfiguration=hybrid))
    user = invalid(retrieve, **request(knowledge_base, userContext={"userId": "a@example.com"}))

    assert len(found["retrievalResults"]) == 5
    assert both == (
        f"HYBRID search type is not supported for search operation on index {knowledge_base}."
    )
    assert "userContext on a VECTOR knowledge base" in user


@holds("retrieve.guardrail")
def test_a_guardrail_looks_at_the_query_and_never_at_what_is_found(
    shelf: tuple[World, str, str],
) -> None:
    world, knowledge_base, _ = shelf
    named = {"guardrailId": world.guardrail(words=["lakes"]), "guardrailVersion": "DRAFT"}
    guarded = {"guardrailConfiguration": named}

    free, blocked, plain = (
        world.runtime.retrieve(**request(knowledge_base, question, **more))
        for question, more in (("Berlin", guarded), ("Lakes?", guarded), ("Lakes?", {}))
    )

    assert free["guardrailAction"] == "NONE"
    assert free["retrievalResults"][0]["content"]["text"] == "Berlin has lakes."
    assert (blocked["guardrailAction"], blocked["retrievalResults"]) == ("INTERVENED", [])
    assert "guardrailAction" not in plain
    assert len(plain["retrievalResults"]) == 5
