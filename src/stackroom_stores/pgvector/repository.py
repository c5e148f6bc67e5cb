"""
The content of the tables as one user sees it; `schema` describes them.

    Repository(connections=connections, dimensions=1024).of("alice").search_similar(
        "handbook", vector, top_k=5, similarity_threshold=0.3
    )
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Self, TypeVar

from pgvector import Vector as PgVector
from psycopg import Connection
from psycopg.rows import class_row, dict_row
from psycopg.sql import SQL, Composable, Composed

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.model.filters import Filter
from stackroom.search.cached_embeddings import Vector
from stackroom.search.ranking import fused
from stackroom_stores.pgvector.connections import Connections
from stackroom_stores.pgvector.pgvector_filters import Condition, rendered
from stackroom_stores.pgvector.schema import Tables, language_of

# The two searches for passages, by meaning and by words, in the transaction of whoever may see
# them.
#
# An index of vectors is walked from the nearest on, and knows nothing of what else is demanded:
# few rows behind a filter may lie farther than it walks. So few are compared one by one instead,
# which finds the best of them for certain; and so are those of which the index has told too few.

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
class SearchRequest:
    """A search; `own_of` narrows it to a user's own rows, without shared ones."""

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
        """The part of the condition that an index serves."""
        own = "" if self.own_of is None else " AND user_id = %(own_of)s"
        return SQL("knowledge_base_id = %(knowledge_base_id)s") + SQL(own)


def by_meaning(connection: Connection[Any], tables: Tables, request: SearchRequest) -> list[Row]:
    """Return rows, the nearest first."""
    counted = _COUNT.format(**tables.names, owned=request.owned)
    [[count]] = connection.execute(counted, {**request.values, "compared": COMPARED}).fetchall()
    if count <= COMPARED:
        return _ranked(connection, tables, request, _ONE_BY_ONE)
    connection.execute(_WALKING, {"kept": str(max(_KEPT, request.limit))})
    found = _ranked(connection, tables, request, _BY_INDEX)
    return (
        found if len(found) >= request.limit else _ranked(connection, tables, request, _ONE_BY_ONE)
    )


def by_words(
    connection: Connection[Any],
    tables: Tables,
    request: SearchRequest,
    *,
    query: str,
    language: str,
) -> list[Row]:
    """Return rows with any of the question's words, by how many and how often."""
    found = _BY_WORDS.format(**tables.names, owned=request.owned, condition=request.condition.sql)
    statement = _TOLD.format(**tables.names, found=found, order=SQL("rank DESC"))
    values = {**request.values, "query": query, "language": language}
    return _rows(connection, statement, values)


def _ranked(
    connection: Connection[Any], tables: Tables, request: SearchRequest, way: SQL
) -> list[Row]:
    nearest = _NEAREST.format(**tables.names, owned=request.owned, condition=request.condition.sql)
    found = way.format(nearest=nearest)
    statement = _TOLD.format(**tables.names, found=found, order=SQL("distance"))
    return _rows(connection, statement, request.values)


def _rows(connection: Connection[Any], statement: Composed, values: dict[str, object]) -> list[Row]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(statement, values).fetchall()


# What is told of the rows.


@dataclass(frozen=True, kw_only=True)
class KnowledgeBaseRecord:
    """A knowledge base; without a `user_id` it is shared."""

    knowledge_base_id: str
    name: str
    description: str
    user_id: str | None
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Stats:
    """The numbers of rows that the user sees."""

    document_count: int
    chunk_count: int


@dataclass(frozen=True, kw_only=True)
class Match:
    """
    A passage that a search found.

    `chunk_index` counts from 0 within the document, `page` from 1; `similarity` is the cosine, at
    least 0.
    """

    content: str
    document_name: str
    chunk_index: int
    similarity: float
    created_at: datetime
    document_id: int
    user_id: str | None = None
    source_uri: str | None = None
    page: int | None = None
    attributes: Mapping[str, object] = field(default_factory=dict)


T = TypeVar("T")

OPERATION = "SearchPostgreSQL"
_FUSED = 50  # of each order at least: a passage may be only far down in one, and best in both
_BASES = "SELECT knowledge_base_id, name, description, user_id, created_at FROM {bases} "
_OF_USER = SQL(
    _BASES
    + "WHERE user_id = %(user_id)s ORDER BY created_at DESC, knowledge_base_id LIMIT %(most)s"
)
_OF_ID = SQL(_BASES + "WHERE knowledge_base_id = %(knowledge_base_id)s")
_STATS = SQL("""
SELECT (SELECT count(*) FROM {documents} WHERE knowledge_base_id = %(id)s) AS document_count,
    (SELECT count(*) FROM {chunks} WHERE knowledge_base_id = %(id)s) AS chunk_count
""")


@dataclass(frozen=True, kw_only=True)
class Repository:
    """
    The rows of `user_id` and the shared ones; for None, the shared ones alone.

    Every method raises KnowledgeBaseThrottled or KnowledgeBaseUnavailable for temporary failures,
    and SearchRefused for all others, such as tables of other dimensions or missing rights.
    """

    connections: Connections
    dimensions: int
    tables: Tables = field(default_factory=Tables)
    user_id: str | None = None
    deadline: Deadline = NO_DEADLINE
    _known: list[str] = field(default_factory=list, repr=False)

    def of(self, user_id: str | None, deadline: Deadline = NO_DEADLINE) -> Self:
        """Return the repository as this user sees it."""
        return replace(self, user_id=user_id, deadline=deadline)

    def search_similar(
        self,
        knowledge_base_id: str,
        query_embedding: Vector,
        top_k: int = 5,
        similarity_threshold: float = 0.0,
        *,
        condition: Filter | None = None,
        owner_key: str | None = None,
    ) -> tuple[Match, ...]:
        """
        Return matches of the condition, nearest first, none below the threshold.

        With `owner_key`, the attribute that is the owner, only the user's own are searched.
        """
        request = self._request(knowledge_base_id, query_embedding, top_k, condition, owner_key)
        rows = self._read(lambda connection: by_meaning(connection, self.tables, request))
        return tuple(each for each in map(_match, rows) if each.similarity >= similarity_threshold)

    def search_hybrid(
        self,
        knowledge_base_id: str,
        query: str,
        query_embedding: Vector,
        top_k: int = 5,
        *,
        condition: Filter | None = None,
        owner_key: str | None = None,
    ) -> tuple[Match, ...]:
        """Return the best matches by meaning and words together, each ranked over all rows."""
        most = max(top_k, _FUSED)
        request = self._request(knowledge_base_id, query_embedding, most, condition, owner_key)

        def search(connection: Connection[Any]) -> tuple[list[Row], list[Row]]:
            language = self._language(connection)
            return by_meaning(connection, self.tables, request), by_words(
                connection, self.tables, request, query=query, language=language
            )

        orders = [
            {(each.document_id, each.chunk_index): each for each in map(_match, rows)}
            for rows in self._read(search)
        ]
        found = {key: each for order in orders for key, each in order.items()}
        return tuple(found[key] for key in fused(*map(list, orders)))[:top_k]

    def find_by_user_id(self, limit: int = 100) -> tuple[KnowledgeBaseRecord, ...]:
        """Return the user's own knowledge bases, the newest first."""
        values = {"user_id": self.user_id, "most": limit}
        return self._listed(KnowledgeBaseRecord, _OF_USER, values)

    def find_by_id(self, knowledge_base_id: str) -> KnowledgeBaseRecord | None:
        """Return a knowledge base, or None if it doesn't exist or is somebody else's."""
        found = self._listed(KnowledgeBaseRecord, _OF_ID, {"knowledge_base_id": knowledge_base_id})
        return found[0] if found else None

    def get_stats(self, knowledge_base_id: str) -> Stats:
        [stats] = self._listed(Stats, _STATS, {"id": knowledge_base_id})
        return stats

    def _request(
        self,
        knowledge_base_id: str,
        embedding: Vector,
        limit: int,
        condition: Filter | None,
        owner_key: str | None,
    ) -> SearchRequest:
        return SearchRequest(
            knowledge_base_id=knowledge_base_id,
            vector=PgVector(list(embedding)).to_text(),
            condition=rendered(condition, owner_key=owner_key),
            limit=limit,
            own_of=None if owner_key is None else self.user_id or "",
        )

    def _listed(self, kind: type[T], statement: SQL, values: Mapping[str, object]) -> tuple[T, ...]:
        def listed(connection: Connection[Any]) -> tuple[T, ...]:
            with connection.cursor(row_factory=class_row(kind)) as cursor:
                return tuple(cursor.execute(statement.format(**self.tables.names), values))

        return self._read(listed)

    def _read(self, work: Callable[[Connection[Any]], T]) -> T:
        def checked(connection: Connection[Any]) -> T:
            self._language(connection)
            return work(connection)

        return self.connections.read(
            OPERATION, checked, user_id=self.user_id, deadline=self.deadline
        )

    def _language(self, connection: Connection[Any]) -> str:
        """Return the tables' language, read once: changed tables need a new deployment."""
        if not self._known:
            self._known.append(language_of(connection, self.tables, dimensions=self.dimensions))
        return self._known[0]


def _match(row: Row) -> Match:
    """Return a row as a match. A vector of zeros has no direction, so it is similar to nothing."""
    similarity = row.pop("similarity")
    is_known = not math.isnan(similarity)
    return Match(**row, similarity=min(1.0, max(0.0, similarity)) if is_known else 0.0)
