"""S3 Vectors' PutVectors, GetVectors, ListVectors and DeleteVectors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bedrock_kb_simulator import metadata_filters, rules
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.bucket_objects import Value
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.embedder import Vector, normalised
from bedrock_kb_simulator.identifiers import position, start_of, token_for, token_of
from bedrock_kb_simulator.indexes import Index, index_in
from bedrock_kb_simulator.memory_indexes import (
    MemoryIndex,
    MemoryIndexes,
    Owner,
    Visible,
    entry_of,
    owner_of,
)
from bedrock_kb_simulator.metadata import (
    BEDROCK_METADATA,
    BEDROCK_TEXT,
    CHUNK_ID,
    OwnKeys,
    metadata_of,
    refuse_metadata,
    shown_owner,
)
from bedrock_kb_simulator.store import Row, Store, dumped, loaded
from bedrock_kb_simulator.text_search import TextSearch, TextSearches
from bedrock_kb_simulator.vector_indexes import VectorIndexes

# How QueryVectors ranks: what may be found, by distance, by words, and both fused.

_OF_A_VECTOR = {CHUNK_ID, BEDROCK_TEXT, BEDROCK_METADATA}  # all else is a document's


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A checked query: of a vector, of texts, or of both."""

    index: Index
    vector: Vector | None
    texts: Sequence[tuple[TextSearch, str]]
    condition: metadata_filters.VectorFilter | None
    enhanced: bool
    top_k: int

    @property
    def is_hybrid(self) -> bool:
        return self.vector is not None and bool(self.texts)


@dataclass(kw_only=True)
class Found:
    """A row of `vectors`; the distance is None where the vector search did not find it."""

    row: int
    distance: float | None = None
    bm25: dict[str, float] = field(default_factory=dict)
    fused: float = 0.0


def rows_of(store: Store, numbers: Sequence[int]) -> dict[int, Row]:
    """Those that are still there."""
    rows = store.rows(
        "SELECT * FROM vectors WHERE id IN (SELECT value FROM json_each(?))", dumped(numbers)
    )
    return {row["id"]: row for row in rows}


def metadata_in(row: Row, own: OwnKeys) -> dict[str, Any]:
    owner = (row["data_source_id"], row["identifier"])
    return metadata_of(
        row["key"], owner, row["text"], row["attributes"], parent=row["parent"], own=own
    )


def _distances(asked: Asked, candidates: Visible) -> NDArray[np.float32]:
    if asked.vector is None or asked.index.metric == "cosine":
        return 1 - candidates.cosines
    length = np.float32(np.linalg.norm(asked.vector))
    squares = candidates.lengths**2 + length**2
    products = 2 * length * candidates.lengths * candidates.cosines
    distances: NDArray[np.float32] = np.sqrt(np.maximum(0, squares - products))
    return distances


def _nearest(
    rows: NDArray[np.int64], distances: NDArray[np.float32], limit: int
) -> list[tuple[int, float]]:
    best = np.lexsort((rows, distances))[:limit]
    return [(int(rows[at]), float(distances[at])) for at in best]


def _some(candidates: Visible, at: NDArray[np.int64]) -> Visible:
    return Visible(
        rows=candidates.rows[at], lengths=candidates.lengths[at], cosines=candidates.cosines[at]
    )


# A vector as requests and answers carry it, and as it is kept: without the zeros at its end.


def read_vector(data: Any, index: Index) -> Vector:
    """Of a request's `VectorData`. Raises ValidationException for what the index can't take."""
    values = (data or {}).get("float32") or []
    if len(values) != index.dimension:
        raise rules.VECTOR_DIMENSION.broken(given=len(values), dimension=index.dimension)
    with np.errstate(over="ignore"):  # too large a number becomes infinite, which is refused
        vector = np.array(values, dtype=np.float64).astype(np.float32)
    if not np.isfinite(vector).all():
        raise rules.VECTOR_VALUES.broken()
    if index.metric == "cosine" and not vector.any():
        raise rules.VECTOR_ZERO.broken()
    return np.trim_zeros(vector, "b")


def shown_vector(kept: bytes, index: Index) -> dict[str, list[float]]:
    """As an answer has it."""
    vector = np.frombuffer(kept, dtype=np.float32)
    return {"float32": np.pad(vector, (0, index.dimension - len(vector))).tolist()}


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
        if parameters.get("segmentCount") is not None:
            raise rules.NOT_SIMULATED.broken(what="segmentCount of ListVectors")
        most = parameters.get("maxResults") or rules.LIST_PAGE.limit
        vectors: list[dict[str, Any]] = []
        last, size = "", 0
        for row in self._after(index, position(parameters.get("nextToken"))):
            if len(vectors) == most or size > rules.LIST_BYTES.limit:
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
            "vector": read_vector(vector["data"], index).tobytes(),
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
            shown["data"] = shown_vector(row["vector"], index)
        if parameters.get("returnMetadata"):
            shown["metadata"] = metadata_in(row, self.own)
        return shown


# S3 Vectors' QueryVectors: by a vector, by texts, or by both.


@dataclass(frozen=True, kw_only=True)
class VectorQueries:
    store: Store
    clock: Clock
    indexes: VectorIndexes
    searches: TextSearches
    memory: MemoryIndexes
    own: OwnKeys

    def query(self, parameters: Parameters) -> Parameters:
        asked = self._asked(parameters)
        start = start_of(parameters, clock=self.clock, rule=rules.QUERY_TOKEN)
        ranked = self._ranked(asked, self.memory.of(asked.index.arn))
        end = start + rules.QUERY_PAGE.limit
        shown = ranked[start:end]
        rows = rows_of(self.store, [found.row for found in shown])
        answers = [
            self._shown(found, rows[found.row], asked, parameters)
            for found in shown
            if found.row in rows  # else it was deleted since
        ]
        more = {}
        if len(ranked) > end:
            token = token_for(parameters, end, clock=self.clock, rule=rules.QUERY_TOKEN)
            more = {"nextToken": token}
        return {"vectors": answers, "distanceMetric": asked.index.metric, **more}

    def _asked(self, parameters: Parameters) -> Asked:
        """Raises ServiceError for what S3 Vectors refuses."""
        index = index_in(self.indexes.row(parameters))
        texts, vector = parameters.get("queryTexts") or [], parameters.get("queryVector")
        if not texts and vector is None:
            raise rules.QUERY_EMPTY.broken()
        if parameters["topK"] > rules.TOP_K.limit:
            raise rules.TOP_K.broken()
        mode = parameters.get("queryMode")
        if mode == "CLASSIC" and index.is_enhanced:
            raise rules.QUERY_CLASSIC.broken()
        if texts and not index.is_enhanced:
            raise rules.QUERY_TEXT_CLASSIC.broken()
        enhanced = index.is_enhanced or mode == "ENHANCED"
        condition = parameters.get("filter")
        if condition is not None:
            metadata_filters.check_vector_filter(condition, index, enhanced=enhanced)
        return Asked(
            index=index,
            vector=None if vector is None else read_vector(vector, index),
            texts=self._texts(index, texts),
            condition=condition,
            enhanced=enhanced,
            top_k=parameters["topK"],
        )

    def _texts(
        self, index: Index, texts: Sequence[dict[str, str]]
    ) -> Sequence[tuple[TextSearch, str]]:
        keys, searches = [each["metadataKey"] for each in texts], self.searches.of(index.arn)
        if len(set(keys)) < len(keys):
            raise rules.QUERY_TEXT_TWICE.broken()
        for key in keys:
            if key not in searches:
                raise rules.QUERY_TEXT_KEY.broken(key=key)
            if not searches[key].active:
                raise rules.QUERY_TEXT_BUILDING.broken(key=key)
        return [(searches[each["metadataKey"]], each["text"]) for each in texts]

    def _ranked(self, asked: Asked, memory: MemoryIndex) -> list[Found]:
        """The topK best, best first."""
        candidates = self._candidates(asked, memory)
        distances = _distances(asked, candidates)
        if not asked.texts:
            return [
                Found(row=row, distance=distance)
                for row, distance in _nearest(candidates.rows, distances, asked.top_k)
            ]
        depth = (
            max(asked.top_k, rules.FUSION_DEPTH.limit) if asked.is_hybrid else len(candidates.rows)
        )
        found: dict[int, Found] = {}
        if asked.vector is not None:
            for rank, (row, distance) in enumerate(_nearest(candidates.rows, distances, depth), 1):
                found[row] = Found(
                    row=row, distance=distance, fused=1 / (rules.FUSION.value + rank)
                )
        for search, text in asked.texts:
            ranking = self.searches.ranked(search, text, candidates.rows, depth)
            for rank, (row, score) in enumerate(ranking, 1):
                hit = found.setdefault(row, Found(row=row))
                hit.bm25[search.metadata_key] = score
                hit.fused += 1 / (rules.FUSION.value + rank)

        def order(hit: Found) -> tuple[float, int]:
            return (-hit.fused if asked.is_hybrid else -sum(hit.bm25.values()), hit.row)

        return sorted(found.values(), key=order)[: asked.top_k]

    def _candidates(self, asked: Asked, memory: MemoryIndex) -> Visible:
        """What the filter lets through: rule query.filter-first."""
        unit = None if asked.vector is None else normalised(asked.vector)
        if asked.condition is None:
            return memory.visible(unit, None)
        accepts = metadata_filters.compiled(asked.condition)
        if not asked.enhanced:
            everything = memory.visible(unit, None)
            reach = int(rules.CLASSIC_REACH.value * asked.top_k)
            near = np.lexsort((everything.rows, _distances(asked, everything)))[:reach]
            return self._accepted(_some(everything, near), accepts)
        if metadata_filters.keys_of(asked.condition) & _OF_A_VECTOR:
            return self._accepted(memory.visible(unit, None), accepts)

        def accepted(owner: Owner, attributes: dict[str, Value]) -> bool:
            shown = self.own.of(shown_owner(owner, attributes)) if owner[0] else {}
            return accepts({**attributes, **shown})

        return memory.visible(unit, accepted)

    def _accepted(self, candidates: Visible, accepts: Callable[[Any], bool]) -> Visible:
        """By all metadata of each vector."""
        rows = rows_of(self.store, candidates.rows.tolist())
        kept = [number for number, row in rows.items() if accepts(metadata_in(row, self.own))]
        return _some(candidates, np.flatnonzero(np.isin(candidates.rows, kept)))

    def _shown(
        self, found: Found, row: Row, asked: Asked, parameters: Parameters
    ) -> dict[str, Any]:
        shown: dict[str, Any] = {"key": row["key"]}
        if parameters.get("returnDistance") and found.distance is not None:
            shown["distance"] = found.distance
        if parameters.get("returnScores") and asked.texts:
            shown["scores"] = _scores(found, asked)
        if parameters.get("returnMetadata"):
            shown["metadata"] = metadata_in(row, self.own)
        return shown


def _scores(found: Found, asked: Asked) -> dict[str, Any]:
    """Rule query.scores."""
    scores: dict[str, Any] = {
        "bm25Scores": [{"metadataKey": key, "score": score} for key, score in found.bm25.items()]
    }
    if asked.is_hybrid:
        scores["fused"] = found.fused
        if found.distance is not None:
            scores["vectorDistance"] = found.distance
    return scores
