"""Questions' vectors, kept for when they are asked again."""

import hashlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from stackroom.errors import KnowledgeBaseThrottled
from stackroom.ports.embeddings import Vector
from stackroom.retrieval.embeddings import CachedEmbeddings, CacheTally, MemoryEmbeddingCache

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


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_a_question_is_embedded_once_whoever_asks_it() -> None:
    lengths, cache = Lengths(), MemoryEmbeddingCache()
    embeddings = CachedEmbeddings(embeddings=lengths, cache=cache)

    vectors = [embeddings.embed(text) for text in ("leave", "sick leave", "leave")]

    assert vectors == [(5.0, 0.0), (10.0, 0.0), (5.0, 0.0)]
    assert lengths.asked == ["leave", "sick leave"]
    assert embeddings.tally.taken() == (1, 2)
    assert embeddings.tally.taken() == (0, 0)


@pytest.mark.parametrize(
    "other",
    [
        Lengths(model="other"),
        Lengths(dimensions=3),
        Lengths(provider="other"),
    ],
)
def test_vectors_of_different_models_are_never_taken_for_each_other(other: Lengths) -> None:
    cache = MemoryEmbeddingCache()
    CachedEmbeddings(embeddings=Lengths(), cache=cache).embed("leave")

    CachedEmbeddings(embeddings=other, cache=cache).embed("leave")

    assert other.asked == ["leave"]


def test_the_key_is_the_same_wherever_it_is_kept_and_holds_no_word_of_the_question() -> None:
    kept: dict[str, Vector] = {}

    class Shelf:
        def get(self, key: str) -> Vector | None:
            return kept.get(key)

        def put(self, key: str, vector: Vector) -> None:
            kept[key] = vector

    CachedEmbeddings(embeddings=Lengths(), cache=Shelf()).embed("leave")

    assert list(kept) == [f"{KEY}{hashlib.sha256(b'leave').hexdigest()}"]


def test_half_a_surrogate_pair_has_a_key_too() -> None:
    embeddings = CachedEmbeddings(embeddings=Lengths(), cache=MemoryEmbeddingCache())

    assert embeddings.embed("\ud83d leave") == (7.0, 0.0)


def test_what_was_kept_for_a_week_is_made_anew() -> None:
    clock, lengths = Clock(), Lengths()
    embeddings = CachedEmbeddings(embeddings=lengths, cache=MemoryEmbeddingCache(now=clock))
    embeddings.embed("leave")

    clock.seconds = 604_799
    embeddings.embed("leave")
    clock.seconds = 604_801
    embeddings.embed("leave")

    assert lengths.asked == ["leave", "leave"]


def test_no_more_is_kept_than_there_is_room_for() -> None:
    cache = MemoryEmbeddingCache(size=2)

    for name in ("a", "b", "c"):
        cache.put(name, (1.0,))

    assert [cache.get(name) for name in ("a", "b", "c")] == [None, (1.0,), (1.0,)]


def test_of_several_at_once_one_asks_the_model() -> None:
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


def test_a_throttle_is_told_to_all_who_waited_and_kept_for_nobody_else() -> None:
    def throttled() -> None:
        time.sleep(0.2)
        if len(lengths.asked) == 1:
            raise KnowledgeBaseThrottled("InvokeModel")

    lengths = Lengths(before=throttled)
    embeddings = CachedEmbeddings(embeddings=lengths, cache=MemoryEmbeddingCache())
    start = threading.Barrier(3)

    def ask() -> Vector:
        start.wait()
        return embeddings.embed("leave")

    with ThreadPoolExecutor(3) as threads:
        errors = [each.exception() for each in [threads.submit(ask) for _ in range(3)]]

    assert [type(each) for each in errors] == [KnowledgeBaseThrottled] * 3
    assert embeddings.embed("leave") == (5.0, 0.0)
    assert lengths.asked == ["leave", "leave"]
