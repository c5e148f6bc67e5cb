"""
Embed questions, for programs that search a store directly.

    get_embedding("annual leave", "amazon.titan-embed-text-v2:0", "bedrock", tenant="alice")
"""

import json
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache as once
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict

from stackroom.aws import session
from stackroom.aws.error_mapping import direct_search_errors, understood
from stackroom.aws.redis.redis_url import redis_url
from stackroom.errors import KnowledgeBaseUnavailable, SearchRefused
from stackroom.search.cached_embeddings import (
    CachedEmbeddings,
    CacheTally,
    EmbeddingCache,
    MemoryEmbeddingCache,
    Vector,
    asked_by,
)

if TYPE_CHECKING:
    from types_boto3_bedrock_runtime.client import BedrockRuntimeClient


_ROUNDING = 0.01


@dataclass(frozen=True, kw_only=True)
class BedrockEmbeddings:
    """
    An `Embeddings` over InvokeModel, with the request of Amazon Titan Text Embeddings V2.
    [assumed: embedding.same]

    The model accepts 50,000 characters or 8,192 tokens; our questions are far shorter.
    https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html
    """

    client: "BedrockRuntimeClient"
    model: str
    dimensions: int
    provider: str = "bedrock"

    def embed(self, text: str) -> Vector:
        request = {"inputText": text, "dimensions": self.dimensions, "normalize": True}
        with direct_search_errors("InvokeModel"), understood("InvokeModel"):
            response = self.client.invoke_model(
                modelId=self.model,
                contentType="application/json",
                accept="application/json",
                body=json.dumps(request),
            )
            body = json.loads(response["body"].read())
            vector = tuple(map(float, body.get("embedding", ())))
        if len(vector) != self.dimensions:
            raise SearchRefused(
                f"{self.model} answered a vector of {len(vector)} dimensions, not {self.dimensions}"
            )
        # The request asks for length one. A vector of another length, or with NaN, would match
        # nothing.
        if not abs(math.hypot(*vector) - 1) < _ROUNDING:
            raise KnowledgeBaseUnavailable("InvokeModel", "a vector that is not of length one")
        return vector


logger = logging.getLogger(__name__)


class Embedding(TypedDict):
    """
    A text's vector. `cached` is True if it came from the cache and this process has already
    returned it to the same tenant.
    """

    embedding: list[float]
    cached: bool


def question_embeddings(
    client: Callable[[str], Any],
    *,
    model: str,
    dimensions: int,
    cache: EmbeddingCache,
    tally: CacheTally | None = None,
) -> CachedEmbeddings:
    """
    Return embeddings by a model on Bedrock, each cached in `cache` for later questions.

    `client` makes a service's boto3 client; `tally` counts the cache's hits.
    """
    return CachedEmbeddings(
        embeddings=BedrockEmbeddings(
            client=client("embeddings"), model=model, dimensions=dimensions
        ),
        cache=cache,
        tally=tally or CacheTally(),
    )


class QuestionEmbeddings:
    """
    Embeddings for several stores: those with the same model and dimensions share one vector per
    question. `client` makes a service's boto3 client when it is needed.
    """

    def __init__(self, client: Callable[[str], Any]) -> None:
        self._client = client
        self._made: dict[tuple[str, int], CachedEmbeddings] = {}

    def of(self, model: str, dimensions: int) -> CachedEmbeddings:
        """
        Return the model's embeddings. Only one thread may call this; any may use the result.
        """
        made = self._made.get((model, dimensions))
        if made is None:
            made = question_embeddings(
                self._client, model=model, dimensions=dimensions, cache=self._cache
            )
            self._made[model, dimensions] = made
        return made

    @cached_property
    def _cache(self) -> EmbeddingCache:
        """
        Return the cache that all models share; its keys include the model. Raises ValueError for a
        wrong REDIS_URL.
        """
        return cache_at(redis_url())


def cache_at(url: str | None) -> EmbeddingCache:
    """
    Return a cache in Valkey or Redis, or one in the process if there is no URL.

    There is no second cache in front of Redis: each process would start its own week, could keep
    entries that an operator deletes, and would save little, because Redis is much faster than
    embedding.
    """
    return MemoryEmbeddingCache() if url is None else _in_redis(url)


def get_embedding(
    text: str,
    model: str,
    provider: str = "bedrock",
    *,
    client: Callable[[str], Any] = session.client,
    dimensions: int = 1024,
    tenant: str | None = None,
) -> Embedding:
    """
    Return the text's vector, of length one, for programs that search a store directly.

    Without a tenant `cached` is never True, because it would reveal what others have asked. Raises
    KnowledgeBaseThrottled, KnowledgeBaseUnavailable, or SearchRefused if another try won't help.
    """
    if provider != "bedrock":
        raise SearchRefused(f"{provider!r} provides no embeddings; allowed: 'bedrock'")
    with asked_by(tenant) as asking:
        vector = _of_process(client, model, dimensions, redis_url()).embed(text)
    return {"embedding": list(vector), "cached": asking.is_cached is True}


@once
def _of_process(
    client: Callable[[str], Any], model: str, dimensions: int, url: str | None
) -> CachedEmbeddings:
    """Return the process's embeddings, the same at each call."""
    return question_embeddings(client, model=model, dimensions=dimensions, cache=cache_at(url))


@once
def _in_redis(url: str) -> EmbeddingCache:
    """
    Return one connection for all knowledge bases, or a cache in the process if the package redis
    is missing.
    """
    try:
        # Imported only with a URL, because it takes as long as boto3 (make bench-cold).
        from stackroom.aws.redis.embedding_cache import RedisEmbeddingCache  # noqa: PLC0415 - see above
    except ModuleNotFoundError as error:
        extra = {"missing": error.name}
        logger.warning("REDIS_URL is of no use without the package redis", extra=extra)
        return MemoryEmbeddingCache()
    return RedisEmbeddingCache(url)
