"""S3 Vectors' QueryVectors: by a vector, by texts, or by both."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator import vector_data, vector_filters
from bedrock_kb_simulator.clock import Clock
from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.identifiers import start_of, token_for
from bedrock_kb_simulator.indexes import Index, index_in
from bedrock_kb_simulator.memory_indexes import MemoryIndexes
from bedrock_kb_simulator.metadata import OwnKeys
from bedrock_kb_simulator.rules import (
    QUERY_CLASSIC,
    QUERY_EMPTY,
    QUERY_PAGE,
    QUERY_TEXT_BUILDING,
    QUERY_TEXT_CLASSIC,
    QUERY_TEXT_KEY,
    QUERY_TEXT_TWICE,
    QUERY_TOKEN,
    TOP_K,
)
from bedrock_kb_simulator.store import Row, Store
from bedrock_kb_simulator.text_search import TextSearch, TextSearches
from bedrock_kb_simulator.vector_indexes import VectorIndexes
from bedrock_kb_simulator.vector_ranking import Asked, Found, Ranking, metadata_in, rows_of


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
        start = start_of(parameters, clock=self.clock, rule=QUERY_TOKEN)
        ranking = Ranking(store=self.store, searches=self.searches, own=self.own)
        ranked = ranking.ranked(asked, self.memory.of(asked.index.arn))
        end = start + QUERY_PAGE.limit
        shown = ranked[start:end]
        rows = rows_of(self.store, [found.row for found in shown])
        answers = [
            self._shown(found, rows[found.row], asked, parameters)
            for found in shown
            if found.row in rows  # else it was deleted since
        ]
        more = {}
        if len(ranked) > end:
            token = token_for(parameters, end, clock=self.clock, rule=QUERY_TOKEN)
            more = {"nextToken": token}
        return {"vectors": answers, "distanceMetric": asked.index.metric, **more}

    def _asked(self, parameters: Parameters) -> Asked:
        """Raises ServiceError for what S3 Vectors refuses."""
        index = index_in(self.indexes.row(parameters))
        texts, vector = parameters.get("queryTexts") or [], parameters.get("queryVector")
        if not texts and vector is None:
            raise QUERY_EMPTY.broken()
        if parameters["topK"] > TOP_K.limit:
            raise TOP_K.broken()
        mode = parameters.get("queryMode")
        if mode == "CLASSIC" and index.is_enhanced:
            raise QUERY_CLASSIC.broken()
        if texts and not index.is_enhanced:
            raise QUERY_TEXT_CLASSIC.broken()
        enhanced = index.is_enhanced or mode == "ENHANCED"
        condition = parameters.get("filter")
        if condition is not None:
            vector_filters.check(condition, index, enhanced=enhanced)
        return Asked(
            index=index,
            vector=None if vector is None else vector_data.read(vector, index),
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
            raise QUERY_TEXT_TWICE.broken()
        for key in keys:
            if key not in searches:
                raise QUERY_TEXT_KEY.broken(key=key)
            if not searches[key].active:
                raise QUERY_TEXT_BUILDING.broken(key=key)
        return [(searches[each["metadataKey"]], each["text"]) for each in texts]

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
