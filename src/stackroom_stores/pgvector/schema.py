"""
The tables, and which rows each user sees. They are created on request; existing ones stay.

    knowledge_bases       one row each; without a `user_id` it is shared
    knowledge_documents   files, each of a knowledge base, with the attributes for filters
    knowledge_chunks      passages, each with its vector, its words, and its document's attributes
    knowledge_schema      one row: the version of these tables, and the language of the words

A row is visible to the user in its `user_id`, and to everybody if that is null. `stackroom.user_id`
is the current user; if it isn't set, there is none. This holds for anyone in the two roles that
transactions run under, even for a superuser: see `connections`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Composed, Identifier, Literal

from stackroom.errors import SearchRefused
from stackroom_stores.pgvector.database_errors import database_errors

VERSION = 1
READER = "stackroom_reader"
WRITER = "stackroom_writer"
# In sessions that ask for a user's rows. Its prefix is ours: PostgreSQL has none of that name.
USER_SETTING = "stackroom.user_id"
# Numbers of a vector that lies in its row, which must fit into a page of 8 KB. One that lies beside
# it takes a look-up that PostgreSQL's planner knows nothing of: it would leave the index aside.
_MOST_IN_ROW = 1536

_TABLES = """
CREATE TABLE {bases} (
    knowledge_base_id text PRIMARY KEY,
    name text NOT NULL,
    description text NOT NULL DEFAULT '',
    user_id text CHECK (user_id <> ''),
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON {bases} (user_id, created_at);

CREATE TABLE {documents} (
    document_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    knowledge_base_id text NOT NULL REFERENCES {bases} ON DELETE CASCADE,
    user_id text CHECK (user_id <> ''),
    document_name text NOT NULL,
    source_uri text,
    attributes jsonb NOT NULL DEFAULT '{{}}' CHECK (jsonb_typeof(attributes) = 'object'),
    digest text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE NULLS NOT DISTINCT (knowledge_base_id, user_id, document_name)
);

CREATE TABLE {chunks} (
    document_id bigint NOT NULL REFERENCES {documents} ON DELETE CASCADE,
    chunk_index integer NOT NULL CHECK (chunk_index >= 0),
    knowledge_base_id text NOT NULL,
    user_id text CHECK (user_id <> ''),
    content text NOT NULL,
    page integer CHECK (page >= 1),
    attributes jsonb NOT NULL CHECK (jsonb_typeof(attributes) = 'object'),
    embedding vector({dimensions}) NOT NULL,
    words tsvector NOT NULL GENERATED ALWAYS AS (to_tsvector({language}, content)) STORED,
    PRIMARY KEY (document_id, chunk_index)
);
ALTER TABLE {chunks} ALTER COLUMN embedding SET STORAGE {storage};
CREATE INDEX ON {chunks} (knowledge_base_id, user_id);
CREATE INDEX ON {chunks} USING hnsw (embedding vector_cosine_ops);
CREATE INDEX ON {chunks} USING gin (words);

CREATE TABLE {version} (version integer NOT NULL, language text NOT NULL);
INSERT INTO {version} VALUES ({number}, {language});
"""
# FORCE: for the tables' owner, too. The sub-select is run once a statement, not once a row.
_ISOLATION = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY reading ON {table} FOR SELECT USING (
    user_id IS NULL OR user_id = (SELECT nullif(current_setting({setting}, true), ''))
);
CREATE POLICY writing ON {table} FOR ALL USING (
    user_id IS NOT DISTINCT FROM (SELECT nullif(current_setting({setting}, true), ''))
);
GRANT SELECT ON {table} TO {reader};
GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {writer};
"""


@dataclass(frozen=True, kw_only=True)
class Tables:
    """The tables of a schema, as SQL names them."""

    schema: str = "public"

    @property
    def names(self) -> dict[str, Identifier]:
        """The names for `SQL.format`."""
        return {
            "bases": Identifier(self.schema, "knowledge_bases"),
            "documents": Identifier(self.schema, "knowledge_documents"),
            "chunks": Identifier(self.schema, "knowledge_chunks"),
            "version": self.version,
        }

    @property
    def version(self) -> Identifier:
        return Identifier(self.schema, "knowledge_schema")


def statements(tables: Tables, dimensions: int, language: str) -> Iterable[Composed]:
    """Yield the statements that create everything in an empty schema."""
    yield SQL(_TABLES).format(
        **tables.names,
        dimensions=Literal(dimensions),
        language=SQL("{}::regconfig").format(Literal(language)),
        number=Literal(VERSION),
        storage=SQL("PLAIN" if dimensions <= _MOST_IN_ROW else "EXTERNAL"),
    )
    roles = {"reader": Identifier(READER), "writer": Identifier(WRITER)}
    for table in ("bases", "documents", "chunks"):
        named = {"table": tables.names[table], "setting": Literal(USER_SETTING)}
        yield SQL(_ISOLATION).format(**named, **roles)
    for role in roles.values():
        yield SQL("GRANT USAGE ON SCHEMA {} TO {}").format(Identifier(tables.schema), role)
        yield SQL("GRANT SELECT ON {} TO {}").format(tables.version, role)


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


def create(
    connection: Connection[Any],
    tables: Tables,
    *,
    dimensions: int,
    language: str = "english",
    readers: Iterable[str] = (),
) -> None:
    """
    Create what is missing, in one transaction, and let the users `readers` read.

    The caller must be able to create roles, and the extension if it is missing. Raises
    SearchRefused for a schema of other dimensions, language or version, naming both, and
    KnowledgeBaseUnavailable for temporary failures.
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
        language_of(connection, tables, dimensions=dimensions, language=language)
        for reader in readers:
            connection.execute(SQL("GRANT {} TO {}").format(Identifier(READER), Identifier(reader)))


def language_of(
    connection: Connection[Any], tables: Tables, *, dimensions: int, language: str | None = None
) -> str:
    """
    Return the language of the schema's text search.

    Raises SearchRefused if there is no such schema, or if it differs from the arguments.
    """
    if _is_missing(connection, tables):
        raise SearchRefused(f"the schema {tables.schema!r} has no tables of Stackroom's")
    row = connection.execute(SQL("SELECT version, language FROM {}").format(tables.version))
    version, spoken = row.fetchone() or (None, None)
    if version != VERSION:
        raise SearchRefused(
            f"the schema {tables.schema!r} is of version {version}, and this is for {VERSION}"
        )
    chunks = Literal(tables.names["chunks"].as_string(None))
    found = connection.execute(SQL(_DIMENSIONS).format(chunks=chunks)).fetchone()
    there = found[0] if found else None
    if there != dimensions:
        raise SearchRefused(
            f"the schema {tables.schema!r} has vectors of {there} dimensions, not {dimensions}"
        )
    if language not in (None, spoken):
        raise SearchRefused(
            f"the schema {tables.schema!r} has words of the language {spoken!r}, not {language!r}"
        )
    return str(spoken)


def _make_roles(connection: Connection[Any]) -> None:
    for role in (READER, WRITER):
        connection.execute(SQL(_ROLE).format(role=Identifier(role)))
        has_bypass = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = %s"
        if connection.execute(has_bypass, (role,)).fetchone() != (False,):
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
