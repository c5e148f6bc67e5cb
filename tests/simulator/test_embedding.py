"""Embeddings are near for what means the same, and the matrix in memory finds what is near."""

import numpy as np
import pytest

from stackroom_local.simulator.embedding import WIDTH, MiniLM, resized
from stackroom_local.simulator.memory_index import Entry, MemoryIndex

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


def test_resizing_pads_with_zeros_or_cuts_to_length_one() -> None:
    vector = MiniLM().embed("a sentence")

    wide, narrow = resized(vector, 1024), resized(vector, 256)

    assert vector.shape == (WIDTH,)
    assert np.array_equal(wide[:WIDTH], vector)
    assert not wide[WIDTH:].any()
    assert all(abs(float(np.linalg.norm(each)) - 1) < 1e-5 for each in (vector, narrow))


@pytest.mark.parametrize("accepted", [3, 40])
def test_the_nearest_of_the_accepted_documents_are_found(accepted: int) -> None:
    vectors = _unit_vectors(400)
    index = MemoryIndex()
    index.add(
        Entry(row=row, owner=("source", str(row // 10)), vector=vector, visible_from=0)
        for row, vector in enumerate(vectors)
    )

    found = index.nearest(vectors[7], 5, lambda owner, _: int(owner[1]) < accepted)

    cosines = vectors[: accepted * 10] @ vectors[7]
    assert [row for row, _ in found] == np.argsort(-cosines)[:5].tolist()


def test_what_expired_is_not_found_and_what_came_after_it_is() -> None:
    vectors = _unit_vectors(300)
    index = MemoryIndex()
    old, new = ("source", "old"), ("source", "new")
    index.add(Entry(row=row, owner=old, vector=vectors[row], visible_from=0) for row in range(299))
    index.expire(old, 0)
    index.add([Entry(row=299, owner=new, vector=vectors[299], visible_from=0)])

    found = index.nearest(vectors[0], 5, lambda owner, attributes: True)

    assert [row for row, _ in found] == [299]


def _unit_vectors(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    vectors = np.random.default_rng(0).normal(size=(count, WIDTH)).astype(np.float32)
    unit: np.ndarray[tuple[int, int], np.dtype[np.float32]] = vectors / np.linalg.norm(
        vectors, axis=1, keepdims=True
    )
    return unit
