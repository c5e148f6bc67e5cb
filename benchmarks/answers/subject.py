"""One set of the questions, and everything that was measured of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from benchmarks.answers.asking import Alone, Asked
from benchmarks.answers.judging import Pages
from benchmarks.answers.questions import Question
from benchmarks.answers.refusal import Evidences, evidences
from benchmarks.answers.ways import RANKINGS
from stackroom.search.calibrations import Calibration


@dataclass(frozen=True, kw_only=True)
class Subject:
    """One set of the questions, and what every way gave for them."""

    asked: Sequence[Question]
    answered: Asked
    pages: Mapping[str, Pages]
    calibration: Calibration
    alone: Mapping[str, Alone]  # by the id of an answerable question
    vectors: int
    default: str  # the way of the whole answers that is deployed

    @cached_property
    def evidences(self) -> Mapping[str, Evidences]:
        return {way: evidences(self.answered.given[way], self.asked) for way in RANKINGS}

    def ids(self, *, unanswerable: bool, kind: str | None = None) -> set[str]:
        return {
            each.id
            for each in self.asked
            if each.unanswerable is unanswerable and (kind is None or each.kind == kind)
        }

    def refused(self, way: str) -> set[str]:
        """The questions to which a whole answer says that the documents don't answer."""
        return {id_ for id_, each in self.answered.given[way].items() if each.is_refused}

    def p50(self, way: str) -> float:
        """Milliseconds."""
        return 1_000 * median(self.answered.seconds[way])
