"""
How well the evidence tells a question that the documents answer from one that they don't.

A question is refused when the best score is too low: of the unanswerable that is right, of the
answerable it is a loss, whether or not the right passage was found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from benchmarks.answers.given import CANDIDATES, Given, reply_of
from benchmarks.answers.questions import Question
from stackroom.documents.passages import Retrieved, Search
from stackroom.search.calibrations import Calibration
from stackroom.search.ranking import Weighed, weighed
from stackroom_evaluation.least_score import BarLimits, limit_of

STEPS = [round(0.02 * step, 2) for step in range(51)]


@dataclass(frozen=True, kw_only=True)
class Evidences:
    """Of each question, by a ranking that searched in this way."""

    search: Search
    answerable: Sequence[Weighed]
    unanswerable: Sequence[Weighed]

    def lost(self, calibration: Calibration) -> float:
        return self._refused(self.answerable, calibration)

    def refused(self, calibration: Calibration) -> float:
        return self._refused(self.unanswerable, calibration)

    @property
    def by_words(self) -> tuple[float, float]:
        """What of both is refused where nobody has measured the model: unanswerable, answerable."""
        unanswerable, answerable = (
            sum(each.words_below is not None and not each.has_most_words for each in those)
            / max(1, len(those))
            for those in (self.unanswerable, self.answerable)
        )
        return unanswerable, answerable

    def at(self, least: float) -> Calibration:
        return Calibration(least={self.search: least})

    @property
    def auc(self) -> float:
        """How often an answerable question has a higher score than another: 0.5 is chance."""
        pairs = list(product(map(_score, self.answerable), map(_score, self.unanswerable)))
        return sum(a > b or 0.5 * (a == b) for a, b in pairs) / len(pairs)

    @property
    def best(self) -> float:
        """The least score that refuses most of what it can at the loss that the aim allows."""
        return BarLimits(
            answerable=[*map(limit_of, self.answerable)],
            unanswerable=[*map(limit_of, self.unanswerable)],
        ).best

    def _refused(self, those: Sequence[Weighed], calibration: Calibration) -> float:
        refused = [
            not (
                each.has_most_words
                or calibration.is_answered(each.best, [self.search], by_words=each.best_by_words)
            )
            for each in those
        ]
        return sum(refused) / len(refused) if refused else 0.0


def evidences(given: Mapping[str, Given], asked: Sequence[Question]) -> Evidences:
    """Of a ranking, as the product weighs it."""
    search = next(each.search for each in given.values() if each.search is not None)
    weighing = {each.id: _weighed(each, given[each.id]) for each in asked}
    return Evidences(
        search=search,
        answerable=[weighing[each.id] for each in asked if not each.unanswerable],
        unanswerable=[weighing[each.id] for each in asked if each.unanswerable],
    )


def _weighed(question: Question, given: Given) -> Weighed:
    found = Retrieved(passages=given.passages, search=given.search or Search.SEMANTIC)
    return weighed(question.question, [reply_of(found)], limit=CANDIDATES)


def _score(each: Weighed) -> float:
    return each.best or 0.0
