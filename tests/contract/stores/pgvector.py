"""PostgreSQL with pgvector, in both ways to search it; the question is embedded as simulated."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from stackroom.aws.bedrock.question_embeddings import BedrockEmbeddings
from stackroom.errors import KnowledgeBaseUnavailable
from stackroom.model.passages import KnowledgeBase, Search
from stackroom.search.cached_embeddings import CachedEmbeddings, MemoryEmbeddingCache
from stackroom_stores.pgvector.connections import Connections
from stackroom_stores.pgvector.document_loading import Chunk, Documents, NewDocument
from stackroom_stores.pgvector.pgvector_adapter import PgvectorKnowledgeBase
from stackroom_stores.pgvector.repository import Repository
from tests.contract.stores.bedrock import EMBED, MODEL, ONCE, SPOILT, Simulated, client
from tests.contract.stores.document_sets import DocumentSet
from tests.contract.stores.meaning import vector
from tests.contract.stores.relay import Relay
from tests.contract.stores.wire import Wire, cut_off, half
from tests.contract.stores.worlds import OF_EMBEDDING, Ranks, Store, Trouble, World, clipped
from tests.support.postgresql import LOADING, READING, PostgreSQL, postgresql

# A row's columns are what the statement asks for, of the types that the tables have: an answer
# without its members, or of other types, is no answer of PostgreSQL's. Nor is one that ignores what
# the statement demands: row level security is held by tests/aws/pgvector, and so is what the server
# refuses by itself.
_OF_THE_WIRE = {Trouble.LATE, Trouble.CUT_OFF, Trouble.HALF, Trouble.NOT_JSON}
_TROUBLES = OF_EMBEDDING | _OF_THE_WIRE
STORES = {
    "pgvector": Store(
        fixture="pgvector_world",
        ranks=Ranks.BY_MEANING,
        score_of=clipped,
        troubles=_TROUBLES,
    ),
    "pgvector, by both": Store(
        fixture="pgvector_hybrid_world",
        is_variant=True,
        ranks=Ranks.BY_BOTH,
        score_of=clipped,
        troubles=_TROUBLES,
    ),
}
_DATABASE = "stores"


@dataclass
class PgvectorWorld:
    """Behind a wire and a relay of this world's own."""

    server: PostgreSQL
    wire: Wire
    relay: Relay
    reading: Connections
    loading: Connections
    search: Search
    filled: set[str]  # document sets, by any world of the server's
    _kept: dict[str, KnowledgeBase] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        return self.wire.heard(b"transaction_read_only")

    def holding(self, document_set: DocumentSet) -> KnowledgeBase:
        if document_set.name not in self._kept:
            if document_set.name not in self.filled:
                self._fill(document_set)
                self.filled.add(document_set.name)
            embeddings = BedrockEmbeddings(
                client=client("bedrock-runtime", self.relay.endpoint, config=ONCE),
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

    @contextmanager
    def in_trouble(self, trouble: Trouble) -> Iterator[None]:
        if trouble in OF_EMBEDDING:
            with self.relay.spoiling(SPOILT[trouble], at=EMBED):
                yield
            return
        troubles: dict[Trouble, Callable[[], AbstractContextManager[None]]] = {
            Trouble.LATE: self.wire.holding,
            Trouble.CUT_OFF: lambda: self.wire.spoiling(cut_off),
            Trouble.HALF: lambda: self.wire.spoiling(half),
            Trouble.NOT_JSON: lambda: self.wire.spoiling(lambda _: b"<html>Welcome</html>" * 50),
        }
        with troubles[trouble]():
            yield
        if trouble is not Trouble.LATE:  # of which tests count the calls
            self._settle()

    def _settle(self) -> None:
        """An attempt to connect that began in the trouble may yet fail, for whoever asks then."""
        deadline = time.monotonic() + 60
        while True:
            try:
                self.reading.read("Settle", lambda _connection: None, user_id=None)
            except KnowledgeBaseUnavailable:
                assert time.monotonic() < deadline, "the trouble was never over"
            else:
                return


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
    with Wire(f"{server.socket}/.s.PGSQL.5432") as wire, Relay(simulated.endpoint) as relay:

        def over_the_wire() -> dict[str, Any]:
            return {**server.of_user(READING, _DATABASE), "host": "127.0.0.1", "port": wire.port}

        reading = Connections(over_the_wire, statement_seconds=3)
        with server.connections(LOADING, _DATABASE) as loading:
            yield PgvectorWorld(
                server=server,
                wire=wire,
                relay=relay,
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
