"""Embeddings are near for what means the same, and as long as an index wants them."""

import numpy as np

from stackroom_local.simulator.embedding import WIDTH, MiniLM, resized

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
