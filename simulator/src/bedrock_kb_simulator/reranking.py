"""
bedrock-agent-runtime's Rerank, and Retrieve's rerankingConfiguration, by one stand-in for the
models: rule rerank.stand-in.
"""

import re
from dataclasses import dataclass, replace
from typing import Any

from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.embedding import Embedder, Vector, normalised
from bedrock_kb_simulator.rules import (
    NOT_SIMULATED,
    RERANK_MODEL,
    RERANK_RESULTS,
    RERANKING_EMPTY,
    RERANKING_FIELDS,
)
from bedrock_kb_simulator.vectors import Hit

# https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-supported.html
_MODELS = ("amazon.rerank-v1:0", "cohere.rerank-v3-5:0")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class Reranking:
    embedder: Embedder

    def rerank(self, parameters: Parameters) -> Parameters:
        chosen = parameters["rerankingConfiguration"]["bedrockRerankingConfiguration"]
        _check_model(chosen["modelConfiguration"], "Rerank")
        texts = [_text(source) for source in parameters["sources"]]
        limit = chosen.get("numberOfResults") or len(texts)
        if limit > len(texts):
            raise RERANK_RESULTS.broken(most=len(texts))
        question = parameters["queries"][0]["textQuery"]["text"]
        ranked = self._ranked(question, texts)[:limit]
        return {"results": [{"index": at, "relevanceScore": score} for at, score in ranked]}

    def check(self, configuration: dict[str, Any]) -> None:
        """Of a rerankingConfiguration of Retrieve; raises ServiceError for what AWS refuses."""
        chosen = configuration.get("bedrockRerankingConfiguration")
        if chosen is None:
            raise RERANKING_EMPTY.broken()
        _check_model(chosen["modelConfiguration"], "Retrieve")
        metadata = chosen.get("metadataConfiguration") or {}
        is_selective = metadata.get("selectionMode") == "SELECTIVE"
        selected = metadata.get("selectiveModeConfiguration") or {}
        if (is_selective and len(selected) != 1) or (selected and not is_selective):
            raise RERANKING_FIELDS.broken()

    def reranked(self, question: str, hits: list[Hit], configuration: dict[str, Any]) -> list[Hit]:
        """As a checked rerankingConfiguration says, and rule retrieve.reranking."""
        chosen = configuration["bedrockRerankingConfiguration"]
        metadata = chosen.get("metadataConfiguration") or {}
        ranked = self._ranked(question, [_told(hit, metadata) for hit in hits])
        limit = chosen.get("numberOfRerankedResults") or len(hits)
        return [replace(hits[at], score=score) for at, score in ranked[:limit]]

    def meaning(self, question: str) -> Vector:
        """What passages are compared with, of the length one."""
        return normalised(self.embedder.embed(question))

    def _ranked(self, question: str, texts: list[str]) -> list[tuple[int, float]]:
        """Each text's place and relevance, most relevant first."""
        query, words = self.embedder.embed(question), _words(question)
        scores = [
            _between(float(self.embedder.embed(text) @ query), _shared(words, _words(text)))
            for text in texts
        ]
        return sorted(enumerate(scores), key=lambda each: -each[1])


def with_words(question: str, hits: list[Hit]) -> list[Hit]:
    """Hits whose score is a similarity, by that and the question's words, best first."""
    words = _words(question)
    scored = [
        replace(hit, score=_between(hit.score, _shared(words, _words(hit.text)))) for hit in hits
    ]
    return sorted(scored, key=lambda hit: -hit.score)


def _check_model(configuration: dict[str, Any], operation: str) -> None:
    if configuration["modelArn"].rpartition("/")[2] not in _MODELS:
        raise RERANK_MODEL.broken()
    if configuration.get("additionalModelRequestFields"):
        raise NOT_SIMULATED.broken(what=f"additionalModelRequestFields of {operation}")


def _told(hit: Hit, metadata: dict[str, Any]) -> str:
    """What the model reads of a passage: its text, and the attributes that were chosen."""
    fields = metadata.get("selectiveModeConfiguration") or {}
    included, excluded = (
        {field["fieldName"] for field in fields.get(member, ())}
        for member in ("fieldsToInclude", "fieldsToExclude")
    )
    read = [
        f"{key}: {value}"
        for key, value in hit.attributes.items()
        if metadata and key not in excluded and (not included or key in included)
    ]
    return "\n".join([hit.text, *read])


def _text(source: dict[str, Any]) -> str:
    document = source["inlineDocumentSource"]
    if "textDocument" not in document:
        raise NOT_SIMULATED.broken(what="Rerank of documents that are no text")
    return str(document["textDocument"].get("text") or "")


def _between(similarity: float, shared: float) -> float:
    return (max(0.0, similarity) + shared) / 2


def _shared(asked: set[str], present: set[str]) -> float:
    return len(asked & present) / len(asked) if asked else 0.0


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
