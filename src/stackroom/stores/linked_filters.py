"""
A filter in Bedrock's own words that somebody configured, checked before anything is searched.

Grammar: RetrievalFilter in the API model of bedrock-agent-runtime (botocore 1.44.5). How wide and
deep, and what S3 Vectors can't: https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html
"""

import math
from collections.abc import Mapping
from typing import Any

from stackroom.stores.configured_filters import MOST_MEMBERS, can_be_narrowed

_GROUPS = ("andAll", "orAll")
_OF_ONE = (
    "equals",
    "notEquals",
    "greaterThan",
    "greaterThanOrEquals",
    "lessThan",
    "lessThanOrEquals",
    "startsWith",
    "listContains",
    "stringContains",
)
_OF_SEVERAL = ("in", "notIn")
# By store, and what it is called; the guide has it of both that they are not supported.
_UNKNOWN_TO = {
    "S3_VECTORS": ("an index of S3 Vectors", ("startsWith", "stringContains")),
    "MANAGED": ("a MANAGED knowledge base", ("startsWith", "stringContains")),
}
_LONGEST_KEY = 100  # FilterKey


def checked(condition: Any, *, store: str, is_narrowed: bool) -> Any:
    """
    The filter as it is. Raises ValueError, which names what is wrong and what is allowed.

    `is_narrowed` where searches add a demand of their own, for which there must be room.
    """
    _check(condition, store, depth=0)
    if is_narrowed and not can_be_narrowed(condition):
        raise ValueError(
            "leaves no room for the groups that enableAcl adds: an orAll must not hold groups, and"
            f" an andAll must hold less than {MOST_MEMBERS} conditions"
        )
    return condition


def _check(condition: Any, store: str, *, depth: int) -> None:
    if not isinstance(condition, Mapping) or len(condition) != 1:
        raise ValueError("must be an object with one operator, such as equals or andAll")
    [(operator, operand)] = condition.items()
    if operator in _GROUPS:
        if depth > 1:
            raise ValueError(f"has {operator!r} too deep: a group may hold groups, but none deeper")
        if not isinstance(operand, list) or not 2 <= len(operand) <= MOST_MEMBERS:
            raise ValueError(f"has {operator!r} without a list of 2 to {MOST_MEMBERS} conditions")
        for member in operand:
            _check(member, store, depth=depth + 1)
        return
    if operator not in (*_OF_ONE, *_OF_SEVERAL):
        allowed = ", ".join((*_OF_ONE, *_OF_SEVERAL, *_GROUPS))
        raise ValueError(f"has the operator {operator!r}; allowed: {allowed}")
    called, unknown = _UNKNOWN_TO.get(store, ("", ()))
    if operator in unknown:
        raise ValueError(f"has {operator!r}, which {called} can't answer")
    _check_attribute(operator, operand)


def _check_attribute(operator: str, operand: Any) -> None:
    if not isinstance(operand, Mapping) or set(operand) != {"key", "value"}:
        raise ValueError(f"has {operator!r} without exactly a key and a value")
    key, value = operand["key"], operand["value"]
    if not isinstance(key, str) or not 1 <= len(key) <= _LONGEST_KEY:
        raise ValueError(f"has {operator!r} without a key of 1 to {_LONGEST_KEY} characters")
    values = value if operator in _OF_SEVERAL else [value]
    if not isinstance(values, list) or not values or not all(map(_is_value, values)):
        wanted = "a list of texts or numbers" if operator in _OF_SEVERAL else "one value"
        raise ValueError(f"has {operator!r} of {key!r} without {wanted}")


def _is_value(value: Any) -> bool:
    return isinstance(value, str | int | bool) or (
        isinstance(value, float) and math.isfinite(value)
    )
