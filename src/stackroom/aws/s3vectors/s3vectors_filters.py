"""
Conditions on attributes as S3 Vectors' filters, and what these can't express.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-metadata-filtering.html
"""

from collections.abc import Mapping
from typing import Any

from stackroom.errors import SearchRefused
from stackroom.model.filters import (
    AllOf,
    AnyOf,
    Compares,
    Comparison,
    Exists,
    Filter,
    Has,
    Lists,
    is_met,
    leaves,
)

# Limits, to which each value of an $in or $nin counts.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-index-mode.html
MOST_CONSTRAINTS = 100

_ORDERS: Mapping[Comparison, str] = {
    Comparison.GREATER: "$gt",
    Comparison.GREATER_OR_EQUAL: "$gte",
    Comparison.LESS: "$lt",
    Comparison.LESS_OR_EQUAL: "$lte",
}
_EXCLUDES: Mapping[Comparison, str] = {Comparison.NOT_EQUALS: "$ne", Comparison.NOT_IN: "$nin"}


def rendered(condition: Filter) -> dict[str, Any]:
    """
    Return the condition as a filter of S3 Vectors.

    For attributes that are lists, `$eq` compares each element. So it lets through everything that
    `Lists` means, and attributes that are the bare text, too, which `is_listed` removes.
    [assumed: filter.list]

    AWS doesn't document `$ne` and `$nin` for an absent attribute, nor `$in` for a list, so the
    filter never depends on them.

    Raises SearchRefused for a condition that S3 Vectors can't express, or wouldn't take.
    """
    found = _rendered(condition)
    if (count := constraints_of(condition)) > MOST_CONSTRAINTS:
        raise SearchRefused(
            f"a filter of {count} constraints, and S3 Vectors takes {MOST_CONSTRAINTS}"
        )
    return found


def constraints_of(condition: Filter) -> int:
    """Return how many constraints S3 Vectors counts in the rendered condition."""
    return sum(
        len(each.values) + (each.comparison in _EXCLUDES) if isinstance(each, Compares) else 1
        for each in leaves(condition)
    )


def is_listed(condition: Filter | None, attributes: Mapping[str, object]) -> bool:
    """
    Return True if a passage is a right result where a list is demanded, or a value is excluded from
    lists. The store decides all other conditions, except choices beside these: it doesn't tell
    which of them let a passage through.
    """
    match condition:
        case AllOf(conditions):
            return all(is_listed(member, attributes) for member in conditions)
        case None:
            return True
        case _:
            return not _may_be_wider(condition) or is_met(condition, attributes)


def _may_be_wider(condition: Filter) -> bool:
    """Return True if the store may let through more than is meant."""
    return any(
        each.comparison in _EXCLUDES if isinstance(each, Compares) else isinstance(each, Lists)
        for each in leaves(condition)
    )


def _rendered(condition: Filter) -> dict[str, Any]:
    match condition:
        case Has(key, value) | Lists(key, value):
            return _on(key, "$eq", value)
        case Exists(key, is_there):
            return _on(key, "$exists", is_there)
        case Compares():
            return _compared(condition)
        case AnyOf(choices):
            return {"$or": [_rendered(choice) for choice in choices]}
        case AllOf(conditions):
            return {"$and": [_rendered(member) for member in conditions]}


def _compared(condition: Compares) -> dict[str, Any]:
    key, comparison, value = condition.key, condition.comparison, condition.value
    if comparison in _EXCLUDES:
        excluded = list(value) if isinstance(value, tuple) else value
        absent = _on(key, "$exists", False)
        return {"$or": [absent, _on(key, _EXCLUDES[comparison], excluded)]}
    if comparison is Comparison.IN:
        return {"$or": [_on(key, "$eq", each) for each in condition.values]}
    if comparison in _ORDERS:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SearchRefused(f"a filter with {comparison} of what is no number")
        return _on(key, _ORDERS[comparison], value)
    if comparison is Comparison.STARTS_WITH:
        if not isinstance(value, str):
            raise SearchRefused(f"a filter with {comparison} of what is no text")
        return _on(key, "$startsWith", value)
    raise SearchRefused(f"a filter with {comparison}, which S3 Vectors doesn't know")


def _on(key: str, operator: str, operand: object) -> dict[str, Any]:
    if key.startswith("$"):
        raise SearchRefused("a filter on a key that begins with $")
    return {key: {operator: operand}}
