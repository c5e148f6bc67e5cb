"""Embeddings are near for what means the same, however long it is."""

import numpy as np

from stackroom_local.simulator.embedding import MiniLM

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
