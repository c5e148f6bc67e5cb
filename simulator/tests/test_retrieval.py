"""Retrieve: results, pages, filters on S3 Vectors, and validation."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.identifiers import start_of, token_for
from bedrock_kb_simulator.service_errors import ServiceError
from simulator.tests.holding import holds
from simulator.tests.world import World, eventually, invalid, refused

COUNT = 40
LETTERS = 36_000  # of a passage: 40 of them are more than an answer holds


@dataclass(frozen=True)
class Cities:
    """A knowledge base with four documents with attributes and one without."""

    world: World
    knowledge_base: str
    source: str

    def retrieve(self, question: str = "a city", **more: Any) -> dict[str, Any]:
        asked = {**request(self.knowledge_base, question), **more}
        answer: dict[str, Any] = self.world.runtime.retrieve(**asked)
        return answer

    def search(self, condition: object) -> list[dict[str, Any]]:
        return self.world.search(self.knowledge_base, "a city", condition)


@pytest.fixture(scope="module")
def cities(shared: World) -> Cities:
    world = shared.anew()
    knowledge_base = world.filled(
        berlin=("Berlin has lakes.", {"city": "Berlin", "year": 2024, "open": True}),
        rome=("Rome has seven hills.", {"city": "Rome", "year": 2025, "open": False}),
        paris=("Paris has a tower.", {"city": "Paris", "year": 2026, "tags": ["a", "b"]}),
        bonn=("Bonn has a river.", {"city": "Bonn", "year": 1, "tags": ["b", "c"]}),
        plain="No attributes here.",
    )
    [source] = world.agent.list_data_sources(knowledgeBaseId=knowledge_base)["dataSourceSummaries"]
    return Cities(world, knowledge_base, source["dataSourceId"])


def _is(operator: str, key: str, value: object) -> dict[str, Any]:
    return {operator: {"key": key, "value": value}}


def request(knowledge_base: str, question: str = "a city", **more: Any) -> dict[str, Any]:
    return {"knowledgeBaseId": knowledge_base, "retrievalQuery": {"text": question}, **more}


@holds("filter.*", "vector-filter.constraints")
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
def test_unsupported_filter_is_refused(
    cities: Cities, condition: dict[str, Any], message: str
) -> None:
    assert message in invalid(cities.search, condition=condition)


def test_result_has_the_shape_of_aws(cities: Cities) -> None:
    best = cities.retrieve("the town with hills")["retrievalResults"][0]

    uri = f"s3://{cities.world.bucket}/rome.txt"
    assert best["metadata"].pop("x-amz-bedrock-kb-chunk-id")
    assert 0 < best.pop("score") <= 1
    assert best == {
        "content": {"type": "TEXT", "text": "Rome has seven hills."},
        "location": {"type": "S3", "s3Location": {"uri": uri}},
        "metadata": {
            "city": "Rome",
            "year": 2025,
            "open": False,
            "x-amz-bedrock-kb-source-uri": uri,
            "x-amz-bedrock-kb-data-source-id": cities.source,
        },
    }


@holds("retrieve.default-results")
def test_five_results_are_returned_by_default(world: World) -> None:
    knowledge_base = world.filled(**{f"city{number}": f"City {number}." for number in range(7)})

    answer = world.runtime.retrieve(**request(knowledge_base))

    assert len(answer["retrievalResults"]) == 5


@holds("retrieve.query-length", "retrieve.managed-configuration", "guardrail.missing")
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
def test_invalid_request_is_refused(cities: Cities, changes: dict[str, Any]) -> None:
    invalid(cities.retrieve, **changes)

    missing = refused(cities.retrieve, knowledgeBaseId="NOSUCHBASE")
    assert missing["Code"] == "ResourceNotFoundException"


@holds("retrieve.hybrid", "request.not-simulated")
def test_hybrid_search_and_user_context_are_refused_on_s3_vectors(cities: Cities) -> None:
    semantic, hybrid = (
        {"vectorSearchConfiguration": {"overrideSearchType": kind}}
        for kind in ("SEMANTIC", "HYBRID")
    )

    both = invalid(cities.retrieve, retrievalConfiguration=hybrid)
    user = invalid(cities.retrieve, userContext={"userId": "a@example.com"})

    assert len(cities.retrieve(retrievalConfiguration=semantic)["retrievalResults"]) == 5
    assert both.startswith("HYBRID search type is not supported for search operation on index")
    assert "does not offer userContext" in user


@holds("retrieve.guardrail")
def test_guardrail_examines_the_query_and_not_the_results(cities: Cities) -> None:
    named = {"guardrailId": cities.world.guardrail(words=["lakes"]), "guardrailVersion": "DRAFT"}

    free = cities.retrieve("Berlin", guardrailConfiguration=named)
    blocked = cities.retrieve("Lakes?", guardrailConfiguration=named)
    plain = cities.retrieve("Lakes?")

    assert free["guardrailAction"] == "NONE"
    assert free["retrievalResults"][0]["content"]["text"] == "Berlin has lakes."
    assert (blocked["guardrailAction"], blocked["retrievalResults"]) == ("INTERVENED", [])
    assert "guardrailAction" not in plain
    assert len(plain["retrievalResults"]) == 5


def many(knowledge_base: str, results: int = 100, question: str = "number") -> dict[str, Any]:
    search = {"vectorSearchConfiguration": {"numberOfResults": results}}
    return request(knowledge_base, question, retrievalConfiguration=search)


@pytest.fixture(scope="module")
def long_texts(shared: World) -> tuple[World, str]:
    """Return passages as long as S3 Vectors allows and quick to embed; read only."""
    world = shared.anew()
    knowledge_base = world.knowledge_base()
    whole = {"chunkingConfiguration": {"chunkingStrategy": "NONE"}}
    source = world.data_source(knowledge_base, vectorIngestionConfiguration=whole)
    for number in range(COUNT):
        world.put(f"{number}.txt", f"Number {number}: {'x' * LETTERS}")
    world.sync(knowledge_base, source)
    eventually(lambda: sum(map(len, pages(world, many(knowledge_base)))) == COUNT)
    return world, knowledge_base


def pages(world: World, asked: dict[str, Any]) -> list[list[dict[str, Any]]]:
    paginator = world.runtime.get_paginator("retrieve")
    return [page["retrievalResults"] for page in paginator.paginate(**asked)]


@holds("retrieve.page", "retrieve.next-token")
def test_result_pages_are_sorted_and_tokens_are_bound_to_one_request(
    long_texts: tuple[World, str],
) -> None:
    world, knowledge_base = long_texts

    found = pages(world, many(knowledge_base))
    fewer = pages(world, many(knowledge_base, results=33))
    few = world.runtime.retrieve(**many(knowledge_base, results=3))

    results = [each for page in found for each in page]
    scores = [each["score"] for each in results]
    assert len(found) == 2
    assert len({each["content"]["text"] for each in results}) == COUNT
    assert scores == sorted(scores, reverse=True)
    assert sum(map(len, fewer)) == 33
    assert len(few["retrievalResults"]) == 3
    assert "nextToken" not in few
    bodies = [sum(len(each["content"]["text"]) for each in page) for page in found]
    assert max(bodies) <= 1024 * 1024
    # A token is of one request and no other.
    asked = many(knowledge_base)
    token = world.runtime.retrieve(**asked)["nextToken"]
    again = world.runtime.retrieve(**asked, nextToken=token)
    errors = [
        refused(world.runtime.retrieve, **other, nextToken=given)
        for other, given in (
            (many(knowledge_base, results=99), token),
            (many(knowledge_base, question="another"), token),
            (asked, token[:-8] + "AAAAAAAA"),
            (asked, "bm90IG91cnM="),
            (asked, "not-base64!"),
            (asked, "MQ=="),
        )
    ]
    assert "nextToken" not in again
    assert {error["Code"] for error in errors} == {"ValidationException"}
    assert {error["Message"] for error in errors} == {
        "The provided nextToken is not valid for this request"
    }


@holds("retrieve.next-token")
def test_page_token_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, clock = many("KB12345678"), Clock()

    new = token_for(asked, 7, clock=clock)
    monkeypatch.setattr(rules, "RETRIEVE_TOKEN", replace(rules.RETRIEVE_TOKEN, value=0))
    old = token_for(asked, 7, clock=clock)

    assert start_of({**asked, "nextToken": new}, clock=clock) == 7
    with pytest.raises(ServiceError, match="not valid for this request"):
        start_of({**asked, "nextToken": old}, clock=clock)
