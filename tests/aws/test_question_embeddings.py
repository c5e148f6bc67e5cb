"""Questions' vectors: how they are asked for, kept in one place, and told of."""

import io
import json
import sys
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from stackroom.app.function_settings import SearchSettings
from stackroom.aws.bedrock.question_embeddings import (
    BedrockEmbeddings,
    QuestionEmbeddings,
    cache_at,
    get_embedding,
)
from stackroom.aws.redis.redis_url import redis_url
from stackroom.errors import KnowledgeBaseUnavailable, SearchRefused
from stackroom.search.cached_embeddings import MemoryEmbeddingCache

SERVICE = "bedrock-runtime"  # of the fixture `client`

MODEL = "amazon.titan-embed-text-v2:0"


@pytest.fixture
def embeddings(client: Any, stubber: Stubber) -> BedrockEmbeddings:
    return BedrockEmbeddings(client=client, model=MODEL, dimensions=3)


def answered(**members: object) -> dict[str, Any]:
    body = json.dumps(members).encode()
    return {
        "body": StreamingBody(io.BytesIO(body), len(body)),
        "contentType": "application/json",
    }


def test_a_text_is_embedded_as_the_documents_were(
    embeddings: BedrockEmbeddings, stubber: Stubber
) -> None:
    asked = {
        "modelId": MODEL,
        "contentType": "application/json",
        "accept": "application/json",
        "body": json.dumps({"inputText": "annual leave", "dimensions": 3, "normalize": True}),
    }
    stubber.add_response(
        "invoke_model", answered(embedding=[0.6, 0, 0.8], inputTextTokenCount=2), asked
    )

    assert embeddings.embed("annual leave") == (0.6, 0, 0.8)


@pytest.mark.parametrize("answer", [{"embedding": [1.0, 0.0]}, {"embeddingsByType": {}}])
def test_a_vector_that_fits_no_index_is_refused(
    embeddings: BedrockEmbeddings, stubber: Stubber, answer: dict[str, object]
) -> None:
    stubber.add_response("invoke_model", answered(**answer))

    with pytest.raises(SearchRefused, match="dimensions, not 3"):
        embeddings.embed("annual leave")


@pytest.mark.parametrize("vector", [[0, 0, 0], [3, 4, 0], [float("nan"), 0, 1]])
def test_zero_vector_of_a_question_is_refused(
    embeddings: BedrockEmbeddings, stubber: Stubber, vector: list[float]
) -> None:
    stubber.add_response("invoke_model", answered(embedding=vector))

    with pytest.raises(KnowledgeBaseUnavailable, match="length one"):
        embeddings.embed("annual leave")


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


def test_stores_whose_documents_were_embedded_alike_get_one_vector(titan: Titan) -> None:
    embeddings = QuestionEmbeddings(titan.client)

    for dimensions in (256, 1024, 256):
        assert len(embeddings.of(MODEL, dimensions).embed("leave")) == dimensions

    assert titan.asked == ["leave", "leave"]


def test_cache_hit_is_reported_only_for_the_tenants_earlier_question(
    titan: Titan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REDIS_URL", raising=False)
    told = [
        get_embedding("leave", MODEL, "bedrock", client=titan.client, tenant=tenant)["cached"]
        for tenant in ("alice", "alice", "bob", "bob", None)
    ]

    assert told == [False, True, False, True, False]
    assert titan.asked == ["leave"]


def test_unknown_embedding_provider_is_refused(titan: Titan) -> None:
    with pytest.raises(SearchRefused, match="'openai' provides no embeddings; allowed: 'bedrock'"):
        get_embedding("leave", "text-embedding-3", "openai", client=titan.client)


def test_redis_url_is_accepted_without_showing_its_secret_and_is_optional() -> None:
    for url in (
        "redis://localhost",
        "rediss://cache.example.com:6379",
        "redis://[::1]:6379/3",
        "redis://:secret@localhost:6379/0",
    ):
        settings = SearchSettings.from_env({"REDIS_URL": url})
        assert redis_url({"REDIS_URL": url}) == settings.redis_url == url
        assert "secret" not in repr(settings)
    for environ in ({}, {"REDIS_URL": ""}):
        assert redis_url(environ) is None
        assert SearchSettings.from_env(environ).redis_url is None


@pytest.mark.parametrize(
    "url",
    [
        "localhost:6379",
        "http://:secret@localhost:6379",
        "redis://:secret@localhost:0",
        "rediss://:secret@localhost:6379?ssl_cert_reqs=none",
        "redis://localhost:6379\n",
        "redis://:secret@localhost:port",
    ],
)
def test_other_input_is_refused_without_quoting_it(url: str) -> None:
    with pytest.raises(ValueError, match="REDIS_URL must be redis://host:port") as refused:
        redis_url({"REDIS_URL": url})
    with pytest.raises(ValueError, match="redis://host:port") as told:
        SearchSettings.from_env({"REDIS_URL": url})

    assert "secret" not in f"{refused.value}{told.value}"


def test_cache_is_in_redis_or_without_its_package_in_the_process(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert type(cache_at(None)) is MemoryEmbeddingCache
    assert type(cache_at("redis://127.0.0.1:1")).__name__ == "RedisEmbeddingCache"

    monkeypatch.setitem(sys.modules, "stackroom.aws.redis.embedding_cache", None)
    assert type(cache_at("redis://127.0.0.1:2")) is MemoryEmbeddingCache
    assert "REDIS_URL is of no use" in caplog.text
