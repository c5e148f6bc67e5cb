"""The time of day, and how fast AWS works by it, as the use cases are given them."""

import math
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from stackroom.errors import KnowledgeBaseUnavailable


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Pace:
    """
    How long what AWS takes some seconds for takes here, where its clock is `speed` times as fast as
    the world's; 1 is AWS itself.

    It is for waits alone. A function's own time runs everywhere at the same pace.
    """

    speed: float = 1.0

    def here(self, seconds: float) -> float:
        """Seconds by our clock, of so many of AWS's."""
        return seconds / self.speed

    def on_aws(self, seconds: float) -> float:
        """Seconds of AWS's, of so many by our clock."""
        return seconds * self.speed


REAL_TIME = Pace()


# Until when somebody waits for an answer.


@dataclass(frozen=True)
class Deadline:
    """
    A moment by the clock of `time.monotonic`, in seconds, behind which nobody reads the answer.

    Whoever asks others on the way looks at it before each call, so that no call is begun in vain,
    and lets none take longer than what is left.
    """

    at: float

    @classmethod
    def after(cls, seconds: float) -> Self:
        """So many seconds from now; a deadline in the past has passed at once."""
        return cls(time.monotonic() + seconds)

    @property
    def has_passed(self) -> bool:
        return self.left() <= 0

    def left(self) -> float:
        """Seconds, never below zero; infinite without a deadline."""
        return max(0.0, self.at - time.monotonic())

    def sooner(self, seconds: float) -> Self:
        """So many seconds before this one, for what is to be done with an answer."""
        return type(self)(self.at - seconds)

    def check(self, operation: str) -> None:
        """Raises KnowledgeBaseUnavailable if it has passed; `operation` would have been called."""
        if self.has_passed:
            raise KnowledgeBaseUnavailable(operation, "DeadlinePassed")


NO_DEADLINE = Deadline(math.inf)
