"""The vectors of questions, for whoever searches a store itself."""

from collections.abc import Callable
from typing import Any

from stackroom.aws.embeddings import BedrockEmbeddings
from stackroom.ports.embeddings import EmbeddingCache
from stackroom.retrieval.embeddings import CachedEmbeddings, CacheTally, MemoryEmbeddingCache


def question_embeddings(
    client: Callable[[str], Any],
    *,
    model: str,
    dimensions: int,
    cache: EmbeddingCache,
    tally: CacheTally | None = None,
) -> CachedEmbeddings:
    """
    By a model of Bedrock's, each kept in `cache` for when it is asked again.

    `client` makes a service's boto3 client; in `tally` is counted how often a vector was there.
    """
    return CachedEmbeddings(
        embeddings=BedrockEmbeddings(
            client=client("embeddings"), model=model, dimensions=dimensions
        ),
        cache=cache,
        tally=tally or CacheTally(),
    )


def embedding_cache() -> EmbeddingCache:
    """Of a process that searches: its keys tell models apart."""
    return MemoryEmbeddingCache()
