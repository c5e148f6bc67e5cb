"""One PostgreSQL for all tests of a worker."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from stackroom.search.cached_embeddings import Vector
from stackroom_stores.pgvector.connections import Connections
from stackroom_stores.pgvector.document_loading import Chunk, Documents, NewDocument
from stackroom_stores.pgvector.repository import Repository
from tests.support.postgresql import LOADING, READING, PostgreSQL, postgresql

_numbers = itertools.count()

EAST = (1.0, 0.0, 0.0)


def between(cosine: float) -> Vector:
    """Return a vector of length one with this cosine to EAST."""
    return (cosine, (1 - cosine**2) ** 0.5, 0.0)


@dataclass(frozen=True, kw_only=True)
class Database:
    server: PostgreSQL
    name: str
    reading: Connections
    loading: Connections
    dimensions: int = 3

    @property
    def repository(self) -> Repository:
        return Repository(connections=self.reading, dimensions=self.dimensions)

    def documents(
        self, user_id: str | None = None, base: str = "handbook", *, made: bool = True
    ) -> Documents:
        """Into a knowledge base that is there, unless that isn't to be `made` sure of."""
        documents = Documents(
            connections=self.loading,
            knowledge_base_id=base,
            dimensions=self.dimensions,
            user_id=user_id,
        )
        if made:
            documents.make_knowledge_base(base.title())
        return documents

    def put(
        self,
        text: str,
        vector: Vector = EAST,
        *,
        user_id: str | None = None,
        base: str = "handbook",
        attributes: dict[str, Any] | None = None,
    ) -> None:
        """A document of one passage, in a knowledge base that everybody may put something into."""
        self.documents(base=base)
        embedding = vector + (0.0,) * (self.dimensions - len(vector))
        self.documents(user_id, base, made=False).put(
            NewDocument(
                name=f"{text}.txt",
                digest="1",
                chunks=[Chunk(content=text, embedding=embedding)],
                attributes=attributes or {},
            )
        )

    def as_superuser(self) -> Any:
        return self.server.as_superuser(self.name)

    def agent(self) -> psycopg.Connection[Any]:
        """A session of whoever may read, in which a transaction is begun."""
        return psycopg.connect("", **self.server.of_user(READING, self.name))


@pytest.fixture(scope="session")
def server() -> Iterator[PostgreSQL]:
    with postgresql() as running:
        yield running


@contextmanager
def opened(server: PostgreSQL, name: str, dimensions: int = 3) -> Iterator[Database]:
    with (
        server.connections(READING, name) as reading,
        server.connections(LOADING, name) as loading,
    ):
        yield Database(
            server=server, name=name, reading=reading, loading=loading, dimensions=dimensions
        )


@pytest.fixture(scope="session")
def common(server: PostgreSQL) -> str:
    """The name of a database."""
    server.database("common")
    return "common"


@pytest.fixture
def database(server: PostgreSQL, common: str) -> Iterator[Database]:
    """Nothing is in it. Making one takes longer than most tests do."""
    with opened(server, common) as database:
        yield database
        with database.as_superuser() as connection:
            connection.execute("TRUNCATE knowledge_bases CASCADE")


@pytest.fixture
def own_database(server: PostgreSQL) -> Iterator[Database]:
    """For a test that changes its tables."""
    name = f"own_{next(_numbers)}"
    server.database(name)
    with opened(server, name) as database:
        yield database
