"""Rerank, and Retrieve with a model that reranks."""

from collections.abc import Callable
from typing import Any

import pytest

from simulator.tests.holding import holds
from simulator.tests.world import HAIKU, REGION, World, invalid

RERANKER = f"arn:aws:bedrock:{REGION}::foundation-model/cohere.rerank-v3-5:0"
Ask = Callable[..., list[dict[str, Any]]]
ALL = {"selectionMode": "ALL"}
MORE = {"additionalModelRequestFields": {"max_tokens_per_doc": 10}}
PUMPS = {
    "pump": ("The pump is greased weekly.", {"city": "Rome", "year": 2024, "is_public": True}),
    "hall": ("The hall is swept at night.", {"city": "Bonn", "year": 2025, "tags": ["x", "y"]}),
    "gate": ("The gate is painted blue.", {"city": "New York", "year": 2026, "tags": ["y"]}),
    "roof": ("The roof is flat.", {"city": "rome", "note": "How often is the pump greased?"}),
}


@pytest.fixture(scope="module")
def ask(shared: World) -> Ask:
    """Return a search of four documents; keywords go into vectorSearchConfiguration."""
    world = shared.anew()
    knowledge_base = world.filled(**PUMPS)

    def results(question: str, **search: Any) -> list[dict[str, Any]]:
        configuration = {"vectorSearchConfiguration": {"numberOfResults": 10, **search}}
        found: list[dict[str, Any]] = world.runtime.retrieve(
            knowledgeBaseId=knowledge_base,
            retrievalQuery={"text": question},
            retrievalConfiguration=configuration,
        )["retrievalResults"]
        return found

    return results


def reranking(model: str = RERANKER, **chosen: Any) -> dict[str, Any]:
    bedrock = {"modelConfiguration": {"modelArn": model}, **chosen}
    return {"type": "BEDROCK_RERANKING_MODEL", "bedrockRerankingConfiguration": bedrock}


def keys(found: list[dict[str, Any]]) -> list[str]:
    return [each["location"]["s3Location"]["uri"].rpartition("/")[2] for each in found]


def rerank(texts: list[str], question: str, **chosen: Any) -> dict[str, Any]:
    return {
        "queries": [{"type": "TEXT", "textQuery": {"text": question}}],
        "sources": [
            {
                "type": "INLINE",
                "inlineDocumentSource": {"type": "TEXT", "textDocument": {"text": text}},
            }
            for text in texts
        ],
        "rerankingConfiguration": reranking(**chosen),
    }


@holds("rerank.stand-in", "rerank.model", "rerank.results")
def test_rerank_orders_texts_by_relevance_with_their_index(world: World) -> None:
    texts = ["The hall is swept.", "Pumps are greased daily.", "The pump is greased weekly."]
    rerank_, question = world.runtime.rerank, "How often is the pump greased?"
    of_haiku = {**rerank(texts, question), "rerankingConfiguration": reranking(HAIKU)}

    results = rerank_(**rerank(texts, question))["results"]
    [best] = rerank_(**rerank(texts, question, numberOfResults=1))["results"]

    assert [result["index"] for result in results] == [2, 1, 0]
    scores = [result["relevanceScore"] for result in results]
    assert 1 >= scores[0] > scores[1] > scores[2] >= 0
    assert best == results[0]
    assert "model ARN for reranking is invalid" in invalid(rerank_, **of_haiku)
    many = invalid(rerank_, **rerank(texts, question, numberOfResults=4))
    assert "at most the number of sources, 3" in many


@holds("retrieve.reranking")
def test_reranking_model_orders_scores_and_limits_the_results(world: World, ask: Ask) -> None:
    question = "How often is the pump greased?"

    results = ask(question, rerankingConfiguration=reranking())
    two = ask("pump", rerankingConfiguration=reranking(numberOfRerankedResults=2))
    many = reranking(numberOfRerankedResults=100)
    three = ask("pump", numberOfResults=3, rerankingConfiguration=many)

    texts = [each["content"]["text"] for each in results]
    direct = world.runtime.rerank(**rerank(texts, question))["results"]
    assert (len(two), len(three)) == (2, 3)
    assert set(texts) == {text for text, _ in PUMPS.values()}
    assert keys(results)[0] == "pump.txt"
    assert [each["index"] for each in direct] == [0, 1, 2, 3]
    assert [each["score"] for each in results] == pytest.approx(
        [each["relevanceScore"] for each in direct]
    )


def selected(**chosen: list[str]) -> dict[str, Any]:
    """Return a metadataConfiguration of these fields."""
    fields = {name: [{"fieldName": each} for each in names] for name, names in chosen.items()}
    return {"selectionMode": "SELECTIVE", "selectiveModeConfiguration": fields}


ONE, BOTH = selected(fieldsToInclude=["a"]), selected(fieldsToInclude=["a"], fieldsToExclude=["b"])


@holds("rerank.model", "retrieve.reranking-empty", "retrieve.reranking-fields")
@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        (reranking(HAIKU), "model ARN for reranking is invalid"),
        (reranking(numberOfRerankedResults=101), "numberOfRerankedResults"),
        ({"type": "BEDROCK_RERANKING_MODEL"}, "needs bedrockRerankingConfiguration"),
        (reranking(metadataConfiguration={"selectionMode": "SELECTIVE"}), "fieldsToInclude"),
        (reranking(metadataConfiguration={**ONE, **ALL}), "ALL takes neither"),
        (reranking(metadataConfiguration=BOTH), "either fieldsToInclude or fieldsToExclude"),
        (reranking(modelConfiguration={"modelArn": RERANKER, **MORE}), "ModelRequestFields of Ret"),
    ],
)
def test_invalid_reranking_is_refused(
    ask: Ask, configuration: dict[str, Any], message: str
) -> None:
    assert message in invalid(ask, question="pump", rerankingConfiguration=configuration)
