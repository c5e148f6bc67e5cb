"""
How well the evidence tells a question that the documents answer from one that they don't.

A question is refused when the best passage's evidence is below a threshold: of the unanswerable
that is right, of the answerable it is a loss, whether or not the right passage was found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

from benchmarks.answers.questions import Question
from benchmarks.answers.ways import Given
from stackroom.ports.retrieval import Search
from stackroom.retrieval.asking import Reply
from stackroom.retrieval.evidence import Calibration, weighed

STEPS = [round(0.02 * step, 2) for step in range(51)]
MOST_LOST = 0.03  # the aim
SHARES = [round(0.1 * step, 1) for step in range(11)]


@dataclass(frozen=True, kw_only=True)
class Evidences:
    """The best evidence of each question, 0 where nothing was found."""

    answerable: Sequence[float]
    unanswerable: Sequence[float]

    def lost(self, least: float) -> float:
        return _below(self.answerable, least)

    def refused(self, least: float) -> float:
        return _below(self.unanswerable, least)

    @property
    def auc(self) -> float:
        """
        How often an answerable question has more evidence than an unanswerable one: 0.5 is chance.
        """
        pairs = list(product(self.answerable, self.unanswerable))
        return sum(one > other or 0.5 * (one == other) for one, other in pairs) / len(pairs)

    def best(self) -> float:
        """The threshold that refuses most at the loss that the aim allows."""
        values = sorted({0.0, *self.answerable, *self.unanswerable})
        # Between two values that were seen, so that both keep a distance.
        between = [(one + other) / 2 for one, other in pairwise(values)]
        allowed = [each for each in (0.0, *between) if self.lost(each) <= MOST_LOST]
        most = max(self.refused(each) for each in allowed)
        return min(each for each in allowed if self.refused(each) == most)


def evidences(
    given: Mapping[str, Given], asked: Sequence[Question], calibration: Calibration
) -> Evidences:
    """Of a ranking, as the product weighs it."""
    best = {each.id: evidence_of(each, given[each.id], calibration) for each in asked}
    return Evidences(
        answerable=[best[each.id] for each in asked if not each.unanswerable],
        unanswerable=[best[each.id] for each in asked if each.unanswerable],
    )


def evidence_of(question: Question, given: Given, calibration: Calibration) -> float:
    reply = Reply(
        target="",
        passages=given.passages,
        withheld=(),
        guardrail_action="NONE",
        search=given.search or Search.SEMANTIC,
        is_reranked=False,
        notice=None,
    )
    return weighed(question.question, [reply], calibration).best or 0.0


def by_share(
    given: Mapping[str, Given], asked: Sequence[Question], calibration: Calibration
) -> dict[float, Evidences]:
    """What other shares of meaning and words in the evidence would give: for tuning only."""
    return {share: evidences(given, asked, replace(calibration, meaning=share)) for share in SHARES}


def _below(values: Sequence[float], least: float) -> float:
    return sum(value < least for value in values) / len(values) if values else 0.0
