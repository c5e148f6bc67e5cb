"""
OpenSearch's scores as cosines, by the space that an index compares its vectors in.

https://docs.opensearch.org/latest/mappings/supported-field-types/knn-spaces
"""

import math
from collections.abc import Callable, Mapping

from stackroom.errors import KnowledgeBaseUnavailable

_ROUNDING = 1e-3  # vectors are kept in 32 bits, and may be quantised


def _of_cosinesimil(score: float) -> float:
    """score = (2 - d) / 2, where d = 1 - cos."""
    return 2 * score - 1


def _of_l2(score: float) -> float:
    """score = 1 / (1 + d), where d, of vectors of length one, is 2 - 2 cos."""
    return 1 - (1 / score - 1) / 2


def _of_innerproduct(score: float) -> float:
    """score = 1 - d below zero, else 1 / (1 + d), where d = -x·y; of vectors of length one -cos."""
    return score - 1 if score > 1 else 1 - 1 / score


COSINES: Mapping[str, Callable[[float], float]] = {
    "cosinesimil": _of_cosinesimil,
    "innerproduct": _of_innerproduct,
    "l2": _of_l2,
}


def cosine(space: str, score: float) -> float:
    """
    From -1 to 1.

    Raises KnowledgeBaseUnavailable for a score that no two vectors of length one have there: then
    the index's are of other lengths, and their scores mean nothing here.
    """
    found = COSINES[space](score) if score > 0 or space == "cosinesimil" else math.inf
    if not abs(found) <= 1 + _ROUNDING:
        problem = f"a score of {score:.3g}, which no vectors of length one have in {space!r}"
        raise KnowledgeBaseUnavailable("Search", problem)
    return max(-1.0, min(1.0, found))


def shown(cosine: float) -> float:
    """From 0 to 1, whatever the space: what OpenSearch itself shows for cosinesimil."""
    return (1 + cosine) / 2
