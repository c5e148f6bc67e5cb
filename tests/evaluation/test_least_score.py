"""Tests of the calibration of a least score, and of its confidence interval."""

from typing import Any

import pytest

from stackroom_evaluation.least_score import BestScores, calibrate
from stackroom_evaluation.question_file import EvaluationError, KnownQuestion
from tests.evaluation.answering import answer, passage


def test_least_score_empties_what_it_can_at_the_allowed_loss() -> None:
    right = [0.2, *[0.5 + each / 100 for each in range(39)]]  # one in forty may be lost

    found = BestScores(right=right, unanswerable=[0.1, 0.3, 0.4, 0.7])

    assert found.least == pytest.approx(0.45)
    assert (found.lost, found.emptied) == (1, 3)


QUESTIONS = [
    *[KnownQuestion(question=f"known {each}?", file="a.md") for each in range(5)],
    *[KnownQuestion(question=f"unknown {each}?", nothing=True) for each in range(5)],
]


def test_questions_are_asked_without_a_least_score() -> None:
    asked: list[dict[str, Any]] = []

    def retrieve(arguments: dict[str, Any]) -> dict[str, Any]:
        asked.append(arguments)
        if arguments["query"] == "known 4?":  # an answer that was not found can not be lost
            return answer(passage("other words", "b.md", score=0.1))
        if arguments["query"] == "unknown 4?":
            return answer()
        is_known = arguments["query"].startswith("known")
        wrong = passage("other words", "b.md", score=0.9 if is_known else 0.2)
        return answer(wrong, passage("words", "a.md", score=0.6 if is_known else 0.1))

    found = calibrate(QUESTIONS, retrieve, {"min_score": 0.5, "filter": {"year": 1}})

    assert (found.least, found.emptied, found.lost, len(found.right)) == (0.4, 5, 0, 4)
    assert {(each["min_score"], each["top_k"]) for each in asked} == {(0, 20)}
    assert asked[0]["filter"] == {"year": 1}


def test_too_few_questions_or_reranked_scores_have_no_least_score() -> None:
    with pytest.raises(EvaluationError, match="there are 5 and 4"):
        calibrate(QUESTIONS[:-1], lambda _: answer(), {})
    with pytest.raises(EvaluationError, match="a reranking model sets the scores"):
        calibrate(QUESTIONS, lambda _: answer(search="hybrid+rerank"), {})
