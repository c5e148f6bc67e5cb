"""Embedding models: what bedrock-runtime's InvokeModel answers for Titan, and their dimensions."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.embedder import Embedder, ids_of, resized
from bedrock_kb_simulator.identifiers import Arns
from bedrock_kb_simulator.service_errors import ServiceError

TITAN = "amazon.titan-embed-text-v2:0"
_DIMENSIONS = (1024, 512, 256)  # of Titan Text Embeddings V2; the first is the default
_MOST_CHARACTERS = 50_000


def dimensions_of(configuration: dict[str, Any]) -> int:
    """Of a vectorKnowledgeBaseConfiguration, whose model must be the one that is simulated."""
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
            raise _malformed("the body is not JSON") from None
        answer = self._embedded(request)
        return {"body": json.dumps(answer).encode(), "contentType": "application/json"}

    def _embedded(self, request: dict[str, Any]) -> dict[str, Any]:
        text, dimensions = request.get("inputText"), request.get("dimensions", _DIMENSIONS[0])
        if not isinstance(text, str) or not 1 <= len(text) <= _MOST_CHARACTERS:
            raise _malformed(f"inputText must have 1 to {_MOST_CHARACTERS} characters")
        if dimensions not in _DIMENSIONS:
            raise _malformed(f"dimensions must be one of {_DIMENSIONS}")
        if not isinstance(request.get("normalize", True), bool):
            raise _malformed("normalize must be a boolean")
        if request.get("embeddingTypes", ["float"]) != ["float"]:
            raise rules.NOT_SIMULATED.broken(what="embedding types other than float")
        # Titan is told nothing of what a text is for, so all texts are embedded alike, as those are
        # that are compared with their like.
        embedded = self.embedder.embed_question(text)
        vector = resized(embedded, dimensions)
        if not request.get("normalize", True):
            # The stand-in's whole vectors have the length one: a part is left as short as it is.
            vector = vector * np.linalg.norm(embedded[:dimensions])
        values = vector.tolist()
        return {
            "embedding": values,
            "inputTextTokenCount": len(ids_of(text)),
            "embeddingsByType": {"float": values},
        }


def _malformed(problem: str) -> ServiceError:
    return ServiceError("ValidationException", f"Malformed input request: {problem}")


# Whether a model may be asked, as Bedrock tells without it being asked: rule models.available.

_THERE = "AVAILABLE"


@dataclass(frozen=True, kw_only=True)
class Availability:
    arns: Arns

    def of_model(self, parameters: Parameters) -> Parameters:
        return {
            "modelId": parameters["modelId"],
            "agreementAvailability": {"status": _THERE},
            "authorizationStatus": "AUTHORIZED",
            "entitlementAvailability": _THERE,
            "regionAvailability": _THERE,
        }

    def of_profile(self, parameters: Parameters) -> Parameters:
        """Of those that are AWS's own, by their ids."""
        profile = parameters["inferenceProfileIdentifier"]
        where, _, model = profile.partition(".")
        in_region = f"arn:aws:bedrock:{self.arns.region}"
        return {
            "inferenceProfileId": profile,
            "inferenceProfileName": f"{where} {model}",
            "inferenceProfileArn": f"{in_region}:{self.arns.account}:inference-profile/{profile}",
            "models": [{"modelArn": f"{in_region}::foundation-model/{model}"}],
            "status": "ACTIVE",
            "type": "SYSTEM_DEFINED",
        }
