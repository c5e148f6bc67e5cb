"""The tables, made on request: what is there already is left as it is."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Identifier, Literal

from stackroom.errors import SearchRefused
from stackroom.stores.pgvector.database_errors import database_errors
from stackroom.stores.pgvector.sql_tables import READER, VERSION, WRITER, Tables, statements

# An HNSW index of the type vector [pgvector README: HNSW, supported types].
MOST_DIMENSIONS = 2000

_OLDEST_POSTGRESQL = 150000  # UNIQUE NULLS NOT DISTINCT
_OLDEST_PGVECTOR = (0, 8, 0)  # hnsw.iterative_scan
_LOCK = 5_718_091_427  # any number that no other program would choose

# Roles are the whole server's, so that another database may have made them, even just now.
_ROLE = """
DO $$ BEGIN
    CREATE ROLE {role} NOLOGIN NOSUPERUSER NOBYPASSRLS;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$
"""
_DIMENSIONS = """
SELECT atttypmod FROM pg_attribute
WHERE attrelid = to_regclass({chunks}) AND attname = 'embedding' AND NOT attisdropped
"""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """What a schema is like: `language` is that of PostgreSQL's text search."""

    dimensions: int
    language: str


def create(
    connection: Connection[Any],
    tables: Tables,
    *,
    dimensions: int,
    language: str = "english",
    readers: Iterable[str] = (),
) -> None:
    """
    Make what is missing, in one transaction, and let the users `readers` read.

    Whoever calls may create roles, and the extension where it isn't there yet. Raises SearchRefused
    for a schema of other dimensions, language or version, which it names beside those asked for,
    and KnowledgeBaseUnavailable for what passes.
    """
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise SearchRefused(
            f"{dimensions} dimensions can't be indexed; allowed: 1 to {MOST_DIMENSIONS}"
        )
    with database_errors("CreateSchema"), connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        _require_versions(connection)
        _make_roles(connection)
        connection.execute(SQL("CREATE SCHEMA IF NOT EXISTS {}").format(Identifier(tables.schema)))
        if _is_missing(connection, tables):
            _require_language(connection, language)
            for statement in statements(tables, dimensions, language):
                connection.execute(statement)
        standing(connection, tables, dimensions=dimensions, language=language)
        for reader in readers:
            connection.execute(SQL("GRANT {} TO {}").format(Identifier(READER), Identifier(reader)))


def standing(
    connection: Connection[Any], tables: Tables, *, dimensions: int, language: str | None = None
) -> Standing:
    """
    What the schema is like. Raises SearchRefused if that isn't what is asked for, or if there is
    no such schema.
    """
    if _is_missing(connection, tables):
        raise SearchRefused(f"the schema {tables.schema!r} has no tables of Stackroom's")
    row = connection.execute(SQL("SELECT version, language FROM {}").format(tables.version))
    version, spoken = row.fetchone() or (None, None)
    if version != VERSION:
        raise SearchRefused(
            f"the schema {tables.schema!r} is of version {version}, and this is for {VERSION}"
        )
    found = connection.execute(SQL(_DIMENSIONS).format(chunks=Literal(_quoted(tables)))).fetchone()
    there = found[0] if found else None
    if there != dimensions:
        raise SearchRefused(
            f"the schema {tables.schema!r} has vectors of {there} dimensions, not {dimensions}"
        )
    if language not in (None, spoken):
        raise SearchRefused(
            f"the schema {tables.schema!r} has words of the language {spoken!r}, not {language!r}"
        )
    return Standing(dimensions=dimensions, language=str(spoken))


def _make_roles(connection: Connection[Any]) -> None:
    for role in (READER, WRITER):
        connection.execute(SQL(_ROLE).format(role=Identifier(role)))
        asked = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = %s"
        if connection.execute(asked, (role,)).fetchone() != (False,):
            raise SearchRefused(f"the role {role!r} is there, and row level security binds it not")
        # Who makes a role may not yet act as it [PostgreSQL 16: CREATEROLE].
        connection.execute(SQL("GRANT {} TO CURRENT_USER").format(Identifier(role)))


def _require_versions(connection: Connection[Any]) -> None:
    if connection.info.server_version < _OLDEST_POSTGRESQL:
        raise SearchRefused(
            f"PostgreSQL is of version {connection.info.server_version // 10000};"
            f" it must be {_OLDEST_POSTGRESQL // 10000} or newer"
        )
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    [version] = row.fetchone() or ("0",)
    if tuple(map(int, version.split("."))) < _OLDEST_PGVECTOR:
        oldest = ".".join(map(str, _OLDEST_PGVECTOR))
        raise SearchRefused(f"pgvector is of version {version}; it must be {oldest} or newer")


def _require_language(connection: Connection[Any], language: str) -> None:
    known = [name for [name] in connection.execute("SELECT cfgname FROM pg_ts_config ORDER BY 1")]
    if language not in known:
        raise SearchRefused(
            f"PostgreSQL knows no language {language!r}; allowed: {', '.join(known)}"
        )


def _is_missing(connection: Connection[Any], tables: Tables) -> bool:
    name = tables.version.as_string(connection)
    return connection.execute("SELECT to_regclass(%s)", (name,)).fetchone() == (None,)


def _quoted(tables: Tables) -> str:
    return tables.chunks.as_string(None)
