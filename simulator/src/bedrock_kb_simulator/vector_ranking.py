"""How QueryVectors ranks: what may be found, by distance, by words, and both fused."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bedrock_kb_simulator import vector_filters
from bedrock_kb_simulator.embedding import Vector, normalised
from bedrock_kb_simulator.indexes import Index
from bedrock_kb_simulator.memory_index import MemoryIndex, Owner, Visible
from bedrock_kb_simulator.metadata import (
    BEDROCK_METADATA,
    BEDROCK_TEXT,
    CHUNK_ID,
    OwnKeys,
    metadata_of,
)
from bedrock_kb_simulator.objects import Value
from bedrock_kb_simulator.rules import CLASSIC_REACH, FUSION, FUSION_DEPTH
from bedrock_kb_simulator.store import Row, Store, dumped
from bedrock_kb_simulator.text_search import TextSearch, TextSearches

_OF_A_VECTOR = {CHUNK_ID, BEDROCK_TEXT, BEDROCK_METADATA}  # all else is a document's


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A checked query: of a vector, of texts, or of both."""

    index: Index
    vector: Vector | None
    texts: Sequence[tuple[TextSearch, str]]
    condition: vector_filters.Filter | None
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


@dataclass(frozen=True, kw_only=True)
class Ranking:
    store: Store
    searches: TextSearches
    own: OwnKeys

    def ranked(self, asked: Asked, memory: MemoryIndex) -> list[Found]:
        """The topK best, best first."""
        candidates = self._candidates(asked, memory)
        distances = _distances(asked, candidates)
        if not asked.texts:
            return [
                Found(row=row, distance=distance)
                for row, distance in _nearest(candidates.rows, distances, asked.top_k)
            ]
        depth = max(asked.top_k, FUSION_DEPTH.limit) if asked.is_hybrid else len(candidates.rows)
        found: dict[int, Found] = {}
        if asked.vector is not None:
            for rank, (row, distance) in enumerate(_nearest(candidates.rows, distances, depth), 1):
                found[row] = Found(row=row, distance=distance, fused=1 / (FUSION.value + rank))
        for search, text in asked.texts:
            ranking = self.searches.ranked(search, text, candidates.rows, depth)
            for rank, (row, score) in enumerate(ranking, 1):
                hit = found.setdefault(row, Found(row=row))
                hit.bm25[search.metadata_key] = score
                hit.fused += 1 / (FUSION.value + rank)
        order = _by_fusion if asked.is_hybrid else _by_words
        return sorted(found.values(), key=order)[: asked.top_k]

    def _candidates(self, asked: Asked, memory: MemoryIndex) -> Visible:
        """What the filter lets through: rule query.filter-first."""
        unit = None if asked.vector is None else normalised(asked.vector)
        if asked.condition is None:
            return memory.visible(unit, None)
        accepts = vector_filters.compiled(asked.condition)
        if not asked.enhanced:
            everything = memory.visible(unit, None)
            reach = int(CLASSIC_REACH.value * asked.top_k)
            near = np.lexsort((everything.rows, _distances(asked, everything)))[:reach]
            return self._accepted(_some(everything, near), accepts)
        if vector_filters.keys_of(asked.condition) & _OF_A_VECTOR:
            return self._accepted(memory.visible(unit, None), accepts)
        return memory.visible(unit, self._of_documents(accepts))

    def _accepted(self, candidates: Visible, accepts: Callable[[Any], bool]) -> Visible:
        """By all metadata of each vector."""
        rows = rows_of(self.store, candidates.rows.tolist())
        kept = {number for number, row in rows.items() if accepts(metadata_in(row, self.own))}
        return _some(
            candidates, np.flatnonzero(np.isin(candidates.rows, np.array(sorted(kept), dtype=int)))
        )

    def _of_documents(
        self, accepts: Callable[[Any], bool]
    ) -> Callable[[Owner, dict[str, Value]], bool]:
        def accepted(owner: Owner, attributes: dict[str, Value]) -> bool:
            return accepts({**attributes, **self.own.of(owner)} if owner[0] else attributes)

        return accepted


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


def _by_fusion(found: Found) -> tuple[float, int]:
    return (-found.fused, found.row)


def _by_words(found: Found) -> tuple[float, int]:
    return (-sum(found.bm25.values()), found.row)
