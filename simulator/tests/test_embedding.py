"""Embeddings are near for what means the same, and the matrix in memory finds what is near."""

import numpy as np
import pytest

from bedrock_kb_simulator.embedder import WIDTH, MiniLM
from bedrock_kb_simulator.memory_indexes import Entry, MemoryIndex

PARAPHRASES = [
    ("How many days off do I get?", "Employees have 27 days of paid annual leave."),
    ("When can I visit the doctor?", "The surgery sees patients from nine to noon."),
    ("My laptop is broken, who helps?", "The IT desk repairs computers on the second floor."),
    ("Is there something to eat here?", "The canteen serves lunch at half past eleven."),
    ("How do I get my money back?", "Travel expenses are reimbursed within two weeks."),
    ("Where do I leave my car?", "There are parking spaces behind the main building."),
]


def test_a_paraphrase_is_nearer_than_anything_else() -> None:
    embedder = MiniLM()
    questions = np.array([embedder.embed(question) for question, _ in PARAPHRASES])
    answers = np.array([embedder.embed(answer) for _, answer in PARAPHRASES])

    nearest = (questions @ answers.T).argmax(axis=1)

    assert nearest.tolist() == list(range(len(PARAPHRASES)))


def test_the_tail_of_a_long_text_counts() -> None:
    embedder = MiniLM()
    filler = "The committee met and discussed the agenda of the day. " * 40
    tail = "Volcanoes erupt with lava and ash. " * 12

    with_tail = float(embedder.embed(filler + tail) @ embedder.embed("volcano eruption"))
    without = float(embedder.embed(filler) @ embedder.embed("volcano eruption"))

    assert with_tail > without + 0.1


@pytest.mark.parametrize("accepted", [3, 20])
def test_the_nearest_of_the_accepted_documents_are_found(accepted: int) -> None:
    vectors = _unit_vectors(400)
    index = MemoryIndex()
    index.add(
        Entry(row=row, owner=("source", str(row // 10)), vector=vector, visible_from=0)
        for row, vector in enumerate(vectors)
    )

    found = index.nearest(vectors[7], 5, lambda owner, _: int(owner[1]) >= 40 - accepted)

    first = 400 - accepted * 10
    cosines = vectors[first:] @ vectors[7]
    assert [row for row, _ in found] == (np.argsort(-cosines)[:5] + first).tolist()


def _unit_vectors(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    vectors = np.random.default_rng(0).normal(size=(count, WIDTH)).astype(np.float32)
    unit: np.ndarray[tuple[int, int], np.dtype[np.float32]] = vectors / np.linalg.norm(
        vectors, axis=1, keepdims=True
    )
    return unit
