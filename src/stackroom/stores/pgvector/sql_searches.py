"""
The two searches for passages, by meaning and by words, in the transaction of whoever may see them.

An index of vectors is walked from the nearest on, and knows nothing of what else is demanded: few
rows behind a filter may lie farther than it walks. So few are compared one by one instead, which
finds the best of them for certain; and so are those of which the index has told too few.
"""

from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row
from psycopg.sql import SQL, Composable, Composed

from stackroom.stores.pgvector.pgvector_filters import Condition
from stackroom.stores.pgvector.sql_tables import Tables

Row = dict[str, Any]

# Passages of 1,024 dimensions that are compared one by one in about the time that a walk takes
# (docs/pgvector.md has the figures).
COMPARED = 1000
# hnsw.ef_search: what a walk keeps of what it sees; pgvector's own is 40, and never fewer than are
# asked for. strict_order: by distance, and on until enough were let through. max_scan_tuples and
# scan_mem_multiplier stay as the server has them. https://github.com/pgvector/pgvector#iterative-index-scans
_WALKING = SQL("""
SELECT set_config('hnsw.iterative_scan', 'strict_order', true),
    set_config('hnsw.ef_search', %(kept)s, true)
""")
_KEPT = 100

_COUNT = SQL("""
SELECT count(*) AS found FROM (SELECT FROM {chunks} WHERE {owned} LIMIT %(compared)s + 1) AS counted
""")
_NEAREST = SQL("""
SELECT *, embedding <=> %(vector)s::vector AS distance FROM {chunks} WHERE {owned} AND {condition}
""")
# OFFSET 0 keeps the index out of what is enclosed.
_ONE_BY_ONE = SQL(
    "SELECT * FROM ({nearest} OFFSET 0) AS compared ORDER BY distance LIMIT %(limit)s"
)
_BY_INDEX = SQL("{nearest} ORDER BY distance LIMIT %(limit)s")
_BY_WORDS = SQL("""
SELECT *, embedding <=> %(vector)s::vector AS distance FROM (
    SELECT *, ts_rank(words, sought, 1) AS rank FROM {chunks}, (
        SELECT replace(
            plainto_tsquery(%(language)s::regconfig, %(query)s)::text, ' & ', ' | '
        )::tsquery AS sought
    ) AS question
    WHERE {owned} AND {condition} AND words @@ sought ORDER BY rank DESC LIMIT %(limit)s
) AS ranked
""")
_TOLD = SQL("""
SELECT content, document_name, chunk_index, document_id, found.user_id, source_uri, page,
    found.attributes, created_at, 1 - distance AS similarity
FROM ({found}) AS found JOIN {documents} AS document USING (document_id)
ORDER BY {order}, document_id, chunk_index
""")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """`own_of` narrows a search to a user's own rows, without what is shared."""

    knowledge_base_id: str
    vector: str
    condition: Condition
    limit: int
    own_of: str | None = None

    @property
    def values(self) -> dict[str, object]:
        return {
            **self.condition.values,
            "knowledge_base_id": self.knowledge_base_id,
            "vector": self.vector,
            "limit": self.limit,
            "own_of": self.own_of,
        }

    @property
    def owned(self) -> Composable:
        """What an index finds."""
        own = "" if self.own_of is None else " AND user_id = %(own_of)s"
        return SQL("knowledge_base_id = %(knowledge_base_id)s") + SQL(own)


def by_meaning(connection: Connection[Any], tables: Tables, asked: Asked) -> list[Row]:
    """The nearest first."""
    counted = _COUNT.format(chunks=tables.chunks, owned=asked.owned)
    [[count]] = connection.execute(counted, {**asked.values, "compared": COMPARED}).fetchall()
    if count <= COMPARED:
        return _told(connection, tables, asked, _ONE_BY_ONE)
    connection.execute(_WALKING, {"kept": str(max(_KEPT, asked.limit))})
    found = _told(connection, tables, asked, _BY_INDEX)
    return found if len(found) >= asked.limit else _told(connection, tables, asked, _ONE_BY_ONE)


def by_words(
    connection: Connection[Any], tables: Tables, asked: Asked, *, query: str, language: str
) -> list[Row]:
    """Those with any of the question's words, by how many and how often."""
    found = _BY_WORDS.format(chunks=tables.chunks, owned=asked.owned, condition=asked.condition.sql)
    statement = _TOLD.format(found=found, documents=tables.documents, order=SQL("rank DESC"))
    values = {**asked.values, "query": query, "language": language}
    return _rows(connection, statement, values)


def _told(connection: Connection[Any], tables: Tables, asked: Asked, way: SQL) -> list[Row]:
    nearest = _NEAREST.format(
        chunks=tables.chunks, owned=asked.owned, condition=asked.condition.sql
    )
    found = way.format(nearest=nearest)
    statement = _TOLD.format(found=found, documents=tables.documents, order=SQL("distance"))
    return _rows(connection, statement, asked.values)


def _rows(connection: Connection[Any], statement: Composed, values: dict[str, object]) -> list[Row]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(statement, values).fetchall()
