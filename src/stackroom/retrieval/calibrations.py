"""
How high the best score must be for anything to be an answer, by embedding model and language.

Each bar was chosen on questions whose answers are known, to lose few of those that can be answered:
`make bench-answers`, docs/answers.md.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from stackroom.ports.retrieval import Search


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """`least` is by the way it was searched; a way that isn't named holds nothing back."""

    least: Mapping[Search, float] = field(default_factory=dict)

    @classmethod
    def of(cls, least: float) -> Self:
        """The same for every way."""
        return cls(least=dict.fromkeys(Search, least))

    def is_answered(self, best: float | None, searches: Iterable[Search]) -> bool:
        """Held to the lowest bar of those ways; without a `best`, nothing was found to be far."""
        least = min((self.least.get(each, 0.0) for each in searches), default=0.0)
        return best is None or best >= least


UNCALIBRATED = Calibration()

CALIBRATIONS: Mapping[str, Calibration] = {
    "none": UNCALIBRATED,
    # The model that stands in for Titan on a laptop. A store without similarities has no bar.
    "minilm-english": Calibration(least={Search.HYBRID: 0.44, Search.RANKED: 0.4}),
    # Nobody has measured it yet: it takes an account, and `make bench-answers` against it.
    "titan-v2-english": UNCALIBRATED,
}
