"""
Filters that somebody configured in Bedrock's own words.

They are checked before anything is searched, and apply together with a search's own filter. Stores
that Bedrock doesn't search get them as our filters.

Grammar: RetrievalFilter in the API model of bedrock-agent-runtime (botocore 1.44.5). AWS documents
at most five filters a group, and groups in a group, but none in these; and what S3 Vectors can't.
https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from stackroom.concurrency import chunks
from stackroom.model.filters import (
    AllOf,
    AnyOf,
    Compares,
    Comparison,
    Filter,
    Has,
    Lists,
    all_of,
)

MOST_MEMBERS = 5
_GROUPS = ("andAll", "orAll")


def both(fixed: Filter | None, demanded: Filter | None) -> Filter | None:
    """
    Return the filter that demands both the fixed filter and the demanded one; None if there is
    neither.

    One alone is returned unchanged. Raises ValueError if both together are deeper or wider than
    Bedrock takes; if `can_be_narrowed` is False for a fixed filter, it always does.
    """
    if fixed is None or demanded is None:
        return demanded if fixed is None else fixed
    members = [*_demands(fixed), *_demands(demanded)]
    groups = [each for each in members if isinstance(each, AnyOf)]
    if any(isinstance(inner, AnyOf | AllOf) for group in groups for inner in group.choices):
        raise ValueError("an orAll that holds groups can't be demanded beside another filter")
    single: list[Filter] = [each for each in members if not isinstance(each, AnyOf)]
    if len(members) > MOST_MEMBERS:
        single = _packed(single)
    joined = [*single, *groups]
    if len(joined) > MOST_MEMBERS:
        raise ValueError(f"both filters together need more than {MOST_MEMBERS} members in a group")
    return AllOf(tuple(joined))


def can_be_narrowed(fixed: Filter) -> bool:
    """Return True if there is room beside this filter for one more demand, of any kind."""
    try:
        both(fixed, AnyOf((Has("k", 0), Has("k", 1))))
    except ValueError:
        return False
    return True


def _demands(condition: Filter) -> list[Filter]:
    """
    Return the conditions that must each hold: an andAll within an andAll needs no group of its own.
    """
    if not isinstance(condition, AllOf):
        return [condition]
    return [demand for member in condition.conditions for demand in _demands(member)]


def _packed(single: Sequence[Filter]) -> list[Filter]:
    """Return the filters packed in groups, none of which has a sole member."""
    return [all_of(pack) for pack in chunks(single, of=MOST_MEMBERS)]


def parsed(condition: Mapping[str, Any]) -> Filter:
    """Return the filter as one of stackroom.model.filters; it has passed `check`."""
    [(operator, operand)] = condition.items()
    match operator:
        case "andAll":
            return AllOf(tuple(map(parsed, operand)))
        case "orAll":
            return AnyOf(tuple(map(parsed, operand)))
        case "equals":
            return Has(operand["key"], operand["value"])
        case "listContains":
            return Lists(operand["key"], operand["value"])
        case _:
            value = operand["value"]
            demanded = tuple(value) if isinstance(value, list) else value
            return Compares(operand["key"], Comparison(operator), demanded)


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
# The guide has it of both stores that these are not supported; what the stores are called. A user
# saw them accepted by a MANAGED one, and nothing found.
PARTS_OF_TEXTS = (Comparison.STARTS_WITH, Comparison.STRING_CONTAINS)
_OF_WHOLE_TEXTS = {"S3_VECTORS": "an index of S3 Vectors", "MANAGED": "a MANAGED knowledge base"}
_LONGEST_KEY = 100  # FilterKey


def check(condition: Any, *, store: str, is_narrowed: bool) -> None:
    """
    Raise ValueError, naming what is wrong and what is allowed, if the filter is invalid. If it
    `is_narrowed`, searches add a demand of their own, for which there must be room.
    """
    _check(condition, store, depth=0)
    if is_narrowed and not can_be_narrowed(parsed(condition)):
        raise ValueError(
            "leaves no room for the groups that enableAcl adds: an orAll must not hold groups, and"
            f" an andAll must hold less than {MOST_MEMBERS} conditions"
        )


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
    if operator in PARTS_OF_TEXTS and store in _OF_WHOLE_TEXTS:
        raise ValueError(f"has {operator!r}, which {_OF_WHOLE_TEXTS[store]} can't answer")
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
