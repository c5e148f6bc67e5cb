"""Questions asked again: their vectors are kept, and callers told so."""

import hashlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from stackroom.access.identity import Caller
from stackroom.errors import KnowledgeBaseThrottled
from stackroom.search.cached_embeddings import (
    CachedEmbeddings,
    CacheTally,
    MemoryEmbeddingCache,
    Vector,
    asked_by,
)
from stackroom.search.linked_retrieval import LinkedKnowledgeBase, LinkedRetrieval
from stackroom.search.results import knowledge_base_retrieve, retrieve_from_knowledge_base
from tests.fakes.clock import FakeSeconds
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.support.retrieval import a_retrieval

KEY = "embedding:bedrock:titan:2:"


@dataclass(kw_only=True)
class Lengths:
    """Embeds a text as its length; `before` is called first."""

    provider: str = "bedrock"
    model: str = "titan"
    dimensions: int = 2
    before: Callable[[], None] = lambda: None
    asked: list[str] = field(default_factory=list)

    def embed(self, text: str) -> Vector:
        self.asked.append(text)
        self.before()
        return (float(len(text)), 0.0)


def test_question_is_embedded_once_for_all_users() -> None:
    lengths, cache = Lengths(), MemoryEmbeddingCache()
    embeddings = CachedEmbeddings(embeddings=lengths, cache=cache)

    vectors = [embeddings.embed(text) for text in ("leave", "sick leave", "leave")]

    assert vectors == [(5.0, 0.0), (10.0, 0.0), (5.0, 0.0)]
    assert lengths.asked == ["leave", "sick leave"]
    assert embeddings.tally.taken() == (1, 2)
    assert embeddings.tally.taken() == (0, 0)


@pytest.mark.parametrize(
    "other", [Lengths(model="other"), Lengths(dimensions=3), Lengths(provider="other")]
)
def test_vectors_of_different_models_are_never_taken_for_each_other(other: Lengths) -> None:
    cache = MemoryEmbeddingCache()
    CachedEmbeddings(embeddings=Lengths(), cache=cache).embed("leave")

    CachedEmbeddings(embeddings=other, cache=cache).embed("leave")

    assert other.asked == ["leave"]


def test_cache_key_is_a_hash_that_holds_no_word_of_the_question() -> None:
    kept: dict[str, Vector] = {}

    class DictCache:
        def get(self, key: str) -> Vector | None:
            return kept.get(key)

        def put(self, key: str, vector: Vector) -> None:
            kept[key] = vector

    embeddings = CachedEmbeddings(embeddings=Lengths(), cache=DictCache())
    embeddings.embed("leave")

    assert list(kept) == [f"{KEY}{hashlib.sha256(b'leave').hexdigest()}"]
    assert embeddings.embed("\ud83d leave") == (7.0, 0.0), "half a surrogate pair has a key, too"


def test_cached_vector_expires_after_a_week() -> None:
    clock, lengths = FakeSeconds(0.0), Lengths()
    embeddings = CachedEmbeddings(embeddings=lengths, cache=MemoryEmbeddingCache(now=clock))
    embeddings.embed("leave")

    clock.seconds = 604_799
    embeddings.embed("leave")
    clock.seconds = 604_801
    embeddings.embed("leave")

    assert lengths.asked == ["leave", "leave"]


def test_concurrent_equal_questions_are_embedded_once() -> None:
    lengths = Lengths(before=lambda: time.sleep(0.2))
    tally = CacheTally()
    embeddings = CachedEmbeddings(embeddings=lengths, cache=MemoryEmbeddingCache(), tally=tally)
    start = threading.Barrier(8)

    def ask() -> Vector:
        start.wait()
        return embeddings.embed("leave")

    with ThreadPoolExecutor(8) as threads:
        vectors = [each.result() for each in [threads.submit(ask) for _ in range(8)]]

    assert vectors == [(5.0, 0.0)] * 8
    assert lengths.asked == ["leave"]
    assert tally.taken() == (7, 1)


def reports_cached(embeddings: CachedEmbeddings, tenant: str | None, *texts: str) -> bool | None:
    with asked_by(tenant) as asking:
        for text in texts:
            embeddings.embed(text)
    return asking.is_cached


@pytest.fixture
def cached() -> CachedEmbeddings:
    return CachedEmbeddings(embeddings=Lengths(), cache=MemoryEmbeddingCache())


def test_cache_hit_is_reported_only_for_the_tenants_own_questions(
    cached: CachedEmbeddings,
) -> None:
    assert [reports_cached(cached, "alice", "leave") for _ in range(2)] == [False, True]
    assert [reports_cached(cached, "bob", "leave") for _ in range(2)] == [False, True]
    assert [reports_cached(cached, None, "leave") for _ in range(2)] == [None, None]

    assert cached.tally.taken() == (5, 1)
    assert reports_cached(cached, "alice") is None
    assert reports_cached(cached, "alice", "leave", "sick leave") is False


def test_re_embedding_for_another_user_reveals_nothing() -> None:
    # Alice asked once, hers was dropped, and only Bob's question keeps one there.
    cached = CachedEmbeddings(embeddings=Lengths(), cache=MemoryEmbeddingCache(size=1))
    reports_cached(cached, "alice", "leave")
    reports_cached(cached, "bob", "another")
    reports_cached(cached, "bob", "leave")

    assert reports_cached(cached, "alice", "leave") is False


def test_failed_question_does_not_count_as_asked_before() -> None:
    def throttled() -> None:
        if len(lengths.asked) == 1:
            raise KnowledgeBaseThrottled("InvokeModel")

    lengths = Lengths(before=throttled)
    cached = CachedEmbeddings(embeddings=lengths, cache=MemoryEmbeddingCache())
    with pytest.raises(KnowledgeBaseThrottled):
        reports_cached(cached, "alice", "leave")
    reports_cached(cached, "bob", "leave")

    assert reports_cached(cached, "alice", "leave") is False


def test_cached_vector_of_another_length_is_replaced() -> None:
    class Odd(MemoryEmbeddingCache):
        def get(self, key: str) -> Vector | None:
            return (1.0, 0.0, 0.0)

    assert CachedEmbeddings(embeddings=Lengths(), cache=Odd()).embed("leave") == (5.0, 0.0)


def embedding(embeddings: CachedEmbeddings) -> FakeKnowledgeBase:
    """A store that embeds the question itself."""
    store = FakeKnowledgeBase()
    store.put("annual leave is 30 days", user_id="alice")
    store.put("annual leave is 20 days", user_id="bob")
    store.before("retrieve", lambda query, *_, **__: embeddings.embed(query))
    return store


def of_gateway(knowledge_base: FakeKnowledgeBase, user_id: str) -> object:
    response = knowledge_base_retrieve(
        {"query": "annual leave"}, caller=Caller(user_id), retrieval=a_retrieval(knowledge_base)
    )
    return cached_of(response)


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
    return cached_of(response)


def cached_of(response: dict[str, object]) -> object:
    assert response["success"], response
    metadata = response["metadata"]
    assert isinstance(metadata, dict)
    return metadata.get("embedding_cached", "not told")


def test_callers_of_the_gateways_tool_are_told_of_their_own_questions(
    cached: CachedEmbeddings,
) -> None:
    knowledge_base = embedding(cached)

    answers = [of_gateway(knowledge_base, user) for user in ("alice", "alice", "bob", "bob")]

    assert answers == [False, True, False, True]
    assert cached.tally.taken() == (3, 1)
    assert of_gateway(FakeKnowledgeBase(), "alice") == "not told", "Bedrock embeds for this store"


def test_callers_of_an_agents_tool_are_told_of_their_own_questions(
    cached: CachedEmbeddings,
) -> None:
    knowledge_base = embedding(cached)

    answers = [of_agent(user, knowledge_base) for user in ("alice", "alice", "bob", None)]

    assert answers == [False, True, False, "not told"]
    other = embedding(CachedEmbeddings(embeddings=Lengths(), cache=MemoryEmbeddingCache()))
    both = (knowledge_base, other, FakeKnowledgeBase())
    assert [of_agent("alice", *both) for _ in range(2)] == [False, True]
