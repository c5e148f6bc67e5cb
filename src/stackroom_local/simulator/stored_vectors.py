"""Passages and their vectors: kept in the store, searched in memory, bounded as S3 Vectors is."""

import time
from collections.abc import Sequence

import numpy as np

from stackroom_local.simulator.clock import Clock
from stackroom_local.simulator.embedding import Embedder, Vector, normalised
from stackroom_local.simulator.filters import Sought
from stackroom_local.simulator.indexes import Index
from stackroom_local.simulator.memory_index import Entry, MemoryIndex, Owner
from stackroom_local.simulator.records import Records
from stackroom_local.simulator.rules import SEARCHABLE_LAG
from stackroom_local.simulator.sidecars import Value
from stackroom_local.simulator.store import Row, Store, dumped, loaded
from stackroom_local.simulator.vectors import Hit, Passage

_OF_OWNER = "data_source_id = ? AND identifier = ?"


class StoredVectors:
    """
    Kept in the store, and searched in memory, in an index for each knowledge base.

    A write goes to the store first, then to the index in memory if there is one; a search that
    finds none fills it from the store.
    """

    def __init__(self, store: Store, clock: Clock, records: Records, embedder: Embedder) -> None:
        self._store = store
        self._clock = clock
        self._records = records
        self._embedder = embedder
        self._memory_indexes: dict[str, MemoryIndex] = {}

    def replace(
        self,
        knowledge_base_id: str,
        owner: Owner,
        *,
        index: Index,
        passages: Sequence[Passage],
        attributes: dict[str, Value],
    ) -> None:
        visible = self._clock.after(SEARCHABLE_LAG.value)
        with self._store.transaction():
            self._purge(owner)
            self._store.write(
                f"UPDATE vectors SET visible_until = ? WHERE {_OF_OWNER} AND visible_until IS NULL",  # noqa: S608 - a constant
                visible,
                *owner,
            )
            entries = [
                self._insert(knowledge_base_id, index, owner, passage, visible)
                for passage in passages
            ]
            memory_index = self._memory_indexes.get(knowledge_base_id)
            if memory_index is not None:
                memory_index.expire(owner, visible)
                memory_index.add(entries)
            self.describe(knowledge_base_id, owner, attributes)

    def describe(self, knowledge_base_id: str, owner: Owner, attributes: dict[str, Value]) -> None:
        with self._store.transaction():
            self._store.write(
                f"UPDATE documents SET attributes = ? WHERE {_OF_OWNER}",  # noqa: S608 - a constant
                dumped(attributes),
                *owner,
            )
            memory_index = self._memory_indexes.get(knowledge_base_id)
            if memory_index is not None:
                memory_index.describe(owner, attributes)

    def texts(self, owner: Owner) -> dict[str, str]:
        rows = self._store.rows(
            f"SELECT key, text FROM vectors WHERE {_OF_OWNER} AND visible_until IS NULL",  # noqa: S608 - a constant
            *owner,
        )
        return {row["key"]: row["text"] for row in rows}

    def remove(self, knowledge_base_id: str, owner: Owner) -> None:
        with self._store.transaction():
            self._store.write(f"DELETE FROM vectors WHERE {_OF_OWNER}", *owner)  # noqa: S608 - a constant
            memory_index = self._memory_indexes.get(knowledge_base_id)
            if memory_index is not None:
                memory_index.expire(owner, 0)

    def remove_data_source(self, knowledge_base_id: str, data_source_id: str) -> None:
        with self._store.transaction():
            self._store.write("DELETE FROM vectors WHERE data_source_id = ?", data_source_id)
            self._memory_indexes.pop(knowledge_base_id, None)

    def disown(self, knowledge_base_id: str, data_source_id: str) -> None:
        with self._store.transaction():
            self._store.write(
                "UPDATE vectors SET knowledge_base_id = NULL WHERE data_source_id = ?",
                data_source_id,
            )
            self._memory_indexes.pop(knowledge_base_id, None)

    def forget_index(self, arn: str) -> None:
        with self._store.transaction():
            self._store.write("DELETE FROM vectors WHERE index_arn = ?", arn)
            self._memory_indexes.clear()

    def search(
        self, knowledge_base_id: str, query: Vector, limit: int, sought: Sought
    ) -> list[Hit]:
        found = self._memory_index(knowledge_base_id).nearest(query, limit, sought)
        hits = (self._hit(row, score) for row, score in found)
        return [hit for hit in hits if hit is not None]

    def _insert(
        self, knowledge_base_id: str, index: Index, owner: Owner, passage: Passage, visible: float
    ) -> Entry:
        # The index's further dimensions are zeros, which need no keeping.
        vector = normalised(passage.vector[: index.dimension])
        columns = {
            "key": passage.key,
            "index_arn": index.arn,
            "knowledge_base_id": knowledge_base_id,
            "data_source_id": owner[0],
            "identifier": owner[1],
            "text": passage.text,
            "vector": vector.tobytes(),
            "model": self._embedder.model,
            "visible_from": visible,
        }
        row = self._store.insert("vectors", columns)
        return Entry(row=row, owner=owner, vector=vector, visible_from=visible)

    def _purge(self, owner: Owner) -> None:
        """Passages that were replaced and whose time is over."""
        self._store.write(
            f"DELETE FROM vectors WHERE {_OF_OWNER} AND visible_until < ?",  # noqa: S608 - a constant
            *owner,
            time.time(),
        )

    def _hit(self, row: int, score: float) -> Hit | None:
        found = self._store.row("SELECT * FROM vectors WHERE id = ?", row)
        if found is None:
            return None  # deleted since the search
        owner = (found["data_source_id"], found["identifier"])
        document = self._records.find(*owner)
        return Hit(
            key=found["key"],
            text=found["text"],
            score=min(1.0, max(0.0, score)),
            owner=owner,
            attributes=loaded(document["attributes"]) if document else {},
        )

    def _memory_index(self, knowledge_base_id: str) -> MemoryIndex:
        memory_index = self._memory_indexes.get(knowledge_base_id)
        if memory_index is not None:
            return memory_index
        with self._store.transaction():  # nothing is written while the index is filled
            if knowledge_base_id not in self._memory_indexes:
                self._memory_indexes[knowledge_base_id] = self._filled(knowledge_base_id)
            return self._memory_indexes[knowledge_base_id]

    def _filled(self, knowledge_base_id: str) -> MemoryIndex:
        memory_index = MemoryIndex()
        rows = self._store.rows(
            "SELECT * FROM vectors WHERE knowledge_base_id = ? ORDER BY id", knowledge_base_id
        )
        memory_index.add(_entry(row) for row in rows)
        for owner in {(row["data_source_id"], row["identifier"]) for row in rows}:
            document = self._records.find(*owner)
            memory_index.describe(owner, loaded(document["attributes"]) if document else {})
        return memory_index


def _entry(row: Row) -> Entry:
    until = row["visible_until"]
    return Entry(
        row=row["id"],
        owner=(row["data_source_id"], row["identifier"]),
        vector=np.frombuffer(row["vector"], dtype=np.float32),
        visible_from=row["visible_from"],
        visible_until=float("inf") if until is None else until,
    )
