"""InvokeModel of Titan text embeddings."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.embedder import Embedder, ids_of, resize
from bedrock_kb_simulator.service_errors import ServiceError

TITAN = "amazon.titan-embed-text-v2:0"
_DIMENSIONS = (1024, 512, 256)  # Titan Text Embeddings V2; the first is the default
_MOST_CHARACTERS = 50_000


def dimensions_of(configuration: dict[str, Any]) -> int:
    """Return the dimensions in a vectorKnowledgeBaseConfiguration, whose model must be Titan."""
    if not configuration.get("embeddingModelArn", "").endswith(f"/{TITAN}"):
        raise rules.NOT_SIMULATED.broken(what=f"embedding models other than {TITAN}")
    chosen = configuration.get("embeddingModelConfiguration") or {}
    bedrock = chosen.get("bedrockEmbeddingModelConfiguration") or {}
    return int(bedrock.get("dimensions") or _DIMENSIONS[0])


@dataclass(frozen=True, kw_only=True)
class Models:
    embedder: Embedder

    def invoke(self, parameters: Parameters) -> Parameters:
        if parameters["modelId"].rpartition("/")[2] != TITAN:
            raise rules.NOT_SIMULATED.broken(what=f"InvokeModel of models other than {TITAN}")
        try:
            request = json.loads(parameters.get("body") or b"{}")
        except ValueError:
            raise _malformed_request("the body is not JSON") from None
        answer = self._embed(request)
        return {"body": json.dumps(answer).encode(), "contentType": "application/json"}

    def _embed(self, request: dict[str, Any]) -> dict[str, Any]:
        text, dimensions = request.get("inputText"), request.get("dimensions", _DIMENSIONS[0])
        if not isinstance(text, str) or not 1 <= len(text) <= _MOST_CHARACTERS:
            raise _malformed_request(f"inputText must have 1 to {_MOST_CHARACTERS} characters")
        if dimensions not in _DIMENSIONS:
            raise _malformed_request(f"dimensions must be one of {_DIMENSIONS}")
        if not isinstance(request.get("normalize", True), bool):
            raise _malformed_request("normalize must be a boolean")
        if request.get("embeddingTypes", ["float"]) != ["float"]:
            raise rules.NOT_SIMULATED.broken(what="embedding types other than float")
        # Titan doesn't know whether a text is a passage or a question, so all texts are embedded
        # alike.
        embedded = self.embedder.embed_question(text)
        vector = resize(embedded, dimensions)
        if not request.get("normalize", True):
            # The stand-in's whole vectors have length one; a part keeps its own length.
            vector = vector * np.linalg.norm(embedded[:dimensions])
        values = vector.tolist()
        return {
            "embedding": values,
            "inputTextTokenCount": len(ids_of(text)),
            "embeddingsByType": {"float": values},
        }


def _malformed_request(problem: str) -> ServiceError:
    return ServiceError("ValidationException", f"Malformed input request: {problem}")
