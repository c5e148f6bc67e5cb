"""How much of what a search finds goes into an agent's context, and what of it comes first."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Self

from stackroom.clock import utc_now

MOST_TOKENS = 100_000  # that anybody may ask for


class Priority(StrEnum):
    """What comes first, and so is kept where not all fits; of equals, what the search had first."""

    # As the search gave them: its order is not always that of the scores, since it may rest on
    # words too, on several stores, or on a model that has read the passages.
    SIMILARITY = "similarity"
    RECENCY = "recency"  # the newest first, and those without a date last
    BALANCED = "balanced"  # 0.7 of its score, and 0.3 of how new it is: 1 today, 0 after a year


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Tokens are counted as `passages.estimated_tokens` does; by `now` passages have an age."""

    max_tokens: int = 4000
    prioritize_by: Priority = Priority.SIMILARITY
    now: Callable[[], datetime] = utc_now

    def asked(self, *, max_tokens: int | None, prioritize_by: Priority | None) -> Self:
        """As a caller wants it; None is what they leave as it is."""
        return type(self)(
            max_tokens=max_tokens or self.max_tokens,
            prioritize_by=prioritize_by or self.prioritize_by,
            now=self.now,
        )


DEFAULT_BUDGET = Budget()
