"""
Conditions on attributes in the words of S3 Vectors' filters, and what these words can't say.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-metadata-filtering.html
"""

from collections.abc import Mapping
from typing import Any

from stackroom.errors import SearchRefused
from stackroom.filters import AllOf, AnyOf, Compares, Comparison, Filter, Has, Lists

_OPERATORS: Mapping[Comparison, str] = {
    Comparison.NOT_EQUALS: "$ne",
    Comparison.GREATER: "$gt",
    Comparison.GREATER_OR_EQUAL: "$gte",
    Comparison.LESS: "$lt",
    Comparison.LESS_OR_EQUAL: "$lte",
    Comparison.IN: "$in",
    Comparison.NOT_IN: "$nin",
}


def rendered(condition: Filter) -> dict[str, Any]:
    """
    Of attributes that are lists, `$eq` compares each element. So it lets through whatever `Lists`
    means, and attributes that are the bare text, too: those `is_listed` is for.

    Raises SearchRefused for a key that S3 Vectors would take for an operator.
    """
    match condition:
        case Has(key, value) | Lists(key, value):
            _check(key)
            return {key: {"$eq": value}}
        case Compares(key, comparison, value):
            if comparison not in _OPERATORS:
                raise SearchRefused(f"a filter with {comparison}, which S3 Vectors doesn't know")
            _check(key)
            demanded = list(value) if isinstance(value, tuple) else value
            return {key: {_OPERATORS[comparison]: demanded}}
        case AnyOf(choices):
            return {"$or": [rendered(choice) for choice in choices]}
        case AllOf(conditions):
            return {"$and": [rendered(member) for member in conditions]}


def _check(key: str) -> None:
    if key.startswith("$"):
        raise SearchRefused("a filter on a key that begins with $")


def is_listed(condition: Filter | None, attributes: Mapping[str, object]) -> bool:
    """Whether what is found is right where a list is demanded; all else is the store's to say."""
    match condition:
        case None | Has() | Compares():
            return True
        case Lists(key, value):
            listed = attributes.get(key)
            return isinstance(listed, list) and value in listed
        case AnyOf(choices):
            return any(is_listed(choice, attributes) for choice in choices)
        case AllOf(conditions):
            return all(is_listed(member, attributes) for member in conditions)
