"""
How high the best score must be for anything to be an answer, by embedding model and language.

Each bar was chosen on questions whose answers are known, to lose few of those that can be answered:
`make bench-answers`, docs/answers.md.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from stackroom.documents.passages import Search

# Of the bar. Measured: with less, fewer of the unanswerable are refused [docs/answers.md].
NEAR = 0.55


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """
    `least` is by the way it was searched; a way that isn't named holds nothing back. What scores
    more than half of it is near.

    `is_by_words` is for a model that nobody has measured: a question is held to what the passages
    nearest in meaning have of its words.
    """

    least: Mapping[Search, float] = field(default_factory=dict)
    is_by_words: bool = False

    @classmethod
    def of(cls, least: float) -> Self:
        """The same for every way."""
        return cls(least=dict.fromkeys(Search, least))

    def is_answered(
        self, best: float | None, searches: Iterable[Search], *, by_words: float | None = None
    ) -> bool:
        """
        Held to the lowest bar of those ways; without a `best`, nothing was found to be far.

        `by_words` is the best score of what has the question's words: that need only be near.
        """
        bar = self._bar(searches)
        return best is None or best >= bar or (by_words is not None and by_words >= NEAR * bar)

    def is_near(self, best: float, searches: Iterable[Search]) -> bool:
        return best >= NEAR * self._bar(searches)

    def _bar(self, searches: Iterable[Search]) -> float:
        return min((self.least.get(each, 0.0) for each in searches), default=0.0)


UNCALIBRATED = Calibration()

CALIBRATIONS: Mapping[str, Calibration] = {
    "none": UNCALIBRATED,
    # The model that stands in for Titan on a laptop. A store without similarities has no bar.
    "minilm-english": Calibration(least={Search.HYBRID: 0.44, Search.RANKED: 0.4}),
    # The other one there, on a third of the documents: from 0.24 to 0.4 as many are refused.
    "e5-small-english": Calibration(least={Search.HYBRID: 0.32, Search.RANKED: 0.32}),
    # Nobody has measured it yet: it takes an account, and `make bench-answers` against it.
    # That words tell of its passages what they tell of two others' is believed, without a source
    # [docs/decisions/0034-a-bar-by-the-words-of-the-nearest.md].
    "titan-v2-english": Calibration(is_by_words=True),
}
