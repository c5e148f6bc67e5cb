"""
Stores that an agent searches itself, as whoever fills them does: without Bedrock, by their own API.

Another store is a function that holds documents, and a line in the table: its attempts are those of
all (`stored.py`).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.simulator.world import World

_DIMENSIONS = 256


@dataclass(frozen=True, kw_only=True)
class Document:
    """`attributes` are all that its writer says of it, whose it is among them."""

    key: str
    text: str
    attributes: Mapping[str, object] = field(default_factory=dict)


Holding = Callable[[World, Sequence[Document]], AbstractContextManager[Mapping[str, Any]]]


@contextmanager
def _in_an_index(world: World, documents: Sequence[Document]) -> Iterator[Mapping[str, Any]]:
    index = world.index(dimension=_DIMENSIONS, non_filterable=["body"], searched={"body": "en"})
    for each in documents:
        metadata = {"body": each.text, "url": f"https://shelf.test/{each.key}", **each.attributes}
        world.put_vector(index, each.key, _embedded(world, each.text), **metadata)
    yield {
        "vectorStoreType": "S3_VECTORS_DIRECT",
        "indexArn": index,
        "textKey": "body",
        "sourceKey": "url",
        "embeddingDimensions": _DIMENSIONS,
    }


def _embedded(world: World, text: str) -> list[float]:
    asked = {"inputText": text, "dimensions": _DIMENSIONS, "normalize": True}
    answer = world.bedrock_runtime.invoke_model(
        modelId="amazon.titan-embed-text-v2:0", body=json.dumps(asked)
    )
    vector: list[float] = json.loads(answer["body"].read())["embedding"]
    return vector


# What each says of itself in an entry of KNOWLEDGE_BASES_CONFIG, while it holds the documents.
STORES: Mapping[str, Holding] = {"S3 Vectors": _in_an_index}
