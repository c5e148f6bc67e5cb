"""Vectors kept by model and text."""

from pathlib import Path

import numpy as np
import pytest

from bedrock_kb_simulator.embedder import WIDTH, Vector, normalised
from bedrock_kb_simulator.embedding_models import KEPT_VECTORS, embedder_of
from bedrock_kb_simulator.kept_vectors import KeptVectors


class Counting:
    """A model whose vectors say how it was asked."""

    def __init__(self, model: str = "counting") -> None:
        self.model = model
        self.asked: list[str] = []

    def embed(self, text: str) -> Vector:
        self.asked.append(text)
        return normalised(np.full(WIDTH, len(text), np.float32))

    def embed_question(self, text: str) -> Vector:
        return -self.embed(text)


def test_text_is_embedded_once_for_all_processes(tmp_path: Path) -> None:
    first, second = Counting(), Counting()
    made = KeptVectors(first, tmp_path / "folder" / "vectors.sqlite").embed("text")

    kept = KeptVectors(second, tmp_path / "folder" / "vectors.sqlite").embed("text")

    assert np.array_equal(made, kept)
    assert kept.dtype == np.float32
    assert (first.asked, second.asked) == (["text"], [])


def test_questions_and_other_models_have_vectors_of_their_own(tmp_path: Path) -> None:
    one, other = Counting(), Counting("other")
    kept = KeptVectors(one, tmp_path / "vectors.sqlite")
    passage, question = kept.embed("text"), kept.embed_question("text")

    KeptVectors(other, tmp_path / "vectors.sqlite").embed("text")

    assert np.array_equal(kept.embed_question("text"), question)
    assert np.array_equal(question, -passage)
    assert (one.asked, other.asked) == (["text", "text"], ["text"])


def test_vectors_are_kept_where_the_environment_names_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plain = embedder_of("minilm")
    monkeypatch.setenv(KEPT_VECTORS, str(tmp_path / "vectors.sqlite"))
    kept = embedder_of("minilm")

    assert np.array_equal(kept.embed("leave"), plain.embed("leave"))
    assert kept.model == plain.model
    assert (tmp_path / "vectors.sqlite").exists()
