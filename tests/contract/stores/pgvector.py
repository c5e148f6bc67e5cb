"""PostgreSQL with pgvector, in both ways to search it; the question is embedded as simulated."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest
from psycopg import Connection

from stackroom.aws.bedrock.question_embeddings import BedrockEmbeddings
from stackroom.model.passages import KnowledgeBase, Search
from stackroom.search.cached_embeddings import CachedEmbeddings, MemoryEmbeddingCache
from stackroom_stores.pgvector.connections import Connections
from stackroom_stores.pgvector.document_loading import Chunk, Documents, NewDocument
from stackroom_stores.pgvector.pgvector_adapter import PgvectorKnowledgeBase
from stackroom_stores.pgvector.repository import Repository
from tests.contract.stores.bedrock import MODEL, ONCE, Simulated, client
from tests.contract.stores.document_sets import DocumentSet
from tests.contract.stores.meaning import vector
from tests.contract.stores.worlds import Ranks, Store, Trouble, World, clipped
from tests.support.postgresql import LOADING, READING, PostgreSQL, postgresql

# Connections that are lost, late or refused are held by tests/aws/pgvector, and so is row level
# security, behind which no statement finds another's rows.
STORES = {
    "pgvector": Store(
        fixture="pgvector_world",
        ranks=Ranks.BY_MEANING,
        score_of=clipped,
        troubles=frozenset(),
    ),
    "pgvector, by both": Store(
        fixture="pgvector_hybrid_world",
        is_variant=True,
        ranks=Ranks.BY_BOTH,
        score_of=clipped,
        troubles=frozenset(),
    ),
}
_DATABASE = "stores"
T = TypeVar("T")


class CountedConnections(Connections):
    """Connections that count what is read over them."""

    reads = 0

    def read(self, operation: str, work: Callable[[Connection[Any]], T], **options: Any) -> T:
        def counted(connection: Connection[Any]) -> T:
            self.reads += 1
            return work(connection)

        return super().read(operation, counted, **options)


@dataclass
class PgvectorWorld:
    """`embeds_at` is where the model is that embeds questions."""

    embeds_at: str
    reading: CountedConnections
    loading: Connections
    search: Search
    filled: set[str]  # document sets, by any world of the server's
    _kept: dict[str, KnowledgeBase] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        return self.reading.reads

    def holding(self, document_set: DocumentSet) -> KnowledgeBase:
        if document_set.name not in self._kept:
            if document_set.name not in self.filled:
                self._fill(document_set)
                self.filled.add(document_set.name)
            embeddings = BedrockEmbeddings(
                client=client("bedrock-runtime", self.embeds_at, config=ONCE),
                model=MODEL,
                dimensions=1024,
            )
            self._kept[document_set.name] = PgvectorKnowledgeBase(
                Repository(connections=self.reading, dimensions=1024),
                document_set.name,
                embeddings=CachedEmbeddings(embeddings=embeddings, cache=MemoryEmbeddingCache()),
                search=self.search,
            )
        return self._kept[document_set.name]

    def _fill(self, document_set: DocumentSet) -> None:
        documents = Documents(
            connections=self.loading, knowledge_base_id=document_set.name, dimensions=1024
        )
        documents.make_knowledge_base(document_set.name)
        for each in document_set.documents:
            embedding = tuple(map(float, vector(each.text, 1024)))
            documents.put(
                NewDocument(
                    name=each.key,
                    digest="1",
                    source_uri=document_set.uri_of(each),
                    chunks=[Chunk(content=each.text, embedding=embedding)],
                    attributes=each.attributes,
                )
            )

    def in_trouble(self, trouble: Trouble) -> AbstractContextManager[None]:
        raise NotImplementedError(trouble)  # it has none


@dataclass(frozen=True)
class Filled:
    """A server, and the document sets that are in it."""

    server: PostgreSQL
    names: set[str] = field(default_factory=set)


@pytest.fixture(scope="package")
def filled() -> Iterator[Filled]:
    with postgresql() as server:
        server.database(_DATABASE, dimensions=1024)
        yield Filled(server)


@contextmanager
def _world(filled: Filled, simulated: Simulated, search: Search) -> Iterator[World]:
    server = filled.server
    reading = CountedConnections(lambda: server.of_user(READING, _DATABASE), statement_seconds=3)
    with server.connections(LOADING, _DATABASE) as loading:
        yield PgvectorWorld(
            embeds_at=simulated.endpoint,
            reading=reading,
            loading=loading,
            search=search,
            filled=filled.names,
        )
    reading.close()


@pytest.fixture(scope="package")
def pgvector_world(filled: Filled, bedrock: Simulated) -> Iterator[World]:
    with _world(filled, bedrock, Search.SEMANTIC) as world:
        yield world


@pytest.fixture(scope="package")
def pgvector_hybrid_world(filled: Filled, bedrock: Simulated) -> Iterator[World]:
    with _world(filled, bedrock, Search.HYBRID) as world:
        yield world
