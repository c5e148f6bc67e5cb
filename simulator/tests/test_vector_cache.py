"""The cache of vectors by model and text."""

from pathlib import Path

import numpy as np

from bedrock_kb_simulator.embedder import WIDTH, Vector, normalise
from bedrock_kb_simulator.vector_cache import VectorCache


class Counting:
    """A model whose vectors count its calls."""

    def __init__(self, model: str = "counting") -> None:
        self.model = model
        self.asked: list[str] = []

    def embed(self, text: str) -> Vector:
        self.asked.append(text)
        return normalise(np.full(WIDTH, len(text), np.float32))

    def embed_question(self, text: str) -> Vector:
        return -self.embed(text)


def test_text_is_embedded_once_for_all_processes_by_kind_and_model(tmp_path: Path) -> None:
    one, again, other = Counting(), Counting(), Counting("other")
    file = tmp_path / "folder" / "vectors.sqlite"
    made = VectorCache(one, file)
    passage, question = made.embed("text"), made.embed_question("text")

    kept = VectorCache(again, file)
    VectorCache(other, file).embed("text")

    assert np.array_equal(kept.embed("text"), passage)
    assert np.array_equal(kept.embed_question("text"), question)
    assert np.array_equal(question, -passage)
    assert (one.asked, again.asked, other.asked) == (["text", "text"], [], ["text"])
