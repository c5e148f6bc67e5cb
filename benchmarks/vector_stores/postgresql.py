"""A real PostgreSQL with pgvector, with the passages in our own tables."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from pgvector import Vector as PgVector

from benchmarks.vector_stores.chunks import Chunk
from benchmarks.vector_stores.filled import Filled, embeddings, vector_of
from stackroom.documents.filters import Filter
from stackroom.documents.passages import Search
from stackroom.stores.pgvector import document_loading
from stackroom.stores.pgvector.document_loading import Documents, NewDocument
from stackroom.stores.pgvector.pgvector_adapter import PgvectorKnowledgeBase
from stackroom.stores.pgvector.pgvector_filters import rendered
from stackroom.stores.pgvector.repository import Repository
from tests.support.postgresql import LOADING, READING, postgresql

DIMENSIONS = 1024
_DATABASE, _ID = "bench", "passages"
_FUSED = 50  # of each order, as the product asks for them before it makes one of both
_NEAREST = """
SELECT content, attributes, page, 1 - (embedding <=> %(vector)s::vector) AS similarity
FROM knowledge_chunks WHERE knowledge_base_id = %(id)s AND {condition}
ORDER BY embedding <=> %(vector)s::vector LIMIT %(limit)s
"""
_WORDED = """
SELECT content, attributes, page, 1 - (embedding <=> %(vector)s::vector) AS similarity
FROM knowledge_chunks, (
    SELECT replace(plainto_tsquery('english', %(question)s)::text, ' & ', ' | ')::tsquery AS sought
) AS question
WHERE knowledge_base_id = %(id)s AND {condition} AND words @@ sought
ORDER BY ts_rank(words, sought, 1) DESC LIMIT %(limit)s
"""


@contextmanager
def pgvector(chunks: Sequence[Chunk], *searches: Search) -> Iterator[list[Filled]]:
    """The same tables, searched in each of these ways."""
    with ExitStack() as stack:
        server = stack.enter_context(postgresql())
        server.database(_DATABASE, dimensions=DIMENSIONS)
        loading = stack.enter_context(server.connections(LOADING, _DATABASE))
        into = Documents(connections=loading, knowledge_base_id=_ID, dimensions=DIMENSIONS)
        into.make_knowledge_base("Passages")
        for each in _documents(chunks):
            into.put(each)
        with server.as_superuser(_DATABASE) as analysing:
            analysing.execute("ANALYZE")
        reading = stack.enter_context(server.connections(READING, _DATABASE))
        bare = stack.enter_context(server.as_superuser(_DATABASE))
        repository = Repository(connections=reading, dimensions=DIMENSIONS)
        yield [_filled(repository, bare, search) for search in searches]


def _documents(chunks: Sequence[Chunk]) -> Iterator[NewDocument]:
    of_document: defaultdict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        of_document[chunk.uri].append(chunk)
    for uri, those in of_document.items():
        yield NewDocument(
            name=uri,
            digest=str(len(those)),
            source_uri=uri,
            attributes=those[0].attributes,
            chunks=[
                document_loading.Chunk(
                    content=each.text,
                    embedding=each.vector,
                    page=each.page or None,
                )
                for each in those
            ],
        )


def _filled(repository: Repository, connection: Any, search: Search) -> Filled:
    by_words = search is Search.HYBRID
    statements = (_NEAREST, _WORDED) if by_words else (_NEAREST,)

    def bare(question: str, condition: Filter | None, limit: int) -> Any:
        demanded = rendered(condition)
        vector = PgVector(list(vector_of(question, DIMENSIONS))).to_text()
        most = max(limit, _FUSED) if by_words else limit
        asked = {"vector": vector, "id": _ID, "limit": most, "question": question}
        told = [each.format(condition=demanded.sql.as_string(connection)) for each in statements]
        return [connection.execute(each, {**demanded.values, **asked}).fetchall() for each in told]

    return Filled(
        name=f"PGVECTOR, {'hybrid' if by_words else 'by meaning'}",
        knowledge_base=PgvectorKnowledgeBase(
            repository, _ID, embeddings=embeddings(DIMENSIONS), search=search
        ),
        bare=bare,
    )
