"""
Checks of filters in Bedrock's format, before anything is deployed.

Grammar: RetrievalFilter in the API model of bedrock-agent-runtime (botocore 1.44.5). The size and
depth of filters, and the limits of S3 Vectors:
https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html The reader applies the same
rules when it starts (stackroom.aws.bedrock.configured_filters).
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from stackroom_constructs.argument_checks import InvalidArgument, Owner

MAX_MEMBERS = 5
_GROUPS = ("andAll", "orAll")
_SINGLE_VALUE = (
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
_LIST_VALUE = ("in", "notIn")
# By store; S3 Vectors itself supports $startsWith, but Bedrock doesn't pass it on.
_UNSUPPORTED = {
    "S3_VECTORS": ("startsWith", "stringContains"),
    "S3_VECTORS_DIRECT": ("stringContains",),
    "MANAGED": ("startsWith", "stringContains"),
}
_MAX_KEY = 100  # FilterKey
_ORDERS = ("greaterThan", "greaterThanOrEquals", "lessThan", "lessThanOrEquals")
_TEXT_OPERATORS = ("startsWith", "stringContains")
# S3 Vectors' limit for a query, less the constraints of an owner and of five groups.
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-index-mode.html
_MAX_CONSTRAINTS = 100 - 6


def check_filter(owner: Owner, condition: Any, *, store: str, is_narrowed: bool) -> None:
    """
    Check a filter; `is_narrowed` if searches add a condition of their own, which needs room.

    Raises InvalidArgument.
    """
    if condition is None:
        return
    problem = _problem(condition, store, depth=0)
    if problem is None and store == "S3_VECTORS_DIRECT":
        problem = _s3_vectors_problem(condition)
        if problem is None and (count := _constraints(condition)) > _MAX_CONSTRAINTS:
            problem = f"one of at most {_MAX_CONSTRAINTS} values for S3 Vectors, and has {count}"
    if problem is None and store == "PGVECTOR":
        problem = _postgresql_problem(condition)
    if problem is None and is_narrowed and not _has_room(condition):
        problem = (
            "a filter with room for the condition of enable_acl: an orAll must not contain"
            f" groups, and an andAll must contain fewer than {MAX_MEMBERS} of them"
        )
    if problem is not None:
        raise InvalidArgument(owner, "retrieval_filter", condition, problem)


def _problem(condition: Any, store: str, *, depth: int) -> str | None:
    if not isinstance(condition, Mapping) or len(condition) != 1:
        return "an object with one operator, such as equals or andAll"
    [(operator, operand)] = condition.items()
    if operator in _GROUPS:
        return _group_problem(operator, operand, store, depth=depth)
    if operator not in (*_SINGLE_VALUE, *_LIST_VALUE):
        return f"made of the operators {', '.join((*_SINGLE_VALUE, *_LIST_VALUE, *_GROUPS))}"
    if operator in _UNSUPPORTED.get(store, ()):
        return f"without {operator!r}, which an index of S3 Vectors can't answer"
    return _attribute_problem(operator, operand)


def _group_problem(operator: str, operand: Any, store: str, *, depth: int) -> str | None:
    if depth > 1:
        return f"less deep than this {operator!r}: groups in groups must not contain groups"
    if not isinstance(operand, Sequence) or not 2 <= len(operand) <= MAX_MEMBERS:
        return f"one whose {operator!r} is a list of 2 to {MAX_MEMBERS} conditions"
    found = (_problem(member, store, depth=depth + 1) for member in operand)
    return next((each for each in found if each), None)


def _attribute_problem(operator: str, operand: Any) -> str | None:
    if not isinstance(operand, Mapping) or set(operand) != {"key", "value"}:
        return f"one whose {operator!r} has exactly a key and a value"
    key, value = operand["key"], operand["value"]
    if not isinstance(key, str) or not 1 <= len(key) <= _MAX_KEY:
        return f"one whose {operator!r} has a key of 1 to {_MAX_KEY} characters"
    values = value if operator in _LIST_VALUE else [value]
    if not isinstance(values, list) or not values or not all(map(_is_value, values)):
        wanted = "a list of texts or numbers" if operator in _LIST_VALUE else "one value"
        return f"one whose {operator!r} of {key!r} has {wanted}"
    return None


def _s3_vectors_problem(condition: Mapping[str, Any]) -> str | None:
    """
    Return why S3 Vectors can't apply the filter, if it can't.

    https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-metadata-filtering.html
    """
    if _is_group(condition):
        return next(filter(None, map(_s3_vectors_problem, _members(condition))), None)
    [(operator, operand)] = condition.items()
    key, value = operand["key"], operand["value"]
    if key.startswith("$"):
        return f"one whose {operator!r} has a key that doesn't start with $"
    return _type_problem(operator, key, value)


def _postgresql_problem(condition: Mapping[str, Any]) -> str | None:
    """
    Return why PostgreSQL can't apply the filter, if it can't.

    https://www.postgresql.org/docs/current/datatype-json.html
    """
    if _is_group(condition):
        return next(filter(None, map(_postgresql_problem, _members(condition))), None)
    [(operator, operand)] = condition.items()
    key, value = operand["key"], operand["value"]
    texts = [each for each in (key, value, *_as_list(value)) if isinstance(each, str)]
    if any("\x00" in text for text in texts):
        return f"one whose {operator!r} has no null character, which PostgreSQL can't store"
    return _type_problem(operator, key, value)


def check_types(owner: Owner, condition: Any) -> None:
    """
    Check the types of a valid filter: orders compare numbers, and text operators take text.

    Raises InvalidArgument.
    """
    if condition is None:
        return
    if _is_group(condition):
        for member in _members(condition):
            check_types(owner, member)
        return
    [(operator, operand)] = condition.items()
    problem = _type_problem(operator, operand["key"], operand["value"])
    if problem is not None:
        raise InvalidArgument(owner, "retrieval_filter", condition, problem)


def _type_problem(operator: str, key: str, value: Any) -> str | None:
    if operator in _ORDERS and (isinstance(value, bool) or not isinstance(value, int | float)):
        return f"one whose {operator!r} of {key!r} has a number"
    if operator in _TEXT_OPERATORS and not isinstance(value, str):
        return f"one whose {operator!r} of {key!r} has a text"
    return None


def _constraints(condition: Mapping[str, Any]) -> int:
    """
    Return the constraints as S3 Vectors counts them; operators that match absent keys have one
    more.
    """
    if _is_group(condition):
        return sum(map(_constraints, _members(condition)))
    [(operator, operand)] = condition.items()
    values = len(operand["value"]) if operator in _LIST_VALUE else 1
    return values + (operator in ("notEquals", "notIn"))


def _as_list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _is_value(value: Any) -> bool:
    return isinstance(value, str | int | bool) or (
        isinstance(value, float) and math.isfinite(value)
    )


def _has_room(condition: Mapping[str, Any]) -> bool:
    """
    Return True if the filter and another condition fit into an andAll, after packing conditions.
    """
    members = _conditions(condition)
    groups = [each for each in members if _is_group(each)]
    if any(_is_group(inner) for group in groups for inner in _members(group)):
        return False
    single = len(members) - len(groups)
    if len(members) >= MAX_MEMBERS:
        single = math.ceil(single / MAX_MEMBERS)
    return single + len(groups) < MAX_MEMBERS


def _conditions(condition: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if "andAll" not in condition:
        return [condition]
    return [demand for member in _members(condition) for demand in _conditions(member)]


def _is_group(condition: Mapping[str, Any]) -> bool:
    return any(each in condition for each in _GROUPS)


def _members(group: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    [members] = group.values()
    found: Sequence[Mapping[str, Any]] = members
    return found
