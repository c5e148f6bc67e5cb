"""Cosines of texts, by the embedding that the stand-ins have; computed here, not by a store."""

from functools import cache

import numpy as np

from bedrock_kb_simulator.embedder import MiniLM, Vector, resize

_MODEL = MiniLM()


def cosine(question: str, text: str, *, dimensions: int) -> float:
    return float(np.dot(vector(question, dimensions), vector(text, dimensions)))


@cache
def vector(text: str, dimensions: int) -> Vector:
    return resize(_MODEL.embed(text), dimensions)
