"""
Every store that a knowledge base may be in, by its name: the `type` of a member of KB_POOL, or the
`vectorStoreType` of an entry of KNOWLEDGE_BASES_CONFIG.

Another store is an adapter of `documents.passages.KnowledgeBase`, its settings, which make it (see
stores/entries.py), a function here that imports these, and a line in the table. For the pool it
has a line in runs/capacity.py, too. A store is imported when the first knowledge base in it is
made: with it comes whatever it is reached by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stackroom.model.records import PoolMember

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stackroom.model.passages import KnowledgeBase
    from stackroom.stores.entries import LinkedSettings, PoolSearch


def bedrock() -> type[LinkedSettings]:
    from stackroom.stores.bedrock.bedrock_entry import BedrockSettings

    return BedrockSettings


def _opensearch() -> type[LinkedSettings]:
    from stackroom.stores.opensearch.opensearch_entry import OpenSearchSettings

    return OpenSearchSettings


def _pgvector() -> type[LinkedSettings]:
    from stackroom.stores.pgvector.pgvector_entry import PgvectorSettings

    return PgvectorSettings


def _s3vectors() -> type[LinkedSettings]:
    from stackroom.stores.s3vectors.s3vectors_entry import VectorIndexSettings

    return VectorIndexSettings


# Of these the pool may have those that stackroom.runs.capacity tells of.
STORES: dict[str, Callable[[], type[LinkedSettings]]] = {
    "BEDROCK": bedrock,
    "MANAGED": bedrock,
    "OPENSEARCH_SERVERLESS": _opensearch,
    "PGVECTOR": _pgvector,
    "RDS": bedrock,
    "S3_VECTORS": bedrock,
    "S3_VECTORS_DIRECT": _s3vectors,
}


def of_pool(
    pool: Iterable[PoolMember], knowledge_base_id: str, search: PoolSearch
) -> KnowledgeBase:
    """By its member's type; one that has left the pool meanwhile is taken for Bedrock's."""
    member = _member(pool, knowledge_base_id)
    return STORES[member.type]().of_pool(member, search)


def documents_at_once(pool: Iterable[PoolMember], knowledge_base_id: str) -> int:
    """How many documents one question of whoever looks what is there can name."""
    member = _member(pool, knowledge_base_id)
    return STORES[member.type]().documents_at_once(member)


def _member(pool: Iterable[PoolMember], knowledge_base_id: str) -> PoolMember:
    for member in pool:
        if member.knowledge_base_id == knowledge_base_id:
            return member
    # A catalog may lie in one that has left the pool; nobody asks for its shared data source.
    return PoolMember(knowledge_base_id=knowledge_base_id, data_source_id="")
