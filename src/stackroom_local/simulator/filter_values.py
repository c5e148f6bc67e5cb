"""What both kinds of filters ask of values: Retrieve's, and S3 Vectors' own."""

from collections.abc import Callable
from typing import Any


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def ranged(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Of what is no number, nothing is more or less."""
    return lambda present, wanted: is_number(present) and compare(present, wanted)
