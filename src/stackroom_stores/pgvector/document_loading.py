"""Writes documents with their passages, each in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pgvector import Vector as PgVector
from psycopg import Connection
from psycopg.sql import SQL
from psycopg.types.json import Jsonb

from stackroom.errors import KnowledgeBaseNotFound, SearchRefused
from stackroom.search.cached_embeddings import Vector
from stackroom_stores.pgvector.connections import Connections
from stackroom_stores.pgvector.schema import Tables, language_of

_OPERATION = "WritePostgreSQL"

_MADE = SQL("""
INSERT INTO {bases} (knowledge_base_id, name, description, user_id)
VALUES (%(knowledge_base_id)s, %(name)s, %(description)s, %(user_id)s)
ON CONFLICT DO NOTHING
""")
_THERE = SQL("SELECT FROM {bases} WHERE knowledge_base_id = %(knowledge_base_id)s")
_NAMED = """
FROM {documents} WHERE knowledge_base_id = %(knowledge_base_id)s
    AND user_id IS NOT DISTINCT FROM %(user_id)s AND document_name = %(name)s
"""
_DIGEST, _REMOVED = SQL("SELECT digest" + _NAMED), SQL("DELETE" + _NAMED)
_DOCUMENT = SQL("""
INSERT INTO {documents}
    (knowledge_base_id, user_id, document_name, source_uri, attributes, digest)
VALUES (%(knowledge_base_id)s, %(user_id)s, %(name)s, %(uri)s, %(attributes)s, %(digest)s)
RETURNING document_id
""")
_CHUNK = SQL("""
INSERT INTO {chunks}
    (document_id, chunk_index, knowledge_base_id, user_id, content, page, attributes, embedding)
VALUES (%(document_id)s, %(index)s, %(knowledge_base_id)s, %(user_id)s, %(content)s, %(page)s,
    %(attributes)s, %(vector)s::vector)
""")


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """A passage and its embedding; `page` counts from 1."""

    content: str
    embedding: Vector
    page: int | None = None


@dataclass(frozen=True, kw_only=True)
class NewDocument:
    """
    A document to write. `name` is unique among its owner's documents in a knowledge base.

    `digest` identifies its version; the writer decides what it covers.
    """

    name: str
    digest: str
    chunks: Sequence[Chunk]
    source_uri: str | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Documents:
    """
    The documents of one owner in a knowledge base; without `user_id`, the shared ones.

    Every method raises KnowledgeBaseThrottled or KnowledgeBaseUnavailable for temporary failures,
    and SearchRefused for all others.
    """

    connections: Connections
    knowledge_base_id: str
    dimensions: int
    user_id: str | None = None
    tables: Tables = field(default_factory=Tables)

    def make_knowledge_base(self, name: str, *, description: str = "") -> None:
        """
        Create the owner's knowledge base, if there is none with this id.

        Raises KnowledgeBaseNotFound if it is somebody else's.
        """

        def make(connection: Connection[Any]) -> None:
            language_of(connection, self.tables, dimensions=self.dimensions)
            values = {**self._whose, "name": name, "description": description}
            connection.execute(_MADE.format(**self.tables.names), values)
            if connection.execute(_THERE.format(**self.tables.names), values).fetchone() is None:
                raise KnowledgeBaseNotFound(f"Knowledge base '{self.knowledge_base_id}'")

        self.connections.write(_OPERATION, make, user_id=self.user_id)

    def digest(self, name: str) -> str | None:
        """Return the digest of the stored version, or None if there is none."""

        def query(connection: Connection[Any]) -> str | None:
            values = {**self._whose, "name": name}
            row = connection.execute(_DIGEST.format(**self.tables.names), values).fetchone()
            return None if row is None else str(row[0])

        return self.connections.write(_OPERATION, query, user_id=self.user_id)

    def put(self, document: NewDocument) -> None:
        """
        Replace the stored version, if any; a search finds either version as a whole.

        Raises SearchRefused for a vector of other dimensions than the tables have.
        """
        for chunk in document.chunks:
            if len(chunk.embedding) != self.dimensions:
                raise SearchRefused(
                    f"a vector of {len(chunk.embedding)} dimensions, where the tables have"
                    f" {self.dimensions}"
                )

        def put(connection: Connection[Any]) -> None:
            self._remove(connection, document.name)
            attributes = Jsonb(dict(document.attributes))
            values = {
                **self._whose,
                "name": document.name,
                "uri": document.source_uri,
                "attributes": attributes,
                "digest": document.digest,
            }
            row = connection.execute(_DOCUMENT.format(**self.tables.names), values).fetchone()
            assert row is not None, "what was inserted has an id"
            of_all = {**self._whose, "document_id": row[0], "attributes": attributes}
            rows = [
                {
                    **of_all,
                    "index": index,
                    # What a PDF's font has no character for may be a null, which no text of
                    # PostgreSQL has.
                    "content": chunk.content.replace("\x00", " "),
                    "page": chunk.page,
                    "vector": PgVector(list(chunk.embedding)).to_text(),
                }
                for index, chunk in enumerate(document.chunks)
            ]
            with connection.cursor() as cursor:
                cursor.executemany(_CHUNK.format(**self.tables.names), rows)

        self.connections.write(_OPERATION, put, user_id=self.user_id)

    def remove(self, name: str) -> bool:
        """Remove a document, and return whether it existed."""
        return self.connections.write(
            _OPERATION, lambda connection: self._remove(connection, name), user_id=self.user_id
        )

    def _remove(self, connection: Connection[Any], name: str) -> bool:
        values = {**self._whose, "name": name}
        return connection.execute(_REMOVED.format(**self.tables.names), values).rowcount > 0

    @property
    def _whose(self) -> dict[str, str | None]:
        return {"knowledge_base_id": self.knowledge_base_id, "user_id": self.user_id}
