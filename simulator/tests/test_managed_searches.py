"""Searches of managed knowledge bases: by words and meaning, filters, rates."""

from dataclasses import dataclass
from typing import Any

import pytest

from bedrock_kb_simulator.request_rates import Quotas
from bedrock_kb_simulator.rules import MANAGED_RATES
from bedrock_kb_simulator.service_errors import ServiceError
from simulator.tests.holding import holds
from simulator.tests.managed import CUSTOM, ingested, pair, places, search
from simulator.tests.world import (
    HandClock,
    World,
    eventually,
    inline,
    invalid,
)

RERANK = "arn:aws:bedrock:us-east-1::foundation-model/amazon.rerank-v1:0"
CHOSEN: dict[str, Any] = {
    "type": "BEDROCK_RERANKING_MODEL",
    "bedrockRerankingConfiguration": {
        "modelConfiguration": {"modelArn": RERANK},
        "numberOfRerankedResults": 2,
    },
}
CITIES: dict[str, tuple[str, dict[str, Any]]] = {
    "berlin": ("Berlin has lakes.", {"year": 2024, "opened": "2026-03-01T08:00:00+01:00"}),
    "rome": ("Rome has seven hills.", {"year": 2025, "opened": "2026-03-01"}),
    "paris": ("Paris has a tower.", {"year": 2026, "tags": ["a", "b"], "opened": "soon"}),
}


@dataclass(frozen=True)
class Cities:
    """A managed knowledge base with three documents with attributes and one without."""

    world: World
    knowledge_base: str
    source: str

    def search(self, text: str, **configuration: Any) -> list[dict[str, Any]]:
        return search(self.world, self.knowledge_base, text, **configuration)

    def refusal(self, text: str = "a city", **configuration: Any) -> str:
        return invalid(self.search, text=text, **configuration)


@pytest.fixture(scope="module")
def cities(shared: World) -> Cities:
    world = shared.anew()
    made = Cities(world, *pair(world))
    for name, (text, attributes) in CITIES.items():
        world.put(f"{name}.txt", text, attributes)
    world.put("plain.txt", "No attributes here.")
    world.sync(made.knowledge_base, made.source)
    eventually(lambda: len(made.search("city")) == 4)
    return made


def _is(operator: str, key: str, value: object) -> dict[str, Any]:
    return {operator: {"key": key, "value": value}}


@holds("managed.filter-operator", "managed.filter-range")
@pytest.mark.parametrize(
    ("condition", "found"),
    [
        (_is("greaterThanOrEquals", "opened", "2026-03-01T00:00:00Z"), {"berlin", "rome"}),
        (_is("lessThan", "opened", "2026-03-01T07:00:00Z"), {"rome"}),
        (_is("lessThan", "opened", 2030), set()),
        (_is("greaterThan", "year", "2020-01-01"), set()),
        ({"orAll": [_is("equals", "year", 2024), _is("in", "tags", ["b"])]}, {"berlin", "paris"}),
    ],
)
def test_filter_matches_as_on_aws(
    cities: Cities, condition: dict[str, Any], found: set[str]
) -> None:
    results = cities.search("a city", filter=condition)

    prefix = f"s3://{cities.world.bucket}/"
    assert set(places(results)) == {f"{prefix}{name}.txt" for name in found}


@holds("managed.filter-keys", "managed.document-id")
def test_passage_has_its_source_and_can_be_filtered_by_it(cities: Cities) -> None:
    uri = f"s3://{cities.world.bucket}/rome.txt"
    own = {"_source_uri": uri, "_data_source_id": cities.source}

    [found] = cities.search("city", filter=_is("equals", "_source_uri", uri))
    of_source = cities.search("city", filter=_is("equals", "_data_source_id", cities.source))
    of_vector = _is("equals", "x-amz-bedrock-kb-data-source-id", cities.source)

    assert found["location"] == {"type": "S3", "s3Location": {"uri": uri}}
    assert found["documentId"] == uri
    assert found["metadata"] == {**CITIES["rome"][1], **own}
    assert len(of_source) == 4
    assert cities.search("city", filter=of_vector) == []


@holds("managed.search-configuration", "retrieve.managed-configuration")
def test_search_configuration_must_match_kind_and_user_context_is_refused(
    cities: Cities,
) -> None:
    retrieve = cities.world.runtime.retrieve
    request = {"knowledgeBaseId": cities.knowledge_base, "retrievalQuery": {"text": "a city"}}
    vector = {"vectorSearchConfiguration": {"numberOfResults": 1}}
    elsewhere = Cities(cities.world, cities.world.knowledge_base(), "")

    here = invalid(retrieve, **request, retrievalConfiguration=vector)
    for_her = invalid(retrieve, **request, userContext={"userId": "ada@example.com"})

    assert "vectorSearchConfiguration is not supported for managed" in here
    assert "managedSearchConfiguration is not supported for vector" in elsewhere.refusal()
    assert "does not offer userContext" in for_her
    assert len(retrieve(**request)["retrievalResults"]) == 4


@holds("managed.query-empty", "managed.query-length")
def test_managed_query_length_is_limited(cities: Cities) -> None:
    assert cities.refusal(" ") == "Text input is required."
    assert "10000 characters" in cities.refusal("x" * 10_001)
    assert cities.search("x" * 10_000)


@holds("managed.hybrid")
def test_words_of_the_question_count_beside_its_meaning(world: World) -> None:
    knowledge_base, source = pair(world, CUSTOM)
    documents = [
        inline("meant", "How to repair a bicycle tyre at home.", kind="x"),
        inline("named", "The part XJ-4471 is kept in the cellar.", kind="x"),
    ]
    ingested(world, knowledge_base, source, documents)
    eventually(lambda: len(search(world, knowledge_base, "part")) == 2)

    assert places(search(world, knowledge_base, "xj 4471"))[0] == "named"
    assert places(search(world, knowledge_base, "fixing a flat bike wheel"))[0] == "meant"


@holds("managed.reranking", "managed.reranking-custom")
def test_best_score_is_one_unless_results_are_reranked(
    cities: Cities,
) -> None:
    relative = cities.search("hills of Rome", rerankingModelType="NONE")
    default = cities.search("hills of Rome")
    own = cities.search("hills of Rome", rerankingModelType="MANAGED")

    assert relative[0]["score"] == 1
    assert [each["score"] for each in own] == [each["score"] for each in default]
    assert 0 < default[-1]["score"] <= default[0]["score"] < 1
    chosen = {"rerankingConfiguration": CHOSEN}

    assert len(cities.search("hills", rerankingModelType="CUSTOM", **chosen)) == 2
    for wrong in (
        {"rerankingModelType": "CUSTOM"},
        {"rerankingModelType": "NONE", **chosen},
        chosen,
    ):
        assert "goes with rerankingModelType CUSTOM" in cities.refusal(**wrong)


@holds("managed.rate.*", "managed.retrieve-rate", "managed.retrieve-burst", "managed.in-account")
def test_managed_knowledge_base_has_its_own_rates() -> None:
    clock = HandClock()
    quotas = Quotas(clock, lambda name: name.startswith("M"))

    def taken(operation: str, *, home: str, most: int) -> int:
        """Return how many calls are accepted at once."""
        for number in range(most):
            try:
                quotas.spend(operation, {"knowledgeBaseId": home})
            except ServiceError:
                return number
        return most

    assert {name: taken(name, home="M1", most=200) for name in MANAGED_RATES} == {
        "IngestKnowledgeBaseDocuments": 20,
        "DeleteKnowledgeBaseDocuments": 10,
        "ListKnowledgeBaseDocuments": 10,
        "Retrieve": 25,
    }
    assert taken("IngestKnowledgeBaseDocuments", home="V1", most=200) == 5
    assert [taken("Retrieve", home=f"M{number}", most=200) for number in range(2, 6)] == [
        *[25] * 3,
        0,
    ]
    assert taken("Retrieve", home="V1", most=200) == 20
    clock.seconds += 1
    assert taken("Retrieve", home="M1", most=200) == 10
    assert taken("StartIngestionJob", home="M1", most=2) == 1
    assert taken("StartIngestionJob", home="V1", most=2) == 0
