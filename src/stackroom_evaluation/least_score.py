"""
The minimum score of passages: an operator's setting, derived from the scores of questions.

Passages below it are not shown, so that many unanswerable questions get nothing. It costs answers:
the derived score loses every right passage of at most 3 % of the questions.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stackroom_evaluation.evaluation import Retrieve, ask, passages_of
from stackroom_evaluation.judging import is_right
from stackroom_evaluation.question_file import EvaluationError, KnownQuestion

MOST_LOST = 0.03  # of the answerable questions
FEWEST = 5  # questions of each kind, below which the scores mean nothing
# All passages that the tool can show, however distant.
_ALL = {"min_score": 0, "top_k": 20, "max_tokens": 100_000}
_STEP = 10_000  # a minimum score has four decimals
_DEVIATIONS = 1.96  # of a normal distribution, for 95 %


@dataclass(frozen=True, kw_only=True)
class BestScores:
    """
    The best score of a right passage per answerable question, if one was found.

    For unanswerable questions, the best score of any passage.
    """

    right: Sequence[float]
    unanswerable: Sequence[float]

    @property
    def least(self) -> float:
        """The minimum score; 0 if none empties an unanswerable question at the allowed loss."""
        if not self.right:
            return 0.0
        highest = sorted(self.right)[math.floor(MOST_LOST * len(self.right))]
        below = [each for each in self.unanswerable if each < highest]
        # The middle between two observed scores, so that both keep a distance.
        return math.floor(_STEP * (max(below) + highest) / 2) / _STEP if below else 0.0

    @property
    def lost(self) -> int:
        """The answerable questions that lose every right passage at the minimum score."""
        return sum(each < self.least for each in self.right)

    @property
    def emptied(self) -> int:
        """The unanswerable questions that get nothing at the minimum score."""
        return sum(each < self.least for each in self.unanswerable)


def calibrate(
    questions: Sequence[KnownQuestion],
    retrieve: Retrieve,
    options: Mapping[str, Any],
    report_progress: Callable[[int], None] = lambda _count: None,
) -> BestScores:
    """
    Ask each question again, without a minimum score, and return the best scores.

    Raises EvaluationError if there are too few questions, or if a reranking model set the scores.
    """
    unanswerable = sum(each.nothing for each in questions)
    if min(unanswerable, len(questions) - unanswerable) < FEWEST:
        raise EvaluationError(
            f"a minimum score needs at least {FEWEST} questions with an answer and {FEWEST}"
            " without, and thirty of each to be reliable; there are"
            f" {len(questions) - unanswerable} and {unanswerable}"
        )
    scores: dict[bool, list[float]] = {True: [], False: []}
    for count, question in enumerate(questions, start=1):
        answer, _ = ask(question.question, retrieve, {**options, **_ALL})
        if "rerank" in answer["metadata"]["search"]:
            raise EvaluationError(
                "a reranking model sets the scores, so there is no minimum to find"
            )
        found = [
            each.score
            for each in passages_of(answer)
            if question.nothing or is_right(each, question.spots)
        ]
        if found or question.nothing:
            scores[question.nothing].append(max(found, default=0.0))
        report_progress(count)
    return BestScores(right=scores[False], unanswerable=scores[True])


def confidence_interval(count: int, of: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a share: Wilson's."""
    share, square = count / of, _DEVIATIONS**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = math.sqrt(share * (1 - share) / of + square / (4 * of**2))
    half *= _DEVIATIONS / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)
