"""
The stores of linked knowledge bases by name, the `vectorStoreType` of an entry.

The pool's stores are in stackroom.app.pool_builder. A further store needs an adapter of
`model.passages.KnowledgeBase`, its settings, which build it (see stackroom_stores/entries.py), a
function here that imports these, and a line in the table. A store, with its client library, is
imported when the first knowledge base in it is built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from stackroom_stores.entries import LinkedSettings


def bedrock() -> type[LinkedSettings]:
    from stackroom_stores.bedrock_entry import BedrockSettings

    return BedrockSettings


def _opensearch() -> type[LinkedSettings]:
    from stackroom_stores.opensearch.opensearch_entry import OpenSearchSettings

    return OpenSearchSettings


def _pgvector() -> type[LinkedSettings]:
    from stackroom_stores.pgvector.pgvector_entry import PgvectorSettings

    return PgvectorSettings


def _s3vectors() -> type[LinkedSettings]:
    from stackroom_stores.s3vectors_entry import VectorIndexSettings

    return VectorIndexSettings


STORES: dict[str, Callable[[], type[LinkedSettings]]] = {
    "MANAGED": bedrock,
    "OPENSEARCH_SERVERLESS": _opensearch,
    "PGVECTOR": _pgvector,
    "RDS": bedrock,
    "S3_VECTORS": bedrock,
    "S3_VECTORS_DIRECT": _s3vectors,
}
