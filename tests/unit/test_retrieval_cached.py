"""What callers are told of their questions' vectors, and of nobody else's."""

from dataclasses import replace

import pytest

from stackroom.identity import Caller
from stackroom.ports.embeddings import Vector
from stackroom.retrieval.embeddings import CachedEmbeddings, MemoryEmbeddingCache
from stackroom.retrieval.linked import LinkedKnowledgeBase, LinkedRetrieval
from stackroom.retrieval.search import Retrieval
from stackroom.retrieval.tool import knowledge_base_retrieve, retrieve_from_knowledge_base
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.fakes.place_maps import FakePlaceMaps
from tests.unit.test_retrieval import CatalogShelf


class OneVector:
    provider, model, dimensions = "bedrock", "titan", 2

    def embed(self, text: str) -> Vector:
        return (0.6, 0.8)


def embedding(embeddings: CachedEmbeddings) -> FakeKnowledgeBase:
    """A store that embeds the question itself."""
    store = FakeKnowledgeBase()
    store.put("annual leave is 30 days", user_id="alice")
    store.put("annual leave is 20 days", user_id="bob")
    store.before("retrieve", lambda query, *_, **__: embeddings.embed(query))
    return store


@pytest.fixture
def embeddings() -> CachedEmbeddings:
    return CachedEmbeddings(embeddings=OneVector(), cache=MemoryEmbeddingCache())


def of_gateway(knowledge_base: FakeKnowledgeBase, user_id: str) -> object:
    retrieval = Retrieval(
        pool={"KB1": knowledge_base}, catalogs=CatalogShelf(), place_maps=FakePlaceMaps()
    )
    response = knowledge_base_retrieve(
        {"query": "annual leave"}, caller=Caller(user_id), retrieval=retrieval
    )
    return told(response)


def of_agent(user_id: str | None, *knowledge_bases: FakeKnowledgeBase) -> object:
    linked = tuple(
        LinkedKnowledgeBase(knowledge_base_id=f"KB{number}", knowledge_base=each)
        for number, each in enumerate(knowledge_bases)
    )
    response = retrieve_from_knowledge_base(
        {"query": "annual leave"},
        caller=None if user_id is None else Caller(user_id),
        retrieval=LinkedRetrieval(linked=linked),
    )
    return told(response)


def told(response: dict[str, object]) -> object:
    assert response["success"], response
    metadata = response["metadata"]
    assert isinstance(metadata, dict)
    return metadata.get("embedding_cached", "not told")


def test_callers_of_the_gateways_tool_are_told_of_their_own_questions(
    embeddings: CachedEmbeddings,
) -> None:
    knowledge_base = embedding(embeddings)

    answers = [of_gateway(knowledge_base, user) for user in ("alice", "alice", "bob", "bob")]

    assert answers == [False, True, False, True]
    assert embeddings.tally.taken() == (3, 1)
    assert of_gateway(FakeKnowledgeBase(), "alice") == "not told", "Bedrock embeds for this store"


def test_callers_of_an_agents_tool_are_told_of_their_own_questions(
    embeddings: CachedEmbeddings,
) -> None:
    knowledge_base = embedding(embeddings)

    answers = [of_agent(user, knowledge_base) for user in ("alice", "alice", "bob", None)]

    assert answers == [False, True, False, "not told"]
    other = embedding(replace(embeddings, cache=MemoryEmbeddingCache()))
    both = (knowledge_base, other, FakeKnowledgeBase())
    assert [of_agent("alice", *both) for _ in range(2)] == [False, True]
