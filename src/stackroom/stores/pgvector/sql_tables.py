"""
What the tables are, and who sees which of their rows.

    knowledge_bases       one row each; without a `user_id` it is shared
    knowledge_documents   files, each of a knowledge base, with the attributes that filters ask for
    knowledge_chunks      passages, each with its vector, its words, and its document's attributes
    knowledge_schema      one row: the version of all this, and the language of the words

A row is seen by the user in its `user_id`, and by everybody where that is null. `stackroom.user_id`
tells who is asking; where it isn't set, it is nobody. That holds for whoever takes on the two roles
that transactions run under, even if a superuser does: see `connections`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from psycopg.sql import SQL, Composed, Identifier, Literal

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
    def bases(self) -> Identifier:
        return Identifier(self.schema, "knowledge_bases")

    @property
    def documents(self) -> Identifier:
        return Identifier(self.schema, "knowledge_documents")

    @property
    def chunks(self) -> Identifier:
        return Identifier(self.schema, "knowledge_chunks")

    @property
    def version(self) -> Identifier:
        return Identifier(self.schema, "knowledge_schema")

    @property
    def names(self) -> dict[str, Identifier]:
        """For `SQL.format`."""
        return {
            "bases": self.bases,
            "documents": self.documents,
            "chunks": self.chunks,
            "version": self.version,
        }


def statements(tables: Tables, dimensions: int, language: str) -> Iterable[Composed]:
    """That make all of it where nothing is."""
    yield SQL(_TABLES).format(
        **tables.names,
        dimensions=Literal(dimensions),
        language=SQL("{}::regconfig").format(Literal(language)),
        number=Literal(VERSION),
        storage=SQL("PLAIN" if dimensions <= _MOST_IN_ROW else "EXTERNAL"),
    )
    roles = {"reader": Identifier(READER), "writer": Identifier(WRITER)}
    for table in (tables.bases, tables.documents, tables.chunks):
        yield SQL(_ISOLATION).format(table=table, setting=Literal(USER_SETTING), **roles)
    for role in roles.values():
        yield SQL("GRANT USAGE ON SCHEMA {} TO {}").format(Identifier(tables.schema), role)
        yield SQL("GRANT SELECT ON {} TO {}").format(tables.version, role)
