"""What both kinds of filters ask of values: Retrieve's, and S3 Vectors' own."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_list_of_scalars(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(is_scalar(each) for each in value)


def moment_of(value: Any) -> datetime | None:
    """The moment that a text in ISO 8601 names, in UTC if it says no offset; None for others."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def ranged(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """
    Numbers with numbers, moments with moments (rule managed.filter-range); of all else, nothing is
    more or less.

    Where only numbers are taken, no filter that was checked has a moment.
    """

    def satisfied(present: Any, wanted: Any) -> bool:
        if is_number(present) and is_number(wanted):
            return compare(present, wanted)
        moments = moment_of(present), moment_of(wanted)
        return None not in moments and compare(*moments)

    return satisfied
