"""The time of day, as the use cases are given it; tests give another."""

from datetime import UTC, datetime


def utc_now() -> datetime:
    return datetime.now(UTC)
