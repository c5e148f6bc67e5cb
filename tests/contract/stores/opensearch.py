"""Indexes of OpenSearch Serverless, in both ways to search one."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest

from stackroom.aws.bedrock.question_embeddings import BedrockEmbeddings
from stackroom.model.passages import KnowledgeBase, Search
from stackroom.search.cached_embeddings import CachedEmbeddings, MemoryEmbeddingCache
from stackroom_stores.opensearch.collection import Collection as Client
from stackroom_stores.opensearch.index_layout import creation
from stackroom_stores.opensearch.opensearch_adapter import OpenSearchKnowledgeBase
from tests.contract.stores.bedrock import MODEL, ONCE, SPOILT, Simulated, client
from tests.contract.stores.document_sets import DocumentSet
from tests.contract.stores.meaning import vector
from tests.contract.stores.worlds import Ranks, Store, Trouble, World
from tests.opensearch.collection import Collection, credentials
from tests.opensearch.stand_in import REGION
from tests.support.relay import Relay

_DIMENSIONS = 256


def _score(cosine: float) -> float:
    """Return the score for cosinesimil as OpenSearch documents it."""
    return (1 + cosine) / 2


STORES = {
    "OpenSearch": Store(
        fixture="opensearch_world",
        ranks=Ranks.BY_MEANING,
        score_of=_score,
        troubles=frozenset(Trouble),
        dimensions=_DIMENSIONS,
    ),
    "OpenSearch, by both": Store(
        fixture="opensearch_hybrid_world",
        is_variant=True,
        ranks=Ranks.BY_BOTH,
        score_of=_score,
        troubles=frozenset(Trouble),
        dimensions=_DIMENSIONS,
    ),
}


@dataclass
class OpenSearchWorld:
    """A collection of this world's own, behind a relay; each document set is an index."""

    relay: Relay
    collection: Collection
    search: Search
    _kept: dict[str, KnowledgeBase] = field(default_factory=dict)
    _clients: list[Client] = field(default_factory=list)

    @property
    def calls(self) -> int:
        return sum(each.path.endswith("search") for each in self.relay.calls)

    @property
    def _searches_at(self) -> str:
        return "/_search" if self.search is Search.SEMANTIC else "/_msearch"

    def holding(self, document_set: DocumentSet) -> KnowledgeBase:
        if document_set.name not in self._kept:
            self._fill(document_set)
            path = urlsplit(self.collection.endpoint).path
            self._clients.append(
                Client(
                    f"{self.relay.endpoint}{path}",
                    credentials=credentials("reader"),
                    region=REGION,
                )
            )
            embeddings = BedrockEmbeddings(
                client=client("bedrock-runtime", self.relay.endpoint, config=ONCE),
                model=MODEL,
                dimensions=_DIMENSIONS,
            )
            self._kept[document_set.name] = OpenSearchKnowledgeBase(
                self._clients[-1],
                document_set.name,
                embeddings=CachedEmbeddings(embeddings=embeddings, cache=MemoryEmbeddingCache()),
                search=self.search,
            )
        return self._kept[document_set.name]

    def _fill(self, document_set: DocumentSet) -> None:
        documents: list[dict[str, Any]] = [
            {
                "text": each.text,
                "vector": list(map(float, vector(each.text, _DIMENSIONS))),
                "metadata": {**each.attributes, "source": document_set.uri_of(each)},
            }
            for each in document_set.documents
        ]
        self.collection.fill(document_set.name, creation(dimensions=_DIMENSIONS), documents)

    @contextmanager
    def in_trouble(self, trouble: Trouble) -> Iterator[None]:
        if trouble is Trouble.LATE:
            with self.relay.holding(at=""):
                yield
            return
        with self.relay.spoiling(SPOILT[trouble], at=self._searches_at):
            yield

    def close(self) -> None:
        self.collection.close()
        for each in self._clients:
            each.close()


@contextmanager
def _world(simulated: Simulated, search: Search) -> Iterator[World]:
    collection = Collection.at(simulated.endpoint)
    with Relay(simulated.endpoint) as relay:
        made = OpenSearchWorld(relay=relay, collection=collection, search=search)
        yield made
        made.close()


@pytest.fixture(scope="package")
def opensearch_world(bedrock: Simulated) -> Iterator[World]:
    with _world(bedrock, Search.SEMANTIC) as world:
        yield world


@pytest.fixture(scope="package")
def opensearch_hybrid_world(bedrock: Simulated) -> Iterator[World]:
    with _world(bedrock, Search.HYBRID) as world:
        yield world
