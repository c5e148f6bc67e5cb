"""The bar that is found from the scores, and how sure it is."""

import math
from typing import Any

import pytest

from stackroom.search.calibrations import Calibration
from stackroom.search.ranking import Weighed
from stackroom_evaluation.least_score import BarLimits, bar_of, calibrated, limit_of, sure
from stackroom_evaluation.question_file import EvaluationError, KnownQuestion
from tests.evaluation.answering import answer, passage


@pytest.mark.parametrize("best", [0.3, 0.5])
@pytest.mark.parametrize("by_words", [None, 0.2, 0.3])
@pytest.mark.parametrize("bar", [0.0, 0.25, 0.31, 0.45, 0.52, 0.6])
def test_a_limit_is_what_the_product_holds_the_question_to(
    best: float, by_words: float | None, bar: float
) -> None:
    weighed = Weighed(passages=(), best=best, best_by_words=by_words)

    is_answered = Calibration.of(bar).is_answered(best, list(Calibration.of(0).least))
    is_answered |= Calibration.of(bar).is_answered(
        best, list(Calibration.of(0).least), by_words=by_words
    )
    assert (limit_of(weighed) >= bar) is is_answered


def test_words_may_speak_at_any_bar_and_without_passages_nothing_does() -> None:
    assert limit_of(Weighed(passages=(), best=0.1, has_most_words=True)) == math.inf
    assert limit_of(Weighed(passages=(), best=None)) == -math.inf


def test_the_bar_refuses_what_it_can_at_the_loss_that_is_allowed() -> None:
    answerable = [0.2, *[0.5 + each / 100 for each in range(39)]]  # one in forty may be lost
    limits = BarLimits(answerable=answerable, unanswerable=[0.1, 0.3, 0.4, 0.7])

    found = bar_of(limits)

    assert found.least == pytest.approx(0.45)
    assert (found.lost, found.refused) == (1, 3)
    assert found.low <= found.least <= found.high


def test_a_question_for_which_nothing_was_found_is_refused_at_any_bar() -> None:
    limits = BarLimits(answerable=[0.5, 0.6], unanswerable=[-math.inf, 0.3])

    assert (limits.best, limits.refused(limits.best)) == (0.4, 2)


def test_no_bar_is_found_where_none_is_good() -> None:
    limits = BarLimits(answerable=[0.2, 0.3, 0.4], unanswerable=[0.5, math.inf])

    assert (limits.best, limits.refused(limits.best)) == (0.0, 0)


def test_a_share_of_a_few_is_hardly_sure() -> None:
    low, high = sure(8, 8)
    assert (round(low, 2), high) == (0.68, 1.0)
    low, high = sure(0, 32)
    assert (low, round(high, 2)) == (0.0, 0.11)


QUESTIONS = [
    *[KnownQuestion(question=f"known {each}?", file="a.md") for each in range(5)],
    *[KnownQuestion(question=f"unknown {each}?", nothing=True) for each in range(5)],
]


def test_questions_are_asked_without_any_bar() -> None:
    asked: list[dict[str, Any]] = []

    def retrieve(arguments: dict[str, Any]) -> dict[str, Any]:
        asked.append(arguments)
        is_known = arguments["query"].startswith("known")
        return answer(passage("other words", "a.md", score=0.6 if is_known else 0.2))

    found = calibrated(QUESTIONS, retrieve, {"min_score": 0.5, "filter": {"year": 1}})

    assert (found.least, found.refused, found.lost) == (0.4, 5, 0)
    assert {(each["min_score"], each["top_k"]) for each in asked} == {(0, 20)}
    assert asked[0]["filter"] == {"year": 1}


def test_too_few_questions_and_a_models_scores_have_no_bar() -> None:
    with pytest.raises(EvaluationError, match="there are 5 and 4"):
        calibrated(QUESTIONS[:-1], lambda _: answer(), {})
    with pytest.raises(EvaluationError, match="a reranking model's scores"):
        calibrated(QUESTIONS, lambda _: answer(search="hybrid+rerank"), {})
