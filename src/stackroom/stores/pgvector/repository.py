"""
What is in the tables, as one user sees it; `tables` tells of them.

    Repository(connections=connections, dimensions=1024).of("alice").search_similar(
        "handbook", vector, top_k=5, similarity_threshold=0.3
    )
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

from pgvector import Vector as PgVector
from psycopg import Connection
from psycopg.rows import class_row
from psycopg.sql import SQL

from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import KnowledgeBaseUnavailable
from stackroom.filters import Filter
from stackroom.ports.embeddings import Vector
from stackroom.retrieval.ranking import fused
from stackroom.stores.pgvector import sql_searches
from stackroom.stores.pgvector.connections import Connections
from stackroom.stores.pgvector.pgvector_filters import rendered
from stackroom.stores.pgvector.row_records import KnowledgeBaseRecord, Match, Stats
from stackroom.stores.pgvector.schema import Standing, standing
from stackroom.stores.pgvector.sql_searches import Asked, Row
from stackroom.stores.pgvector.sql_tables import Tables

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
    The rows of `user_id`, and what is shared; what is shared alone, for None.

    Every method raises KnowledgeBaseThrottled or KnowledgeBaseUnavailable for what will pass, and
    SearchRefused for all else: tables of other dimensions, which it names, or rights that were not
    granted.
    """

    connections: Connections
    dimensions: int
    tables: Tables = field(default_factory=Tables)
    user_id: str | None = None
    deadline: Deadline = NO_DEADLINE
    _known: list[Standing] = field(default_factory=list, repr=False)

    def of(self, user_id: str | None, deadline: Deadline = NO_DEADLINE) -> Self:
        """As that user sees it."""
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
        The nearest first, none of them below the threshold, of those that the condition lets
        through; with `owner_key`, the attribute that is the owner, of the user's own alone.
        """
        asked = self._asked(knowledge_base_id, query_embedding, top_k, condition, owner_key)
        rows = self._read(
            lambda connection: sql_searches.by_meaning(connection, self.tables, asked)
        )
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
        """By meaning and by words, each over all there is; what is best in both comes first."""
        most = max(top_k, _FUSED)
        asked = self._asked(knowledge_base_id, query_embedding, most, condition, owner_key)

        def search(connection: Connection[Any]) -> tuple[list[Row], list[Row]]:
            language = self._standing(connection).language
            return sql_searches.by_meaning(connection, self.tables, asked), sql_searches.by_words(
                connection, self.tables, asked, query=query, language=language
            )

        return _best_of([[_match(row) for row in rows] for rows in self._read(search)])[:top_k]

    def find_by_user_id(self, limit: int = 100) -> tuple[KnowledgeBaseRecord, ...]:
        """The user's own knowledge bases, the newest first."""
        values = {"user_id": self.user_id, "most": limit}
        return self._listed(KnowledgeBaseRecord, _OF_USER, values)

    def find_by_id(self, knowledge_base_id: str) -> KnowledgeBaseRecord | None:
        """None if there is none of that id, or if it is somebody else's."""
        found = self._listed(KnowledgeBaseRecord, _OF_ID, {"knowledge_base_id": knowledge_base_id})
        return found[0] if found else None

    def get_stats(self, knowledge_base_id: str) -> Stats:
        [stats] = self._listed(Stats, _STATS, {"id": knowledge_base_id})
        return stats

    def _asked(
        self,
        knowledge_base_id: str,
        embedding: Vector,
        limit: int,
        condition: Filter | None,
        owner_key: str | None,
    ) -> Asked:
        return Asked(
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
            self._standing(connection)
            return work(connection)

        return self.connections.read(
            OPERATION, checked, user_id=self.user_id, deadline=self.deadline
        )

    def _standing(self, connection: Connection[Any]) -> Standing:
        """Asked for once: whoever changes the tables' dimensions deploys anew."""
        if not self._known:
            self._known.append(standing(connection, self.tables, dimensions=self.dimensions))
        return self._known[0]


def _match(row: Row) -> Match:
    """Raises KnowledgeBaseUnavailable for a row without a similarity that is one."""
    similarity = row.pop("similarity")
    if not isinstance(similarity, float) or not math.isfinite(similarity):
        # A vector of nothing but noughts has no direction.
        raise KnowledgeBaseUnavailable(OPERATION, "a passage without a similarity")
    return Match(**row, similarity=min(1.0, max(0.0, similarity)))


def _best_of(orders: Sequence[Iterable[Match]]) -> tuple[Match, ...]:
    numbers: dict[tuple[int, int], int] = {}
    found: list[Match] = []
    ranks: list[list[int]] = []
    for order in orders:
        ranks.append([])
        for each in order:
            number = numbers.setdefault((each.document_id, each.chunk_index), len(found))
            if number == len(found):
                found.append(each)
            ranks[-1].append(number)
    return tuple(found[number] for number in fused(*ranks))
