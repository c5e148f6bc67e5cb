"""bedrock-agent-runtime's Rerank, by a stand-in for the models: rule rerank.stand-in."""

import re
from dataclasses import dataclass
from typing import Any

from stackroom_local.simulator.dispatch import Parameters
from stackroom_local.simulator.embedding import Embedder
from stackroom_local.simulator.rules import NOT_SIMULATED, RERANK_MODEL, RERANK_RESULTS

# https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-supported.html
_MODELS = ("amazon.rerank-v1:0", "cohere.rerank-v3-5:0")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class Reranking:
    embedder: Embedder

    def rerank(self, parameters: Parameters) -> Parameters:
        chosen = parameters["rerankingConfiguration"]["bedrockRerankingConfiguration"]
        model = chosen["modelConfiguration"]["modelArn"].rpartition("/")[2]
        if model not in _MODELS:
            raise RERANK_MODEL.broken(model=model)
        if chosen["modelConfiguration"].get("additionalModelRequestFields"):
            raise NOT_SIMULATED.broken(what="additionalModelRequestFields of Rerank")
        texts = [_text(source) for source in parameters["sources"]]
        limit = chosen.get("numberOfResults") or len(texts)
        if limit > len(texts):
            raise RERANK_RESULTS.broken(most=len(texts))
        question = parameters["queries"][0]["textQuery"]["text"]
        scores = self._scores(question, texts)
        ranked = sorted(range(len(texts)), key=lambda at: -scores[at])[:limit]
        return {"results": [{"index": at, "relevanceScore": scores[at]} for at in ranked]}

    def _scores(self, question: str, texts: list[str]) -> list[float]:
        query, words = self.embedder.embed(question), _words(question)
        return [
            _between(float(self.embedder.embed(text) @ query), _shared(words, _words(text)))
            for text in texts
        ]


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
