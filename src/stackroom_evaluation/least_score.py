"""
The bar: the least score that the best passage must have, or else nothing found is an answer.

Of each question is known up to which bar it is answered, by the product's own rule. The best bar
refuses the most unanswerable questions while few answerable ones are lost. What it does to other
questions than these is only so sure as there are many.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from stackroom.documents.passages import Passage, Search
from stackroom.search.calibrations import NEAR
from stackroom.search.fan_out import Reply
from stackroom.search.ranking import Weighed, weighed
from stackroom_evaluation.evaluation import Retrieve, answered, passages_of
from stackroom_evaluation.question_file import EvaluationError, KnownQuestion

MOST_LOST = 0.03  # of the answerable
FEWEST = 5  # questions of each kind, below which a bar says nothing
# All that the tool shows, however far it is.
_ALL = {"min_score": 0, "top_k": 20, "max_tokens": 100_000}
_SAMPLES, _SEED = 1_000, 1
_STEP = 10_000  # a bar has four decimals
_DEVIATIONS = 1.96  # of a normal distribution, for 95 %


@dataclass(frozen=True, kw_only=True)
class BarLimits:
    """Of each question, the highest bar at which it is still answered."""

    answerable: Sequence[float]
    unanswerable: Sequence[float]

    def lost(self, bar: float) -> int:
        return bisect_left(self._in_order[0], bar)

    def refused(self, bar: float) -> int:
        return bisect_left(self._in_order[1], bar)

    @cached_property
    def _in_order(self) -> tuple[list[float], list[float]]:
        return sorted(self.answerable), sorted(self.unanswerable)

    @property
    def best(self) -> float:
        """Between two limits that were seen, so that both keep a distance; 0 if none is good."""
        seen = sorted(set(filter(math.isfinite, (*self.answerable, *self.unanswerable))))
        most = MOST_LOST * len(self.answerable)
        between = ((one + other) / 2 for one, other in pairwise([0.0, *seen]))
        bars = [0.0, *(math.floor(_STEP * bar) / _STEP for bar in between)]
        allowed = [bar for bar in bars if self.lost(bar) <= most]
        return max(allowed, key=lambda bar: (self.refused(bar), -bar), default=0.0)


@dataclass(frozen=True, kw_only=True)
class FoundBar:
    """With 95 %, the bar of other such questions is from `low` to `high`."""

    least: float
    low: float
    high: float
    limits: BarLimits

    @property
    def lost(self) -> int:
        return self.limits.lost(self.least)

    @property
    def refused(self) -> int:
        return self.limits.refused(self.least)


def limit_of(found: Weighed) -> float:
    """As `Calibration.is_answered` has it; without any passage, there is no answer at any bar."""
    if found.best is None:
        return -math.inf
    if found.has_most_words:
        return math.inf
    return max(found.best, (found.best_by_words or 0.0) / NEAR)


def calibrated(
    questions: Sequence[KnownQuestion],
    retrieve: Retrieve,
    options: Mapping[str, Any],
    told: Callable[[int], None] = lambda _count: None,
) -> FoundBar:
    """
    Asks each question once more, without any bar. Words are weighed by the passages that the tool
    shows, which are fewer than those that the search weighs them by: what the bar does is only
    known when the questions are asked under it.

    Raises EvaluationError if there are too few questions, or a reranking model has scored.
    """
    unanswerable = sum(each.nothing for each in questions)
    if min(unanswerable, len(questions) - unanswerable) < FEWEST:
        raise EvaluationError(
            f"a bar takes {FEWEST} questions with an answer and {FEWEST} without at the very least,"
            f" and thirty of each to be worth something; there are {len(questions) - unanswerable}"
            f" and {unanswerable}"
        )
    found: dict[bool, list[float]] = {True: [], False: []}
    for count, question in enumerate(questions, start=1):
        answer, _ = answered(question.question, retrieve, {**options, **_ALL})
        if "rerank" in answer["metadata"]["search"]:
            raise EvaluationError("a reranking model's scores have no bar: it tells by itself")
        found[question.nothing].append(limit_of(_weighed(question.question, answer)))
        told(count)
    return bar_of(BarLimits(answerable=found[False], unanswerable=found[True]))


def bar_of(limits: BarLimits) -> FoundBar:
    random = np.random.default_rng(_SEED)
    bars = [
        BarLimits(
            answerable=random.choice(limits.answerable, len(limits.answerable)).tolist(),
            unanswerable=random.choice(limits.unanswerable, len(limits.unanswerable)).tolist(),
        ).best
        for _ in range(_SAMPLES)
    ]
    low, high = np.percentile(bars, [2.5, 97.5])
    return FoundBar(least=limits.best, low=float(low), high=float(high), limits=limits)


def sure(count: int, of: int) -> tuple[float, float]:
    """Between which shares the true one is with 95 %: Wilson's interval."""
    share, square = count / of, _DEVIATIONS**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = math.sqrt(share * (1 - share) / of + square / (4 * of**2))
    half *= _DEVIATIONS / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def _weighed(question: str, answer: Mapping[str, Any]) -> Weighed:
    """The scores are final: the product has taken off what is missing already."""
    shown = tuple(Passage(text=each.text, score=each.score) for each in passages_of(answer))
    reply = Reply(
        target="",
        passages=shown,
        withheld=(),
        guardrail_action="NONE",
        search=Search.SEMANTIC,
        is_reranked=False,
        notice=None,
    )
    return weighed(question, [reply], limit=len(shown) + 1)
