"""Retrieval filters: what S3 Vectors takes of them, and which documents they mean."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stackroom_local.simulator.filter_values import is_number, is_scalar, is_text, ranged
from stackroom_local.simulator.memory_index import Owner
from stackroom_local.simulator.metadata import DATA_SOURCE_ID, SOURCE_URI
from stackroom_local.simulator.rules import (
    FILTER_DEPTH,
    FILTER_GROUP,
    FILTER_OPERATOR,
    FILTER_UNION,
    FILTER_VALUE,
)
from stackroom_local.simulator.sidecars import Value

Filter = dict[str, Any]

_GROUPS = ("andAll", "orAll")
_REFUSED = {
    "startsWith": "STARTS_WITH",
    "stringContains": "STRING_CONTAINS",
    "in": "IN",
    "notIn": "NOT_IN",
}


def _equals(present: Value | None, wanted: Any) -> bool:
    """A list equals each of its elements, as `$eq` of S3 Vectors has it."""
    if isinstance(present, list):
        return wanted in present
    if isinstance(present, bool) != isinstance(wanted, bool):
        return False  # Python's True is 1; S3 Vectors' is not
    return bool(present == wanted)


# Operator: which values it takes, and when an attribute (None where absent) satisfies it.
_OPERATORS: dict[str, tuple[Callable[[Any], bool], Callable[[Value | None, Any], bool]]] = {
    "equals": (is_scalar, _equals),
    "notEquals": (is_scalar, lambda present, wanted: not _equals(present, wanted)),
    "greaterThan": (is_number, ranged(lambda a, b: a > b)),
    "greaterThanOrEquals": (is_number, ranged(lambda a, b: a >= b)),
    "lessThan": (is_number, ranged(lambda a, b: a < b)),
    "lessThanOrEquals": (is_number, ranged(lambda a, b: a <= b)),
    "listContains": (
        is_text,
        lambda present, wanted: isinstance(present, list) and wanted in present,
    ),
}


def check(condition: Filter, depth: int = 0) -> None:
    """Raise ValidationException for a filter that Bedrock refuses on S3 Vectors."""
    operator, operand = _single(condition)
    if operator in _REFUSED:
        raise FILTER_OPERATOR.broken(operator=_REFUSED[operator])
    if operator in _GROUPS:
        if depth >= FILTER_DEPTH.limit:
            raise FILTER_DEPTH.broken()
        if not 2 <= len(operand) <= FILTER_GROUP.limit:
            raise FILTER_GROUP.broken()
        for member in operand:
            check(member, depth + 1)
        return
    takes, _ = _OPERATORS[operator]
    if not takes(operand.get("value")):
        raise FILTER_VALUE.broken(operator=operator, key=operand.get("key"))


def matches(condition: Filter, metadata: dict[str, Value]) -> bool:
    """Whether a document's metadata satisfies a checked filter."""
    operator, operand = _single(condition)
    if operator == "andAll":
        return all(matches(member, metadata) for member in operand)
    if operator == "orAll":
        return any(matches(member, metadata) for member in operand)
    _, satisfies = _OPERATORS[operator]
    return satisfies(metadata.get(operand["key"]), operand["value"])


@dataclass(frozen=True)
class Sought:
    """
    The documents that a search is about, by a checked filter or, without one, all; of these, those
    that an `implied` filter lets through, too: rule implicit-filter.beside.
    """

    condition: Filter | None
    implied: Filter | None = None

    def __call__(self, owner: Owner, attributes: dict[str, Value]) -> bool:
        demanded = [each for each in (self.condition, self.implied) if each is not None]
        if not demanded:
            return True
        own: dict[str, Value] = {SOURCE_URI: owner[1], DATA_SOURCE_ID: owner[0]}
        return all(matches(each, {**attributes, **own}) for each in demanded)


def _single(condition: Filter) -> tuple[str, Any]:
    if len(condition) != 1:
        raise FILTER_UNION.broken()
    return next(iter(condition.items()))
