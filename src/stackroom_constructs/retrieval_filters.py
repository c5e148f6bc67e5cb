"""
A filter in Bedrock's own words, checked before anything is deployed.

Grammar: RetrievalFilter in the API model of bedrock-agent-runtime (botocore 1.44.5). How wide and
deep, and what S3 Vectors can't: https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html
What searches it holds it to the same rules when it starts (stackroom.stores.configured_filters).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from stackroom_constructs.argument_checks import InvalidArgument, Owner

MOST_MEMBERS = 5
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
# By store; S3 Vectors itself knows $startsWith, which Bedrock doesn't pass on.
_UNKNOWN_TO = {
    "S3_VECTORS": ("startsWith", "stringContains"),
    "S3_VECTORS_DIRECT": ("stringContains",),
    "MANAGED": ("startsWith", "stringContains"),
}
_LONGEST_KEY = 100  # FilterKey
_ORDERS = ("greaterThan", "greaterThanOrEquals", "lessThan", "lessThanOrEquals")
_OF_TEXTS = ("startsWith", "stringContains")
# Constraints of one query of S3 Vectors, less those of an owner and of five groups.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-index-mode.html
_MOST_CONSTRAINTS = 100 - 6


def check_filter(owner: Owner, condition: Any, *, store: str, is_narrowed: bool) -> None:
    """
    `is_narrowed` where searches add a condition of their own, for which there must be room.

    Raises InvalidArgument.
    """
    if condition is None:
        return
    wrong = _wrong(condition, store, depth=0)
    if wrong is None and store == "S3_VECTORS_DIRECT":
        wrong = _not_for_s3_vectors(condition)
        if wrong is None and (count := _constraints(condition)) > _MOST_CONSTRAINTS:
            wrong = f"one of at most {_MOST_CONSTRAINTS} values for S3 Vectors, and has {count}"
    if wrong is None and store == "PGVECTOR":
        wrong = _not_for_postgresql(condition)
    if wrong is None and is_narrowed and not _has_room(condition):
        wrong = (
            "a filter that leaves room for what enable_acl adds: an orAll must not hold"
            f" groups, and an andAll must hold less than {MOST_MEMBERS} of them"
        )
    if wrong is not None:
        raise InvalidArgument(owner, "retrieval_filter", condition, wrong)


def _wrong(condition: Any, store: str, *, depth: int) -> str | None:
    if not isinstance(condition, Mapping) or len(condition) != 1:
        return "an object with one operator, such as equals or andAll"
    [(operator, operand)] = condition.items()
    if operator in _GROUPS:
        return _wrong_group(operator, operand, store, depth=depth)
    if operator not in (*_OF_ONE, *_OF_SEVERAL):
        return f"made of the operators {', '.join((*_OF_ONE, *_OF_SEVERAL, *_GROUPS))}"
    if operator in _UNKNOWN_TO.get(store, ()):
        return f"without {operator!r}, which an index of S3 Vectors can't answer"
    return _wrong_attribute(operator, operand)


def _wrong_group(operator: str, operand: Any, store: str, *, depth: int) -> str | None:
    if depth > 1:
        return f"less deep than this {operator!r}: a group may hold groups, but none deeper"
    if not isinstance(operand, Sequence) or not 2 <= len(operand) <= MOST_MEMBERS:
        return f"one whose {operator!r} is a list of 2 to {MOST_MEMBERS} conditions"
    found = (_wrong(member, store, depth=depth + 1) for member in operand)
    return next((each for each in found if each), None)


def _wrong_attribute(operator: str, operand: Any) -> str | None:
    if not isinstance(operand, Mapping) or set(operand) != {"key", "value"}:
        return f"one whose {operator!r} has exactly a key and a value"
    key, value = operand["key"], operand["value"]
    if not isinstance(key, str) or not 1 <= len(key) <= _LONGEST_KEY:
        return f"one whose {operator!r} has a key of 1 to {_LONGEST_KEY} characters"
    values = value if operator in _OF_SEVERAL else [value]
    if not isinstance(values, list) or not values or not all(map(_is_value, values)):
        wanted = "a list of texts or numbers" if operator in _OF_SEVERAL else "one value"
        return f"one whose {operator!r} of {key!r} has {wanted}"
    return None


def _not_for_s3_vectors(condition: Mapping[str, Any]) -> str | None:
    """https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-metadata-filtering.html"""
    if _is_group(condition):
        return next(filter(None, map(_not_for_s3_vectors, _members(condition))), None)
    [(operator, operand)] = condition.items()
    key, value = operand["key"], operand["value"]
    if key.startswith("$"):
        return f"one whose {operator!r} has a key that doesn't begin with $"
    return _of_another_type(operator, key, value)


def _not_for_postgresql(condition: Mapping[str, Any]) -> str | None:
    """https://www.postgresql.org/docs/current/datatype-json.html"""
    if _is_group(condition):
        return next(filter(None, map(_not_for_postgresql, _members(condition))), None)
    [(operator, operand)] = condition.items()
    key, value = operand["key"], operand["value"]
    texts = [each for each in (key, value, *_listed(value)) if isinstance(each, str)]
    if any("\x00" in text for text in texts):
        return f"one whose {operator!r} has no null character, which PostgreSQL can't store"
    return _of_another_type(operator, key, value)


def check_types(owner: Owner, condition: Any) -> None:
    """
    Of a filter that is right otherwise: what orders is of numbers, what is in a text, of texts.

    Raises InvalidArgument.
    """
    if condition is None:
        return
    if _is_group(condition):
        for member in _members(condition):
            check_types(owner, member)
        return
    [(operator, operand)] = condition.items()
    wrong = _of_another_type(operator, operand["key"], operand["value"])
    if wrong is not None:
        raise InvalidArgument(owner, "retrieval_filter", condition, wrong)


def _of_another_type(operator: str, key: str, value: Any) -> str | None:
    if operator in _ORDERS and (isinstance(value, bool) or not isinstance(value, int | float)):
        return f"one whose {operator!r} of {key!r} has a number"
    if operator in _OF_TEXTS and not isinstance(value, str):
        return f"one whose {operator!r} of {key!r} has a text"
    return None


def _constraints(condition: Mapping[str, Any]) -> int:
    """As S3 Vectors counts; one more where what is absent is asked for, too."""
    if _is_group(condition):
        return sum(map(_constraints, _members(condition)))
    [(operator, operand)] = condition.items()
    values = len(operand["value"]) if operator in _OF_SEVERAL else 1
    return values + (operator in ("notEquals", "notIn"))


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _is_value(value: Any) -> bool:
    return isinstance(value, str | int | bool) or (
        isinstance(value, float) and math.isfinite(value)
    )


def _has_room(condition: Mapping[str, Any]) -> bool:
    """Whether it and one more demand fit into an andAll, single conditions packed into groups."""
    members = _demanded(condition)
    groups = [each for each in members if _is_group(each)]
    if any(_is_group(inner) for group in groups for inner in _members(group)):
        return False
    single = len(members) - len(groups)
    if len(members) >= MOST_MEMBERS:
        single = math.ceil(single / MOST_MEMBERS)
    return single + len(groups) < MOST_MEMBERS


def _demanded(condition: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if "andAll" not in condition:
        return [condition]
    return [demand for member in _members(condition) for demand in _demanded(member)]


def _is_group(condition: Mapping[str, Any]) -> bool:
    return any(each in condition for each in _GROUPS)


def _members(group: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    [members] = group.values()
    found: Sequence[Mapping[str, Any]] = members
    return found
