"""
Stores that an agent searches itself, as whoever fills them does: without Bedrock, by their own API.

Another store is a function that holds documents, and a line in the table: its attempts are those of
all (`stored.py`).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from stackroom.aws.opensearch.layout import creation
from stackroom.aws.pgvector.documents import Chunk, Documents, NewDocument
from tests.postgresql import LOADING, READING, postgresql
from tests.simulator.collection import Collection
from tests.simulator.world import World

_DIMENSIONS = 256


@dataclass(frozen=True, kw_only=True)
class Document:
    """`attributes` are all that its writer says of it, whose it is among them."""

    key: str
    text: str
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Place:
    """
    A knowledge base's id, and the attribute that the owner of a document stands in; None where all
    are everybody's.
    """

    name: str
    owner_in: str | None


Holding = Callable[[World, Sequence[Document], Place], AbstractContextManager[Mapping[str, Any]]]


@contextmanager
def _in_an_index(
    world: World,
    documents: Sequence[Document],
    _place: Place,
) -> Iterator[Mapping[str, Any]]:
    index = world.index(dimension=_DIMENSIONS, non_filterable=["body"], searched={"body": "en"})
    for each in documents:
        metadata = {"body": each.text, "url": f"https://shelf.test/{each.key}", **each.attributes}
        world.put_vector(index, each.key, embedded(world, each.text), **metadata)
    yield {
        "vectorStoreType": "S3_VECTORS_DIRECT",
        "indexArn": index,
        "textKey": "body",
        "sourceKey": "url",
        "embeddingDimensions": _DIMENSIONS,
    }


@contextmanager
def _in_tables(
    world: World, documents: Sequence[Document], place: Place
) -> Iterator[Mapping[str, Any]]:
    """What has no one owner is everybody's, as far as row level security goes."""
    with postgresql() as server:
        server.database("attacked", dimensions=_DIMENSIONS)
        with server.connections(LOADING, "attacked") as loading:
            for number, each in enumerate(documents):
                owner = each.attributes.get(place.owner_in) if place.owner_in else None
                kept = Documents(
                    connections=loading,
                    knowledge_base_id=place.name,
                    dimensions=_DIMENSIONS,
                    user_id=owner if isinstance(owner, str) and owner else None,
                )
                if number == 0:
                    replace(kept, user_id=None).make_knowledge_base("Harbour")
                chunk = Chunk(content=each.text, embedding=tuple(embedded(world, each.text)))
                kept.put(
                    NewDocument(
                        name=each.key,
                        digest="1",
                        chunks=[chunk],
                        source_uri=f"https://shelf.test/{each.key}",
                        attributes=each.attributes,
                    )
                )
        yield {
            "vectorStoreType": "PGVECTOR",
            "host": server.socket,
            "isLocal": True,
            "database": "attacked",
            "user": READING,
            "embeddingDimensions": _DIMENSIONS,
        }


@contextmanager
def _in_a_collection(
    world: World, documents: Sequence[Document], _place: Place
) -> Iterator[Mapping[str, Any]]:
    collection = Collection.at(world.endpoint)
    held: list[dict[str, Any]] = [
        {
            "text": each.text,
            "vector": embedded(world, each.text),
            "metadata": {"source": f"https://shelf.test/{each.key}", **each.attributes},
        }
        for each in documents
    ]
    collection.fill("knowledge-base", creation(dimensions=_DIMENSIONS), held)
    yield {
        "vectorStoreType": "OPENSEARCH_SERVERLESS",
        "collectionEndpoint": collection.endpoint,
        "embeddingDimensions": _DIMENSIONS,
        "overrideSearchType": "HYBRID",
        "minScore": 0.0,
    }
    collection.close()


def embedded(world: World, text: str) -> list[float]:
    asked = {"inputText": text, "dimensions": _DIMENSIONS, "normalize": True}
    answer = world.bedrock_runtime.invoke_model(
        modelId="amazon.titan-embed-text-v2:0", body=json.dumps(asked)
    )
    vector: list[float] = json.loads(answer["body"].read())["embedding"]
    return vector


# What each says of itself in an entry of KNOWLEDGE_BASES_CONFIG, while it holds the documents.
STORES: Mapping[str, Holding] = {
    "OpenSearch": _in_a_collection,
    "PostgreSQL": _in_tables,
    "S3 Vectors": _in_an_index,
}
# Those that find nothing where nobody is named: a third lock, in the store itself.
CLOSED = frozenset({"PostgreSQL"})
