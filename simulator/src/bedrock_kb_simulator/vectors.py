"""The passages that a knowledge base searches."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import uuid4

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.bucket_objects import Value
from bedrock_kb_simulator.embedder import Embedder, Vector, normalise
from bedrock_kb_simulator.indexes import Index
from bedrock_kb_simulator.memory_indexes import Entry, MemoryIndex, MemoryIndexes, Owner
from bedrock_kb_simulator.metadata import OWN_KEYS, shown_owner
from bedrock_kb_simulator.metadata_filters import DocumentFilter
from bedrock_kb_simulator.store import Store, dumped, loaded


@dataclass(frozen=True, kw_only=True)
class Passage:
    """
    A passage to index.

    `parent` is the text shown in its place: rule chunk.parents. `vector` embeds the `preamble` and
    the text.
    """

    key: str
    text: str
    vector: Vector
    parent: str | None = None
    preamble: str = ""


@dataclass(frozen=True, kw_only=True)
class Hit:
    key: str
    text: str
    score: float
    owner: Owner
    attributes: dict[str, Value]
    is_parent: bool = False

    @property
    def identity(self) -> tuple[Owner, str]:
        """The identity of a result: a parent's text in its document, else the key."""
        return (self.owner, self.text if self.is_parent else self.key)


def new_key() -> str:
    """Return an id of a chunk in Bedrock's form."""
    return str(uuid4())


class Vectors(Protocol):
    """The passages of every knowledge base; an owner is a document of a data source."""

    def replace(
        self,
        knowledge_base_id: str,
        owner: Owner,
        *,
        index: Index,
        passages: Sequence[Passage],
        attributes: dict[str, Value],
        late: float = 0.0,
    ) -> None:
        """
        Replace a document's passages at once, some seconds `late` (rule retrieve.filtered-lag).

        The previous ones can be found until then.
        """

    def describe(self, knowledge_base_id: str, owner: Owner, attributes: dict[str, Value]) -> None:
        """Replace the attributes of a document and keep its passages."""

    def texts(self, owner: Owner) -> dict[str, tuple[str, str | None]]:
        """Return the texts of a document's current passages and their parents, by key."""

    def remove(self, knowledge_base_id: str, owner: Owner) -> None:
        """Remove a document's passages at once: S3 Vectors is strongly consistent."""

    def remove_data_source(self, knowledge_base_id: str, data_source_id: str) -> None: ...

    def disown(self, knowledge_base_id: str, data_source_id: str) -> None:
        """Keep passages in the index but not in the knowledge base: deletion policy RETAIN."""

    def forget_index(self, arn: str) -> None: ...

    def search(
        self, knowledge_base_id: str, query: Vector, limit: int, document_filter: DocumentFilter
    ) -> list[Hit]:
        """
        Return the nearest visible passages of matching documents; scores are cosines, 0 to 1.

        Parents replace their children, each once: rule chunk.parents.
        """


_OF_OWNER = "data_source_id = ? AND identifier = ?"


class StoredVectors:
    """
    Passages kept in the store and searched in memory.

    A write goes to the store first, then to the index in memory if it is loaded.
    """

    def __init__(
        self, store: Store, clock: Clock, embedder: Embedder, memory_indexes: MemoryIndexes
    ) -> None:
        self._store = store
        self._clock = clock
        self._embedder = embedder
        self._memory_indexes = memory_indexes

    def replace(
        self,
        knowledge_base_id: str,
        owner: Owner,
        *,
        index: Index,
        passages: Sequence[Passage],
        attributes: dict[str, Value],
        late: float = 0.0,
    ) -> None:
        visible = self._clock.after(rules.SEARCHABLE_LAG.value + late)
        with self._store.transaction():
            # Remove passages that were replaced and are no longer visible.
            self._store.write(
                f"DELETE FROM vectors WHERE {_OF_OWNER} AND visible_until < ?",  # noqa: S608 - a constant
                *owner,
                time.time(),
            )
            self._store.write(
                f"UPDATE vectors SET visible_until = ? WHERE {_OF_OWNER} AND visible_until IS NULL",  # noqa: S608 - a constant
                visible,
                *owner,
            )
            row = {
                "index_arn": index.arn,
                "knowledge_base_id": knowledge_base_id,
                "data_source_id": owner[0],
                "identifier": owner[1],
                "model": self._embedder.model,
                "visible_from": visible,
                "attributes": dumped(attributes),
            }
            entries = [self._insert(row, passage, index.dimension) for passage in passages]
            memory_index = self._memory_indexes.loaded(index.arn)
            if memory_index is not None:
                memory_index.expire(owner, visible)
                memory_index.add(entries)
            self.describe(knowledge_base_id, owner, attributes)

    def describe(self, knowledge_base_id: str, owner: Owner, attributes: dict[str, Value]) -> None:
        with self._store.transaction():
            for table in ("documents", "vectors"):
                self._store.update(
                    table,
                    {"attributes": dumped(attributes)},
                    data_source_id=owner[0],
                    identifier=owner[1],
                )
            memory_index = self._loaded(knowledge_base_id)
            if memory_index is not None:
                memory_index.describe(owner, attributes)

    def texts(self, owner: Owner) -> dict[str, tuple[str, str | None]]:
        rows = self._store.rows(
            f"SELECT key, text, parent FROM vectors WHERE {_OF_OWNER} AND visible_until IS NULL",  # noqa: S608 - a constant
            *owner,
        )
        return {row["key"]: (row["text"], row["parent"]) for row in rows}

    def remove(self, knowledge_base_id: str, owner: Owner) -> None:
        with self._store.transaction():
            self._store.write(f"DELETE FROM vectors WHERE {_OF_OWNER}", *owner)  # noqa: S608 - a constant
            memory_index = self._loaded(knowledge_base_id)
            if memory_index is not None:
                memory_index.expire(owner, 0)

    def remove_data_source(self, knowledge_base_id: str, data_source_id: str) -> None:
        with self._store.transaction():
            self._store.write("DELETE FROM vectors WHERE data_source_id = ?", data_source_id)
            self._memory_indexes.forget(_index_arn(self._store, knowledge_base_id))

    def disown(self, knowledge_base_id: str, data_source_id: str) -> None:
        with self._store.transaction():
            self._store.update(
                "vectors", {"knowledge_base_id": None}, data_source_id=data_source_id
            )
            self._memory_indexes.forget(_index_arn(self._store, knowledge_base_id))

    def forget_index(self, arn: str) -> None:
        with self._store.transaction():
            self._store.write("DELETE FROM vectors WHERE index_arn = ?", arn)
            self._memory_indexes.forget(arn)

    def search(
        self, knowledge_base_id: str, query: Vector, limit: int, document_filter: DocumentFilter
    ) -> list[Hit]:
        sources = {
            row["id"]
            for row in self._store.rows(
                "SELECT id FROM data_sources WHERE knowledge_base_id = ?", knowledge_base_id
            )
        }

        def accepts(owner: Owner, attributes: dict[str, Value]) -> bool:
            shown = shown_owner(owner, attributes)
            return shown[0] in sources and document_filter(shown, attributes)

        memory_index = self._memory_indexes.of(_index_arn(self._store, knowledge_base_id))
        found = memory_index.nearest(query, limit, accepts)
        hits: dict[tuple[Owner, str], Hit] = {}
        for row, score in found:
            hit = self._hit(row, score)
            if hit is not None:  # the best of a parent's children comes first, and stays
                hits.setdefault(hit.identity, hit)
        return list(hits.values())

    def _insert(self, row: dict[str, Any], passage: Passage, dimension: int) -> Entry:
        # The index's further dimensions are zeros, which aren't stored.
        vector = normalise(passage.vector[:dimension])
        columns = {
            "key": passage.key,
            "text": passage.text,
            "parent": passage.parent,
            "preamble": passage.preamble,
            "vector": vector.tobytes(),
        }
        return Entry(
            row=self._store.insert("vectors", {**row, **columns}),
            owner=(row["data_source_id"], row["identifier"]),
            vector=vector,
            visible_from=row["visible_from"],
        )

    def _hit(self, row: int, score: float) -> Hit | None:
        found = self._store.row("SELECT * FROM vectors WHERE id = ?", row)
        if found is None:
            return None  # deleted since the search
        attributes = loaded(found["attributes"])
        return Hit(
            key=found["key"],
            text=found["text"] if found["parent"] is None else found["parent"],
            is_parent=found["parent"] is not None,
            score=min(1.0, max(0.0, score)),
            owner=shown_owner((found["data_source_id"], found["identifier"]), attributes),
            attributes={name: attributes[name] for name in attributes if name not in OWN_KEYS},
        )

    def _loaded(self, knowledge_base_id: str) -> MemoryIndex | None:
        return self._memory_indexes.loaded(_index_arn(self._store, knowledge_base_id))


def _index_arn(store: Store, knowledge_base_id: str) -> str:
    row = store.row("SELECT index_arn FROM knowledge_bases WHERE id = ?", knowledge_base_id)
    return row["index_arn"] if row else ""
