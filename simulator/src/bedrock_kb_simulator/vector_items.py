"""S3 Vectors' PutVectors, GetVectors, ListVectors and DeleteVectors."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator import vector_data
from bedrock_kb_simulator.clock import Clock
from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.identifiers import position, token_of
from bedrock_kb_simulator.indexes import Index, index_in
from bedrock_kb_simulator.memory_indexes import MemoryIndexes, entry_of, owner_of
from bedrock_kb_simulator.metadata import BEDROCK_TEXT, OwnKeys, refuse_metadata
from bedrock_kb_simulator.rules import LIST_BYTES, LIST_PAGE, LIST_SEGMENTS
from bedrock_kb_simulator.store import Row, Store, dumped, loaded
from bedrock_kb_simulator.vector_indexes import VectorIndexes
from bedrock_kb_simulator.vector_ranking import metadata_in

_VISIBLE = "visible_from <= ? AND (visible_until IS NULL OR visible_until > ?)"


@dataclass(frozen=True, kw_only=True)
class VectorItems:
    store: Store
    clock: Clock
    indexes: VectorIndexes
    memory: MemoryIndexes
    own: OwnKeys

    def put(self, parameters: Parameters) -> Parameters:
        """All of them or none; one of a key that is there takes its place."""
        index = index_in(self.indexes.row(parameters))
        # Of two with the same key the last one stays.
        vectors = {each["key"]: each for each in parameters["vectors"]}
        rows = [self._row(each, index) for each in vectors.values()]
        with self.store.transaction():
            self._remove(index, list(vectors))
            for row in rows:
                self._insert(index, row)
        return {}

    def get(self, parameters: Parameters) -> Parameters:
        """Those that there are, in the order of the request."""
        index = index_in(self.indexes.row(parameters))
        found = {row["key"]: row for row in self._present(index, parameters["keys"])}
        keys = [key for key in dict.fromkeys(parameters["keys"]) if key in found]
        return {"vectors": [self._shown(found[key], index, parameters) for key in keys]}

    def list(self, parameters: Parameters) -> Parameters:
        """By key; a page ends where it is full or has come over so many bytes."""
        index = index_in(self.indexes.row(parameters))
        segment, segments = parameters.get("segmentIndex"), parameters.get("segmentCount")
        if (segment is None) != (segments is None) or (segments and segment >= segments):
            raise LIST_SEGMENTS.broken()
        most = parameters.get("maxResults") or LIST_PAGE.limit
        vectors: list[dict[str, Any]] = []
        last, size = "", 0
        for row in self._after(index, position(parameters.get("nextToken"))):
            if segments and zlib.crc32(row["key"].encode()) % segments != segment:
                continue
            if len(vectors) == most or size > LIST_BYTES.limit:
                return {"vectors": vectors, "nextToken": token_of(last)}
            vectors.append(self._shown(row, index, parameters))
            last = row["key"]
            size += (
                len(last) + 4 * index.dimension + len(dumped(metadata_in(row, self.own)).encode())
            )
        return {"vectors": vectors}

    def delete(self, parameters: Parameters) -> Parameters:
        """Whoever wrote them; a key that is not there is no error."""
        index = index_in(self.indexes.row(parameters))
        with self.store.transaction():
            self._remove(index, parameters["keys"])
        return {}

    def _row(self, vector: dict[str, Any], index: Index) -> dict[str, Any]:
        metadata = vector.get("metadata") or {}
        refuse_metadata(metadata, vector["key"], index)
        text = metadata.get(BEDROCK_TEXT)
        return {
            "key": vector["key"],
            "index_arn": index.arn,
            "data_source_id": "",
            "identifier": vector["key"],
            "text": text if isinstance(text, str) else "",
            "vector": vector_data.read(vector["data"], index).tobytes(),
            "model": "",
            "visible_from": 0,
            "attributes": dumped(metadata),
        }

    def _insert(self, index: Index, row: dict[str, Any]) -> None:
        number = self.store.insert("vectors", row)
        memory = self.memory.loaded(index.arn)
        if memory is None:
            return
        kept = self.store.row("SELECT * FROM vectors WHERE id = ?", number)
        assert kept is not None, "it was written a moment ago, in this transaction"
        memory.add([entry_of(kept)])
        memory.describe(owner_of(kept), loaded(kept["attributes"]))

    def _remove(self, index: Index, keys: Sequence[str]) -> None:
        memory = self.memory.loaded(index.arn)
        for row in self._present(index, keys):
            self.store.write("DELETE FROM vectors WHERE id = ?", row["id"])
            if memory is not None:
                memory.expire_row(row["id"])

    def _present(self, index: Index, keys: Sequence[str]) -> Sequence[Row]:
        now = self.clock.after(0)
        return self.store.rows(
            "SELECT * FROM vectors WHERE index_arn = ?"  # noqa: S608 - a constant
            f" AND key IN (SELECT value FROM json_each(?)) AND {_VISIBLE}",
            index.arn,
            dumped(keys),
            now,
            now,
        )

    def _after(self, index: Index, key: str) -> Iterator[Row]:
        now = self.clock.after(0)
        while True:
            rows = self.store.rows(
                f"SELECT * FROM vectors WHERE index_arn = ? AND key > ? AND {_VISIBLE}"  # noqa: S608 - a constant
                " ORDER BY key LIMIT 1000",
                index.arn,
                key,
                now,
                now,
            )
            yield from rows
            if len(rows) < 1000:
                return
            key = rows[-1]["key"]

    def _shown(self, row: Row, index: Index, parameters: Parameters) -> dict[str, Any]:
        shown: dict[str, Any] = {"key": row["key"]}
        if parameters.get("returnData"):
            shown["data"] = vector_data.shown(row["vector"], index)
        if parameters.get("returnMetadata"):
            shown["metadata"] = metadata_in(row, self.own)
        return shown
