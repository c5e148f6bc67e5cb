"""
The least score that a passage may have to be shown: an operator's choice, found from the scores.

With one, what scores less is not shown, and many a question that nothing answers gets nothing. It
costs answers: the one that is found takes every right passage from at most 3 % of the questions.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stackroom_evaluation.evaluation import Retrieve, answered, passages_of
from stackroom_evaluation.judging import is_right
from stackroom_evaluation.question_file import EvaluationError, KnownQuestion

MOST_LOST = 0.03  # of the answerable
FEWEST = 5  # questions of each kind, below which the scores say nothing
# All that the tool shows, however far it is.
_ALL = {"min_score": 0, "top_k": 20, "max_tokens": 100_000}
_STEP = 10_000  # a least score has four decimals
_DEVIATIONS = 1.96  # of a normal distribution, for 95 %


@dataclass(frozen=True, kw_only=True)
class BestScores:
    """
    Of each answerable question, the best score of a right passage, if one was found; of each
    unanswerable one, the best score of any.
    """

    right: Sequence[float]
    unanswerable: Sequence[float]

    @property
    def least(self) -> float:
        """0 if none takes all from an unanswerable question at the loss that is allowed."""
        if not self.right:
            return 0.0
        highest = sorted(self.right)[math.floor(MOST_LOST * len(self.right))]
        below = [each for each in self.unanswerable if each < highest]
        # In the middle between two that were seen, so that both keep a distance.
        return math.floor(_STEP * (max(below) + highest) / 2) / _STEP if below else 0.0

    @property
    def lost(self) -> int:
        """Answerable questions that lose every right passage at the least score."""
        return sum(each < self.least for each in self.right)

    @property
    def emptied(self) -> int:
        """Unanswerable questions that get nothing at the least score."""
        return sum(each < self.least for each in self.unanswerable)


def calibrated(
    questions: Sequence[KnownQuestion],
    retrieve: Retrieve,
    options: Mapping[str, Any],
    told: Callable[[int], None] = lambda _count: None,
) -> BestScores:
    """
    Asks each question once more, without any least score.

    Raises EvaluationError if there are too few questions, or a reranking model has scored.
    """
    unanswerable = sum(each.nothing for each in questions)
    if min(unanswerable, len(questions) - unanswerable) < FEWEST:
        raise EvaluationError(
            f"a least score takes {FEWEST} questions with an answer and {FEWEST} without at the"
            " very least, and thirty of each to be worth something; there are"
            f" {len(questions) - unanswerable} and {unanswerable}"
        )
    scores: dict[bool, list[float]] = {True: [], False: []}
    for count, question in enumerate(questions, start=1):
        answer, _ = answered(question.question, retrieve, {**options, **_ALL})
        if "rerank" in answer["metadata"]["search"]:
            raise EvaluationError("a reranking model scores by itself: there is nothing to find")
        found = [
            each.score
            for each in passages_of(answer)
            if question.nothing or is_right(each, question.spots)
        ]
        if found or question.nothing:
            scores[question.nothing].append(max(found, default=0.0))
        told(count)
    return BestScores(right=scores[False], unanswerable=scores[True])


def sure(count: int, of: int) -> tuple[float, float]:
    """Between which shares the true one is with 95 %: Wilson's interval."""
    share, square = count / of, _DEVIATIONS**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = math.sqrt(share * (1 - share) / of + square / (4 * of**2))
    half *= _DEVIATIONS / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)
