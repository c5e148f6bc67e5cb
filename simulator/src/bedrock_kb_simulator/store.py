"""
The simulator's state in one SQLite file, so that a restart or a SIGKILL loses nothing.

    vector_buckets, vector_indexes    S3 Vectors
    knowledge_bases, data_sources     Bedrock resources; `body` holds their configuration as JSON
    ingestion_jobs                    jobs with statistics and failure reasons
    documents                         one row per document, with its attributes
    vectors                           Bedrock's passages with their document's id and attributes,
                                      and vectors of PutVectors without a data source
    text_searches                     searchable metadata keys of indexes; words in `text_<id>`
    guardrails                        one row per version; the draft has the latest number
    tags                              tags of resources by ARN
    client_tokens                     the resource that a client token created
"""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

Row = sqlite3.Row

_SCHEMA = """
CREATE TABLE IF NOT EXISTS vector_buckets (
    name TEXT PRIMARY KEY, created_at TEXT NOT NULL, policy TEXT
);
CREATE TABLE IF NOT EXISTS vector_indexes (
    arn TEXT PRIMARY KEY, bucket TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS knowledge_bases (
    id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, status TEXT NOT NULL, index_arn TEXT NOT NULL,
    body TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS data_sources (
    id TEXT PRIMARY KEY, knowledge_base_id TEXT NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL,
    failure_reasons TEXT NOT NULL DEFAULT '[]', body TEXT NOT NULL,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, UNIQUE (knowledge_base_id, name)
);
CREATE TABLE IF NOT EXISTS ingestion_jobs (
    id TEXT PRIMARY KEY, knowledge_base_id TEXT NOT NULL, data_source_id TEXT NOT NULL,
    status TEXT NOT NULL, description TEXT, statistics TEXT NOT NULL, failure_reasons TEXT NOT NULL,
    started_at TEXT NOT NULL, updated_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS jobs_by_status ON ingestion_jobs (status, knowledge_base_id);
CREATE INDEX IF NOT EXISTS jobs_by_data_source ON ingestion_jobs (data_source_id);
CREATE TABLE IF NOT EXISTS documents (
    data_source_id TEXT NOT NULL, identifier TEXT NOT NULL, status TEXT NOT NULL,
    status_reason TEXT, etag TEXT, sidecar_etag TEXT, attributes TEXT NOT NULL DEFAULT '{}',
    updated_at TEXT NOT NULL, PRIMARY KEY (data_source_id, identifier)
);
CREATE TABLE IF NOT EXISTS vectors (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, index_arn TEXT NOT NULL, knowledge_base_id TEXT,
    data_source_id TEXT NOT NULL, identifier TEXT NOT NULL, text TEXT NOT NULL,
    vector BLOB NOT NULL, model TEXT NOT NULL,
    visible_from REAL NOT NULL, visible_until REAL, attributes TEXT NOT NULL DEFAULT '{}',
    parent TEXT, preamble TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS vectors_by_document ON vectors (data_source_id, identifier);
CREATE INDEX IF NOT EXISTS vectors_by_knowledge_base ON vectors (knowledge_base_id);
CREATE INDEX IF NOT EXISTS vectors_by_key ON vectors (index_arn, key);
CREATE TABLE IF NOT EXISTS text_searches (
    id INTEGER PRIMARY KEY, index_arn TEXT NOT NULL, metadata_key TEXT NOT NULL, language TEXT,
    active_from REAL NOT NULL, UNIQUE (index_arn, metadata_key)
);
CREATE TABLE IF NOT EXISTS guardrails (
    id TEXT NOT NULL, version TEXT NOT NULL, number INTEGER NOT NULL DEFAULT 0, name TEXT NOT NULL,
    body TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    PRIMARY KEY (id, version)
);
CREATE TABLE IF NOT EXISTS tags (
    arn TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (arn, key)
);
CREATE TABLE IF NOT EXISTS client_tokens (
    scope TEXT NOT NULL, token TEXT NOT NULL, resource TEXT NOT NULL, expires_at REAL NOT NULL,
    PRIMARY KEY (scope, token)
);
"""


class Store:
    """
    A database connection that threads use in turn; each transaction is all or nothing.

    `when_not_kept` is called after a transaction that could not be written, as on a full disk.
    """

    def __init__(self, path: Path) -> None:
        self.when_not_kept: Callable[[], object] = lambda: None
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._connection.row_factory = Row
        self._lock = threading.RLock()
        # WAL with NORMAL: a killed process loses nothing; a power cut may lose the last write.
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        self._connection.executescript(_SCHEMA)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def define(self, function: str, made_of: int, value: Callable[..., Any]) -> None:
        """Define an SQL function of so many arguments."""
        self._connection.create_function(function, made_of, value, deterministic=True)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run everything inside as one transaction; may be nested."""
        with self._lock:
            if self._connection.in_transaction:
                yield
                return
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException as error:
                if self._connection.in_transaction:  # a full disk ends it by itself
                    self._connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    self.when_not_kept()
                raise

    def rows(self, query: str, *values: Any) -> list[Row]:
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    def row(self, query: str, *values: Any) -> Row | None:
        with self._lock:
            found: Row | None = self._connection.execute(query, values).fetchone()
            return found

    def count(self, query: str, *values: Any) -> int:
        """Return the number of a `SELECT count(*)`."""
        row = self.row(query, *values)
        assert row is not None, "an aggregate always has a row"
        return int(row[0])

    def write(self, statement: str, *values: Any) -> None:
        with self.transaction():
            self._connection.execute(statement, values)

    def update(self, table: str, changes: Mapping[str, Any], **where: Any) -> None:
        """Change columns of the rows with these values."""
        assignments = ", ".join(f"{column} = ?" for column in changes)
        condition = " AND ".join(f"{column} = ?" for column in where)
        # Table and column names come from this package, never from a request.
        statement = f"UPDATE {table} SET {assignments} WHERE {condition}"  # noqa: S608
        self.write(statement, *changes.values(), *where.values())

    def insert(self, table: str, columns: Mapping[str, Any]) -> int:
        """Insert a row or replace the one with the same key; return its rowid."""
        names = ", ".join(columns)
        marks = ", ".join("?" * len(columns))
        statement = f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})"  # noqa: S608 - as above
        with self.transaction():
            return int(self._connection.execute(statement, tuple(columns.values())).lastrowid or 0)


def dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def loaded(text: str) -> Any:
    return json.loads(text)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
