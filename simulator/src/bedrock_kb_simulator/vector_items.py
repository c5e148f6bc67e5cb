"""S3 Vectors' Put-, Get-, List-, Delete- and QueryVectors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bedrock_kb_simulator import metadata_filters, rules
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.bucket_objects import Value
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.embedder import Vector, normalise
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

# Ranking of QueryVectors: by distance, by words, and both fused.

_VECTOR_KEYS = {CHUNK_ID, BEDROCK_TEXT, BEDROCK_METADATA}  # other keys are a document's


@dataclass(frozen=True, kw_only=True)
class CheckedQuery:
    """A checked query by vector, texts, or both."""

    index: Index
    vector: Vector | None
    texts: Sequence[tuple[TextSearch, str]]
    condition: metadata_filters.VectorFilter | None
    top_k: int

    @property
    def is_hybrid(self) -> bool:
        return self.vector is not None and bool(self.texts)


@dataclass(kw_only=True)
class RankedRow:
    """A row of `vectors`; `distance` is None if the vector search did not find it."""

    row: int
    distance: float | None = None
    bm25: dict[str, float] = field(default_factory=dict)
    fused: float = 0.0


def rows_of(store: Store, numbers: Sequence[int]) -> dict[int, Row]:
    """Return the rows that still exist, by id."""
    rows = store.rows(
        "SELECT * FROM vectors WHERE id IN (SELECT value FROM json_each(?))", dumped(numbers)
    )
    return {row["id"]: row for row in rows}


def metadata_in(row: Row, own_keys: OwnKeys) -> dict[str, Any]:
    owner = (row["data_source_id"], row["identifier"])
    return metadata_of(
        row["key"], owner, row["text"], row["attributes"], parent=row["parent"], own_keys=own_keys
    )


def _distances(query: CheckedQuery, candidates: Visible) -> NDArray[np.float32]:
    if query.vector is None or query.index.metric == "cosine":
        return 1 - candidates.cosines
    length = np.float32(np.linalg.norm(query.vector))
    squares = candidates.lengths**2 + length**2
    products = 2 * length * candidates.lengths * candidates.cosines
    distances: NDArray[np.float32] = np.sqrt(np.maximum(0, squares - products))
    return distances


def _nearest(
    rows: NDArray[np.int64], distances: NDArray[np.float32], limit: int
) -> list[tuple[int, float]]:
    best = np.lexsort((rows, distances))[:limit]
    return [(int(rows[at]), float(distances[at])) for at in best]


# Vectors in requests and responses; they are stored without trailing zeros.


def read_vector(data: Any, index: Index) -> Vector:
    """Return a request's vector. Raises ValidationException if it doesn't suit the index."""
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
    """Return a stored vector in the form of responses."""
    vector = np.frombuffer(kept, dtype=np.float32)
    return {"float32": np.pad(vector, (0, index.dimension - len(vector))).tolist()}


_VISIBLE = "visible_from <= ? AND (visible_until IS NULL OR visible_until > ?)"


@dataclass(frozen=True, kw_only=True)
class VectorItems:
    store: Store
    clock: Clock
    indexes: VectorIndexes
    memory: MemoryIndexes
    own_keys: OwnKeys

    def put(self, parameters: Parameters) -> Parameters:
        """Store all vectors or none; a vector with a known key replaces that one."""
        index = index_in(self.indexes.row(parameters))
        # The last vector with a key is stored.
        vectors = {each["key"]: each for each in parameters["vectors"]}
        rows = [self._row(each, index) for each in vectors.values()]
        with self.store.transaction():
            self._remove(index, list(vectors))
            for row in rows:
                self._insert(index, row)
        return {}

    def get(self, parameters: Parameters) -> Parameters:
        """Return the existing vectors in the order of the request."""
        index = index_in(self.indexes.row(parameters))
        found = {row["key"]: row for row in self._visible_rows(index, parameters["keys"])}
        keys = [key for key in dict.fromkeys(parameters["keys"]) if key in found]
        return {"vectors": [self._response_item(found[key], index, parameters) for key in keys]}

    def list(self, parameters: Parameters) -> Parameters:
        """List vectors by key."""
        index = index_in(self.indexes.row(parameters))
        if parameters.get("segmentCount") is not None:
            raise rules.NOT_SIMULATED.broken(what="segmentCount of ListVectors")
        most = parameters.get("maxResults") or rules.LIST_PAGE.limit
        rows = self._rows_after(index, position(parameters.get("nextToken")), most + 1)
        more = {"nextToken": token_of(rows[most - 1]["key"])} if len(rows) > most else {}
        listed = [self._response_item(row, index, parameters) for row in rows[:most]]
        return {"vectors": listed, **more}

    def delete(self, parameters: Parameters) -> Parameters:
        """Delete vectors, whoever wrote them; an unknown key is no error."""
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
        for row in self._visible_rows(index, keys):
            self.store.write("DELETE FROM vectors WHERE id = ?", row["id"])
            if memory is not None:
                memory.expire_row(row["id"])

    def _visible_rows(self, index: Index, keys: Sequence[str]) -> Sequence[Row]:
        now = self.clock.after(0)
        return self.store.rows(
            "SELECT * FROM vectors WHERE index_arn = ?"  # noqa: S608 - a constant
            f" AND key IN (SELECT value FROM json_each(?)) AND {_VISIBLE}",
            index.arn,
            dumped(keys),
            now,
            now,
        )

    def _rows_after(self, index: Index, key: str, limit: int) -> Sequence[Row]:
        now = self.clock.after(0)
        return self.store.rows(
            f"SELECT * FROM vectors WHERE index_arn = ? AND key > ? AND {_VISIBLE}"  # noqa: S608 - a constant
            " ORDER BY key LIMIT ?",
            index.arn,
            key,
            now,
            now,
            limit,
        )

    def _response_item(self, row: Row, index: Index, parameters: Parameters) -> dict[str, Any]:
        shown: dict[str, Any] = {"key": row["key"]}
        if parameters.get("returnData"):
            shown["data"] = shown_vector(row["vector"], index)
        if parameters.get("returnMetadata"):
            shown["metadata"] = metadata_in(row, self.own_keys)
        return shown


# S3 Vectors' QueryVectors: by a vector, by texts, or by both.


@dataclass(frozen=True, kw_only=True)
class VectorQueries:
    store: Store
    clock: Clock
    indexes: VectorIndexes
    searches: TextSearches
    memory: MemoryIndexes
    own_keys: OwnKeys

    def query(self, parameters: Parameters) -> Parameters:
        query = self._query(parameters)
        start = start_of(parameters, clock=self.clock)
        ranked = self._rank(query, self.memory.of(query.index.arn))
        end = start + rules.QUERY_PAGE.limit
        shown = ranked[start:end]
        rows = rows_of(self.store, [found.row for found in shown])
        answers = [
            self._response_item(found, rows[found.row], query, parameters)
            for found in shown
            if found.row in rows  # else it was deleted since
        ]
        more = {}
        if len(ranked) > end:
            token = token_for(parameters, end, clock=self.clock)
            more = {"nextToken": token}
        return {"vectors": answers, "distanceMetric": query.index.metric, **more}

    def _query(self, parameters: Parameters) -> CheckedQuery:
        """Return the checked query; raises ServiceError for an invalid one."""
        index = index_in(self.indexes.row(parameters))
        texts, vector = parameters.get("queryTexts") or [], parameters.get("queryVector")
        if not texts and vector is None:
            raise rules.QUERY_EMPTY.broken()
        if parameters["topK"] > rules.TOP_K.limit:
            raise rules.TOP_K.broken()
        if parameters.get("queryMode") == "CLASSIC":
            raise rules.NOT_SIMULATED.broken(what="queryMode CLASSIC")
        condition = parameters.get("filter")
        if condition is not None:
            metadata_filters.check_vector_filter(condition, index)
        return CheckedQuery(
            index=index,
            vector=None if vector is None else read_vector(vector, index),
            texts=self._texts(index, texts),
            condition=condition,
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

    def _rank(self, query: CheckedQuery, memory: MemoryIndex) -> list[RankedRow]:
        """Return the topK best rows, best first."""
        candidates = self._candidates(query, memory)
        distances = _distances(query, candidates)
        if not query.texts:
            return [
                RankedRow(row=row, distance=distance)
                for row, distance in _nearest(candidates.rows, distances, query.top_k)
            ]
        depth = (
            max(query.top_k, rules.FUSION_DEPTH.limit) if query.is_hybrid else len(candidates.rows)
        )
        found: dict[int, RankedRow] = {}
        if query.vector is not None:
            for rank, (row, distance) in enumerate(_nearest(candidates.rows, distances, depth), 1):
                found[row] = RankedRow(
                    row=row, distance=distance, fused=1 / (rules.FUSION.value + rank)
                )
        for search, text in query.texts:
            ranking = self.searches.ranked(search, text, candidates.rows, depth)
            for rank, (row, score) in enumerate(ranking, 1):
                hit = found.setdefault(row, RankedRow(row=row))
                hit.bm25[search.metadata_key] = score
                hit.fused += 1 / (rules.FUSION.value + rank)

        def order(hit: RankedRow) -> tuple[float, int]:
            return (-hit.fused if query.is_hybrid else -sum(hit.bm25.values()), hit.row)

        return sorted(found.values(), key=order)[: query.top_k]

    def _candidates(self, query: CheckedQuery, memory: MemoryIndex) -> Visible:
        """Return the vectors that pass the filter: rule query.filter-first."""
        unit = None if query.vector is None else normalise(query.vector)
        if query.condition is None:
            return memory.visible(unit, None)
        accepts = metadata_filters.compile_filter(query.condition)
        if metadata_filters.keys_of(query.condition) & _VECTOR_KEYS:
            return self._filter_candidates(memory.visible(unit, None), accepts)

        def accepted(owner: Owner, attributes: dict[str, Value]) -> bool:
            shown = self.own_keys.of(shown_owner(owner, attributes)) if owner[0] else {}
            return accepts({**attributes, **shown})

        return memory.visible(unit, accepted)

    def _filter_candidates(self, candidates: Visible, accepts: Callable[[Any], bool]) -> Visible:
        """Filter candidates by all metadata of each vector."""
        rows = rows_of(self.store, candidates.rows.tolist())
        kept = [number for number, row in rows.items() if accepts(metadata_in(row, self.own_keys))]
        at = np.isin(candidates.rows, kept)
        return Visible(
            rows=candidates.rows[at], lengths=candidates.lengths[at], cosines=candidates.cosines[at]
        )

    def _response_item(
        self, found: RankedRow, row: Row, query: CheckedQuery, parameters: Parameters
    ) -> dict[str, Any]:
        shown: dict[str, Any] = {"key": row["key"]}
        if parameters.get("returnDistance") and found.distance is not None:
            shown["distance"] = found.distance
        if parameters.get("returnScores") and query.texts:
            shown["scores"] = _scores(found, query)
        if parameters.get("returnMetadata"):
            shown["metadata"] = metadata_in(row, self.own_keys)
        return shown


def _scores(found: RankedRow, query: CheckedQuery) -> dict[str, Any]:
    """Return a result's scores: rule query.scores."""
    scores: dict[str, Any] = {
        "bm25Scores": [{"metadataKey": key, "score": score} for key, score in found.bm25.items()]
    }
    if query.is_hybrid:
        scores["fused"] = found.fused
        if found.distance is not None:
            scores["vectorDistance"] = found.distance
    return scores
