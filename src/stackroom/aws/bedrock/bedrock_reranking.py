"""Rank passages by a reranking model on Bedrock."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from stackroom.aws.error_mapping import search_error, understood
from stackroom.errors import KnowledgeBaseUnavailable

if TYPE_CHECKING:
    from types_boto3_bedrock_agent_runtime.client import AgentsforBedrockRuntimeClient

_ROUNDING = 1e-3  # many times the error of the API's 32-bit floats
_MAX_CHARACTERS = 32_000  # per text [API model of Rerank: RerankTextDocument]


class BedrockReranker:
    """A `Reranker` over Bedrock's `Rerank`, which an account may call ten times a second."""

    def __init__(self, client: "AgentsforBedrockRuntimeClient", *, model_arn: str) -> None:
        self._client = client
        self._model_arn = model_arn

    def rank(self, question: str, texts: Sequence[str]) -> tuple[float, ...]:
        request: dict[str, Any] = {
            "queries": [{"type": "TEXT", "textQuery": {"text": question}}],
            "sources": [_source(text) for text in texts],
            "rerankingConfiguration": {
                "type": "BEDROCK_RERANKING_MODEL",
                "bedrockRerankingConfiguration": {
                    "modelConfiguration": {"modelArn": self._model_arn},
                    "numberOfResults": len(texts),
                },
            },
        }
        relevances: dict[int, float] = {}
        with understood("Rerank"):
            try:
                for page in self._client.get_paginator("rerank").paginate(**request):
                    for result in page["results"]:
                        relevances[result["index"]] = _relevance(result["relevanceScore"])
            except (ClientError, BotoCoreError) as error:
                raise search_error(error, "Rerank") from error
        if set(relevances) != set(range(len(texts))):
            raise KnowledgeBaseUnavailable("Rerank", "not one relevance for each passage")
        return tuple(relevances[number] for number in range(len(texts)))


def _relevance(score: float) -> float:
    """
    Return the score, clamped to AWS's range of 0 to 1. Raises ValueError if it is outside by more
    than a rounding error.
    """
    if not -_ROUNDING <= score <= 1 + _ROUNDING:
        raise ValueError("a relevance is from 0 to 1")
    return min(1.0, max(0.0, float(score)))


def _source(text: str) -> dict[str, Any]:
    document = {"type": "TEXT", "textDocument": {"text": text[:_MAX_CHARACTERS]}}
    return {"type": "INLINE", "inlineDocumentSource": document}
