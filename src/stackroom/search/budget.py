"""
The token budget of a search's results, and their order.

Every function's settings import this module. The tools' arguments are in search_arguments, because
building their schemas would slow the start of functions that search nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from stackroom.clock import utc_now

MOST_TOKENS = 100_000  # that anybody may ask for


class Priority(StrEnum):
    """
    The order of passages, which also decides which are kept if not all fit. Ties keep the order of
    the search.
    """

    # The order of the search, which is not always that of the scores, since it may rest on words
    # too, on several stores, or on a model that has read the passages.
    SIMILARITY = "similarity"
    RECENCY = "recency"  # the newest first, and those without a date last
    BALANCED = "balanced"  # 0.7 of its score, and 0.3 of how new it is: 1 today, 0 after a year


@dataclass(frozen=True, kw_only=True)
class Budget:
    """
    The token budget of an answer, counted by `excerpts.estimated_tokens`. Ages are as of `now`.
    """

    max_tokens: int = 4000
    prioritize_by: Priority = Priority.SIMILARITY
    now: Callable[[], datetime] = utc_now


DEFAULT_BUDGET = Budget()
