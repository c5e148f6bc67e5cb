"""The clocks of use cases: the time of day, the pace of AWS, and deadlines."""

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
    Convert durations of AWS to this clock, which runs `speed` times as fast; 1 is AWS itself.

    Only waits are converted. A function's own computing takes the same time everywhere.
    """

    speed: float = 1.0

    def here(self, seconds: float) -> float:
        """Return the seconds by our clock for seconds on AWS."""
        return seconds / self.speed

    def on_aws(self, seconds: float) -> float:
        """Return the seconds on AWS for seconds by our clock."""
        return seconds * self.speed


REAL_TIME = Pace()


# Until when somebody waits for an answer.


@dataclass(frozen=True)
class Deadline:
    """
    A moment of `time.monotonic`, in seconds, after which nobody waits for the answer.

    Code that calls other services checks it before each call, and limits each call to the time
    left.
    """

    at: float

    @classmethod
    def after(cls, seconds: float) -> Self:
        """Return the deadline that many seconds from now."""
        return cls(time.monotonic() + seconds)

    @property
    def has_passed(self) -> bool:
        return self.left() <= 0

    def left(self) -> float:
        """Return the seconds left, never negative; infinite without a deadline."""
        return max(0.0, self.at - time.monotonic())

    def sooner(self, seconds: float) -> Self:
        """Return an earlier deadline, to leave time for processing the answer."""
        return type(self)(self.at - seconds)

    def check(self, operation: str) -> None:
        """Raise KnowledgeBaseUnavailable if it has passed; `operation` is the call not made."""
        if self.has_passed:
            raise KnowledgeBaseUnavailable(operation, "DeadlinePassed")


NO_DEADLINE = Deadline(math.inf)
