"""The k-NN plugin's query, answered exactly: rules knn.*."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bedrock_kb_simulator.opensearch.documents import Document
from bedrock_kb_simulator.opensearch.mappings import engine_of, space_of
from bedrock_kb_simulator.opensearch.refusals import refused
from bedrock_kb_simulator.rules import (
    KNN_DIMENSION,
    KNN_ENGINE_FILTER,
    KNN_FIELD,
    KNN_K,
    OPENSEARCH_KEY,
    OPENSEARCH_MALFORMED,
)

Floats = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Asked:
    field: str
    vector: Floats
    k: int
    filter: Any
    space: str


def asked(field: str, about: Any, mapping: Mapping[str, Any] | None) -> Asked:
    """Raises Refused for a query that the plugin refuses."""
    if not isinstance(about, dict):
        raise refused(OPENSEARCH_MALFORMED, query="knn")
    for key in about.keys() - {"vector", "k", "filter"}:
        raise refused(OPENSEARCH_KEY, query="knn", key=key)
    if mapping is None or mapping.get("type") != "knn_vector":
        raise refused(KNN_FIELD, field=field)
    k, vector = about.get("k"), about.get("vector")
    if not isinstance(k, int) or not 0 < k <= KNN_K.limit:
        raise refused(KNN_K)
    if not isinstance(vector, list) or not all(isinstance(each, int | float) for each in vector):
        raise refused(OPENSEARCH_MALFORMED, query="knn")
    if len(vector) != mapping["dimension"]:
        raise refused(KNN_DIMENSION, given=len(vector), right=mapping["dimension"])
    if "filter" in about and engine_of(mapping) == "nmslib":
        raise refused(KNN_ENGINE_FILTER)
    return Asked(
        field=field,
        vector=np.asarray(vector, dtype=np.float32),
        k=k,
        filter=about.get("filter"),
        space=space_of(mapping),
    )


def nearest(query: Asked, documents: Sequence[Document]) -> dict[str, float]:
    """The scores of the k best."""
    held = [each for each in documents if query.field in each.vectors]
    if not held:
        return {}
    vectors = np.stack([each.vectors[query.field] for each in held])
    scores = _SCORES[query.space](vectors, query.vector)
    best = np.argsort(-scores, kind="stable")[: query.k]
    return {held[at].id: float(scores[at]) for at in best}


def _cosinesimil(vectors: Floats, vector: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(vector)
    cosines = np.divide(vectors @ vector, lengths, out=np.zeros(len(vectors)), where=lengths > 0)
    return np.asarray((1 + cosines) / 2)


def _l2(vectors: Floats, vector: Floats) -> Floats:
    return np.asarray(1 / (1 + np.square(vectors - vector).sum(axis=1)))


def _innerproduct(vectors: Floats, vector: Floats) -> Floats:
    products = vectors @ vector
    return np.where(products >= 0, 1 + products, 1 / (1 - np.minimum(products, 0)))


# Rule knn.scores.
_SCORES: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "cosinesimil": _cosinesimil,
    "innerproduct": _innerproduct,
    "l2": _l2,
}
