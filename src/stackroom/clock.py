"""The time of day, and how fast AWS works by it, as the use cases are given them."""

from datetime import UTC, datetime
from typing import Protocol


def utc_now() -> datetime:
    return datetime.now(UTC)


class Pace(Protocol):
    """
    How long what AWS takes some seconds for takes here.

    It is for waits alone. A function's own time runs everywhere at the same pace.
    """

    def here(self, seconds: float) -> float:
        """Seconds by our clock, of so many of AWS's."""
        ...

    def on_aws(self, seconds: float) -> float:
        """Seconds of AWS's, of so many by our clock."""
        ...


class RealTime:
    """Of AWS itself."""

    def here(self, seconds: float) -> float:
        return seconds

    def on_aws(self, seconds: float) -> float:
        return seconds
