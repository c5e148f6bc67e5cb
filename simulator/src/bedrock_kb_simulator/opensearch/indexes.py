"""The indexes of all collections, and what is in them: a table each, in the simulator's file."""

import threading
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from bedrock_kb_simulator.opensearch import mappings as mapped
from bedrock_kb_simulator.opensearch.documents import Document, indexed
from bedrock_kb_simulator.opensearch.dsl import Dsl
from bedrock_kb_simulator.opensearch.mappings import Mappings
from bedrock_kb_simulator.opensearch.refusals import refused
from bedrock_kb_simulator.rules import OPENSEARCH_INDEX_EXISTS, OPENSEARCH_NO_INDEX
from bedrock_kb_simulator.store import Store, dumped, loaded

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS opensearch_indexes (collection TEXT NOT NULL, name TEXT NOT NULL,"
    " mappings TEXT NOT NULL, PRIMARY KEY (collection, name))",
    "CREATE TABLE IF NOT EXISTS opensearch_documents (collection TEXT NOT NULL,"
    " name TEXT NOT NULL, id TEXT NOT NULL, source TEXT NOT NULL,"
    " PRIMARY KEY (collection, name, id))",
)


class Indexes:
    """By collection and name. What a search reads is kept in memory until it is written to."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: dict[tuple[str, str], Dsl] = {}
        self._lock = threading.RLock()
        for statement in _SCHEMA:
            store.write(statement)

    def create(self, collection: str, name: str, body: Mapping[str, Any]) -> None:
        row = {"collection": collection, "name": name, "mappings": dumped(mapped.created(body))}
        with self._lock:
            if self._row(collection, name) is not None:
                raise refused(OPENSEARCH_INDEX_EXISTS, name=name)
            self._store.insert("opensearch_indexes", row)

    def mappings(self, collection: str, name: str) -> Mappings:
        found = self._row(collection, name)
        if found is None:
            raise refused(OPENSEARCH_NO_INDEX, name=name)
        return found

    def delete(self, collection: str, name: str) -> None:
        self.mappings(collection, name)
        with self._lock, self._store.transaction():
            for table in ("opensearch_indexes", "opensearch_documents"):
                self._store.write(
                    f"DELETE FROM {table} WHERE collection = ? AND name = ?",  # noqa: S608 - ours
                    collection,
                    name,
                )
            self._read.pop((collection, name), None)

    def add(self, collection: str, name: str, source: Mapping[str, Any]) -> str:
        """Answers the id that the document was given."""
        key = uuid4().hex[:20]
        with self._lock, self._store.transaction():
            mappings = mapped.extended(self.mappings(collection, name), source)
            indexed(key, source, mappings)
            row = {"collection": collection, "name": name, "mappings": dumped(mappings)}
            self._store.insert("opensearch_indexes", row)
            document = {"collection": collection, "name": name, "id": key, "source": dumped(source)}
            self._store.insert("opensearch_documents", document)
            self._read.pop((collection, name), None)
        return key

    def drop(self, collection: str, name: str, key: str) -> bool:
        """Whether it was there."""
        with self._lock:
            self._read.pop((collection, name), None)
            there = "collection = ? AND name = ? AND id = ?"
            found = self._store.count(
                f"SELECT count(*) FROM opensearch_documents WHERE {there}",  # noqa: S608 - ours
                collection,
                name,
                key,
            )
            self._store.write(
                f"DELETE FROM opensearch_documents WHERE {there}",  # noqa: S608 - ours
                collection,
                name,
                key,
            )
            return bool(found)

    def searched(self, collection: str, name: str) -> Dsl:
        """What answers queries of all that the index holds now."""
        with self._lock:
            if (collection, name) not in self._read:
                mappings = self.mappings(collection, name)
                self._read[collection, name] = Dsl(
                    mappings=mappings, documents=self._documents(collection, name, mappings)
                )
            return self._read[collection, name]

    def _documents(self, collection: str, name: str, mappings: Mappings) -> list[Document]:
        rows = self._store.rows(
            "SELECT id, source FROM opensearch_documents WHERE collection = ? AND name = ?"
            " ORDER BY rowid",
            collection,
            name,
        )
        return [indexed(row["id"], loaded(row["source"]), mappings) for row in rows]

    def _row(self, collection: str, name: str) -> Mappings | None:
        row = self._store.row(
            "SELECT mappings FROM opensearch_indexes WHERE collection = ? AND name = ?",
            collection,
            name,
        )
        return None if row is None else loaded(row["mappings"])
