"""A vector as requests and answers carry it, and as it is kept: without the zeros at its end."""

from typing import Any

import numpy as np

from bedrock_kb_simulator.embedding import Vector
from bedrock_kb_simulator.indexes import Index
from bedrock_kb_simulator.rules import VECTOR_DIMENSION, VECTOR_VALUES, VECTOR_ZERO


def read(data: Any, index: Index) -> Vector:
    """Of a request's `VectorData`. Raises ValidationException for what the index can't take."""
    values = (data or {}).get("float32") or []
    if len(values) != index.dimension:
        raise VECTOR_DIMENSION.broken(given=len(values), dimension=index.dimension)
    with np.errstate(over="ignore"):  # too large a number becomes infinite, which is refused
        vector = np.array(values, dtype=np.float64).astype(np.float32)
    if not np.isfinite(vector).all():
        raise VECTOR_VALUES.broken()
    if index.metric == "cosine" and not vector.any():
        raise VECTOR_ZERO.broken()
    return np.trim_zeros(vector, "b")


def shown(kept: bytes, index: Index) -> dict[str, list[float]]:
    """As an answer has it."""
    vector = np.frombuffer(kept, dtype=np.float32)
    return {"float32": np.pad(vector, (0, index.dimension - len(vector))).tolist()}
