"""Rerank, by the stand-in for its models."""

from typing import Any

import pytest

from tests.simulator.holding import holds
from tests.simulator.world import HAIKU, REGION, World, refused

MODEL = f"arn:aws:bedrock:{REGION}::foundation-model/amazon.rerank-v1:0"
TEXTS = ["The hall is swept at night.", "Pumps are greased daily.", "The pump is greased weekly."]


def request(texts: list[str] = TEXTS, *, model: str = MODEL, **chosen: Any) -> dict[str, Any]:
    return {
        "queries": [{"type": "TEXT", "textQuery": {"text": "How often is the pump greased?"}}],
        "sources": [
            {
                "type": "INLINE",
                "inlineDocumentSource": {"type": "TEXT", "textDocument": {"text": text}},
            }
            for text in texts
        ],
        "rerankingConfiguration": {
            "type": "BEDROCK_RERANKING_MODEL",
            "bedrockRerankingConfiguration": {"modelConfiguration": {"modelArn": model}, **chosen},
        },
    }


@holds("rerank.stand-in")
def test_texts_come_in_the_order_of_their_relevance_under_their_own_number(world: World) -> None:
    results = world.runtime.rerank(**request())["results"]

    assert [result["index"] for result in results] == [2, 1, 0]
    scores = [result["relevanceScore"] for result in results]
    assert 1 >= scores[0] > scores[1] > scores[2] >= 0


def test_as_many_are_answered_as_were_asked_for(world: World) -> None:
    results = world.runtime.rerank(**request(numberOfResults=1))["results"]

    assert [result["index"] for result in results] == [2]


@holds("rerank.model", "rerank.results")
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (request(model=HAIKU), "model ARN for reranking is invalid"),
        (request(numberOfResults=4), "at most the number of sources, 3"),
    ],
)
def test_what_aws_refuses_is_refused(world: World, asked: dict[str, Any], message: str) -> None:
    error = refused(world.runtime.rerank, **asked)

    assert error["Code"] == "ValidationException"
    assert message in error["Message"]
