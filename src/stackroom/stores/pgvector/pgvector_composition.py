"""A knowledge base in PostgreSQL, made of its settings."""

from collections.abc import Callable
from functools import cache
from typing import Any

from stackroom.aws.bedrock.question_embeddings import QuestionEmbeddings
from stackroom.ports.retrieval import Search
from stackroom.stores.pgvector.addresses import Address
from stackroom.stores.pgvector.connections import Connections
from stackroom.stores.pgvector.pgvector_adapter import PgvectorKnowledgeBase
from stackroom.stores.pgvector.pgvector_entry import PgvectorSettings
from stackroom.stores.pgvector.repository import Repository
from stackroom.stores.pgvector.sql_tables import Tables

Clients = Callable[[str], Any]


def knowledge_base(
    settings: PgvectorSettings, client: Clients, embeddings: QuestionEmbeddings
) -> PgvectorKnowledgeBase:
    """
    `client` makes a service's boto3 client.

    By meaning and by words, unless it says SEMANTIC: the words have an index of their own.
    """
    is_semantic = settings.override_search_type == "SEMANTIC"
    return PgvectorKnowledgeBase(
        Repository(
            connections=_connections(settings.address, client),
            dimensions=settings.embedding_dimensions,
            tables=Tables(schema=settings.schema_name),
        ),
        settings.knowledge_base_id,
        embeddings=embeddings.of(settings.embedding_model, settings.embedding_dimensions),
        search=Search.SEMANTIC if is_semantic else Search.HYBRID,
        tenant_key=settings.owner_in,
    )


@cache
def _connections(address: Address, client: Clients) -> Connections:
    """Shared by all knowledge bases of one database: a server has few for all functions."""
    return Connections(address.connecting(client))
