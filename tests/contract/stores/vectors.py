"""Indexes of S3 Vectors as simulated here that no Bedrock knows of, filled by PutVectors."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from stackroom.aws.embeddings import BedrockEmbeddings
from stackroom.aws.index_watch import IndexWatch
from stackroom.aws.vector_index import S3VectorsKnowledgeBase
from stackroom.aws.vector_passages import VectorReading
from stackroom.ports.retrieval import KnowledgeBase, Search
from stackroom.retrieval.embeddings import CachedEmbeddings, MemoryEmbeddingCache
from tests.contract.stores.bedrock import (
    MODEL,
    QUERY,
    Simulated,
    Stocked,
    client,
    searched_by,
)
from tests.contract.stores.shelves import Shelf
from tests.contract.stores.worlds import Ranks, Store, Trouble, World, clipped

_DIMENSIONS = 256
_READING = VectorReading(text_key="body", source_key="url")


def _by_euclid(cosine: float) -> float:
    """Of vectors of length one."""
    return 1 / (1 + math.sqrt(max(0.0, 2 - 2 * cosine)))


STORES = {
    "S3 Vectors, anybody's": Store(
        fixture="anybodys_world",
        is_variant=True,
        ranks=Ranks.BY_BOTH,
        score_of=clipped,
        dimensions=_DIMENSIONS,
        troubles=frozenset(Trouble),
    ),
    "S3 Vectors, by Euclid": Store(
        fixture="euclidean_world",
        is_variant=True,
        ranks=Ranks.BY_MEANING,
        score_of=_by_euclid,
        tells_cosines=False,
        dimensions=_DIMENSIONS,
        troubles=frozenset(Trouble),
    ),
}


@dataclass(frozen=True)
class Anybodys(Simulated):
    """Each shelf is an index whose makers call text and source what they like."""

    metric: str = "cosine"

    def stocked(self, shelf: Shelf) -> Stocked:
        if shelf.name not in self._stocked:
            index = self._filled(shelf)
            self._stocked[shelf.name] = Stocked(
                endpoint=self.endpoint, knowledge_base_id="", index_arn=index
            )
        return self._stocked[shelf.name]

    def _filled(self, shelf: Shelf) -> str:
        vectors, bucket = client("s3vectors", self.endpoint), f"{self.metric}-{shelf.name}"
        vectors.create_vector_bucket(vectorBucketName=bucket)
        index: str = vectors.create_index(
            vectorBucketName=bucket,
            indexName="shelf",
            dataType="float32",
            dimension=_DIMENSIONS,
            distanceMetric=self.metric,
            metadataConfiguration={
                "textSearchConfigurations": [{"metadataKey": "body", "language": "en"}]
            },
        )["indexArn"]
        embeddings = _embeddings(self.endpoint)
        found = [
            {
                "key": each.key,
                "data": {"float32": list(embeddings.embed(each.text))},
                "metadata": {**each.attributes, "body": each.text, "url": shelf.uri_of(each)},
            }
            for each in shelf.documents
        ]
        if found:
            vectors.put_vectors(indexArn=index, vectors=found)
        return index


def _embeddings(endpoint: str) -> BedrockEmbeddings:
    runtime = client("bedrock-runtime", endpoint)
    return BedrockEmbeddings(client=runtime, model=MODEL, dimensions=_DIMENSIONS)


def _alone(stocked: Stocked, search: Search) -> KnowledgeBase:
    vectors, runtime = stocked.client("s3vectors"), stocked.client("bedrock-runtime")
    embeddings = BedrockEmbeddings(client=runtime, model=MODEL, dimensions=_DIMENSIONS)
    return S3VectorsKnowledgeBase(
        vectors,
        stocked.index_arn,
        watch=IndexWatch(
            vectors,
            stocked.index_arn,
            search=search,
            dimensions=_DIMENSIONS,
            text_key=_READING.text_key,
            metrics=("cosine", "euclidean"),
        ),
        embeddings=CachedEmbeddings(embeddings=embeddings, cache=MemoryEmbeddingCache()),
        search=search,
        reading=_READING,
    )


@pytest.fixture(scope="package")
def anybodys_world(bedrock: Simulated) -> Iterator[World]:
    anybodys = Anybodys(bedrock.endpoint)
    with searched_by(anybodys, lambda each: _alone(each, Search.HYBRID), at=QUERY) as world:
        yield world


@pytest.fixture(scope="package")
def euclidean_world(bedrock: Simulated) -> Iterator[World]:
    anybodys = Anybodys(bedrock.endpoint, metric="euclidean")
    with searched_by(anybodys, lambda each: _alone(each, Search.SEMANTIC), at=QUERY) as world:
        yield world
