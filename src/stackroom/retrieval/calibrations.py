"""
What is too little to be an answer, by embedding model and language of the documents.

Each was chosen on questions whose answers are known, to lose few of those that can be answered:
`make bench-answers`, docs/answers.md.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from stackroom.ports.retrieval import Search


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """
    Below which score of the best passage, and above which share of missing words, nothing found is
    an answer; by the way it was found. A way that isn't named holds nothing back.
    """

    least: Mapping[Search, float] = field(default_factory=dict)
    most_missing: Mapping[Search, float] = field(default_factory=dict)

    def is_answered(
        self, best: float | None, *, missing: float, searches: Iterable[Search]
    ) -> bool:
        """Held to the lowest bar of those ways; without a `best`, nothing was found to be far."""
        if best is None:
            return True
        searches = tuple(searches)
        least = min((self.least.get(each, 0.0) for each in searches), default=0.0)
        most = max((self.most_missing.get(each, 1.0) for each in searches), default=1.0)
        return best >= least and missing <= most


UNCALIBRATED = Calibration()

CALIBRATIONS: Mapping[str, Calibration] = {
    "none": UNCALIBRATED,
    # The model that stands in for Titan on a laptop.
    "minilm-english": Calibration(
        least={Search.HYBRID: 0.42, Search.RANKED: 0.27, Search.SEMANTIC: 0.27}
    ),
    # Nobody has measured its similarities. What stands nowhere says something without them.
    "titan-v2-english": Calibration(
        most_missing={Search.HYBRID: 0.3, Search.RANKED: 0.4, Search.SEMANTIC: 0.4}
    ),
}
