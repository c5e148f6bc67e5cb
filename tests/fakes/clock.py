"""A clock that tests set."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass
class FakeClock:
    """Stands still until told otherwise."""

    time: datetime = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def pass_by(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)
