"""A store that holds the passages, in the two ways that it is asked."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from stackroom.aws.bedrock.question_embeddings import embedding_cache, question_embeddings
from stackroom.aws.session import client
from stackroom.documents.filters import Filter
from stackroom.documents.passages import KnowledgeBase
from stackroom.search.cached_embeddings import Embeddings, Vector

MODEL = "amazon.titan-embed-text-v2:0"

# A question, what is demanded of passages, and how many: the answer as the client has it.
Bare = Callable[[str, Filter | None, int], Any]


@dataclass(frozen=True, kw_only=True)
class Filled:
    """By the product's adapter; and by the bare client in the same call, the vector at hand."""

    name: str
    knowledge_base: KnowledgeBase
    bare: Bare


def embeddings(dimensions: int) -> Embeddings:
    """As the product composes them: kept once they were made."""
    return question_embeddings(client, model=MODEL, dimensions=dimensions, cache=embedding_cache())


@cache
def vector_of(question: str, dimensions: int) -> Vector:
    """For the bare clients, which have no cache of their own."""
    return embeddings(dimensions).embed(question)
