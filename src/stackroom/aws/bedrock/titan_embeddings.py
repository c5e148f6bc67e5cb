"""Vectors of texts by a model of Bedrock's, as a knowledge base makes them of its documents."""

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stackroom.aws.error_mapping import direct_search_errors, understood
from stackroom.errors import KnowledgeBaseUnavailable, SearchRefused
from stackroom.ports.embeddings import Vector

if TYPE_CHECKING:
    from types_boto3_bedrock_runtime.client import BedrockRuntimeClient

_ROUNDING = 0.01


@dataclass(frozen=True, kw_only=True)
class BedrockEmbeddings:
    """
    An `Embeddings` over InvokeModel, in the words of Amazon Titan Text Embeddings V2.
    [assumed: embedding.same]

    It takes 50,000 characters or 8,192 tokens, which no question of ours comes near.
    https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html
    """

    client: "BedrockRuntimeClient"
    model: str
    dimensions: int
    provider: str = "bedrock"

    def embed(self, text: str) -> Vector:
        asked = {"inputText": text, "dimensions": self.dimensions, "normalize": True}
        with direct_search_errors("InvokeModel"), understood("InvokeModel"):
            response = self.client.invoke_model(
                modelId=self.model,
                contentType="application/json",
                accept="application/json",
                body=json.dumps(asked),
            )
            answered = json.loads(response["body"].read())
            vector = tuple(map(float, answered.get("embedding", ())))
        if len(vector) != self.dimensions:
            raise SearchRefused(
                f"{self.model} answered a vector of {len(vector)} dimensions, not {self.dimensions}"
            )
        # That is asked for; by one that isn't, or holds what is no number, nothing is near.
        if not abs(math.hypot(*vector) - 1) < _ROUNDING:
            raise KnowledgeBaseUnavailable("InvokeModel", "a vector that is not of length one")
        return vector
