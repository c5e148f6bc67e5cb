"""Retrieval filters: what a knowledge base takes of them, and which documents they mean."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bedrock_kb_simulator.filter_values import (
    is_list_of_scalars,
    is_number,
    is_scalar,
    is_text,
    moment_of,
    ranged,
)
from bedrock_kb_simulator.memory_index import Owner
from bedrock_kb_simulator.metadata import OF_VECTOR, OwnKeys
from bedrock_kb_simulator.objects import Value
from bedrock_kb_simulator.rules import (
    FILTER_CONSTRAINTS,
    FILTER_DEPTH,
    FILTER_GROUP,
    FILTER_IN,
    FILTER_OPERATOR,
    FILTER_UNION,
    FILTER_VALUE,
    MANAGED_FILTER_OPERATOR,
    Rule,
)

Filter = dict[str, Any]

Takes = Callable[[Any], bool]  # whether an operator accepts a value

_GROUPS = ("andAll", "orAll")


def _equals(present: Value | None, wanted: Any) -> bool:
    """A list equals each of its elements, as `$eq` of S3 Vectors has it."""
    if isinstance(present, list):
        return wanted in present
    if isinstance(present, bool) != isinstance(wanted, bool):
        return False  # Python's True is 1; S3 Vectors' is not
    return bool(present == wanted)


# When an attribute, None where absent, satisfies an operator.
_SATISFIES: dict[str, Callable[[Value | None, Any], bool]] = {
    "equals": _equals,
    "notEquals": lambda present, wanted: not _equals(present, wanted),
    "greaterThan": ranged(lambda a, b: a > b),
    "greaterThanOrEquals": ranged(lambda a, b: a >= b),
    "lessThan": ranged(lambda a, b: a < b),
    "lessThanOrEquals": ranged(lambda a, b: a <= b),
    "in": lambda present, wanted: any(_equals(present, each) for each in wanted),
    "notIn": lambda present, wanted: not any(_equals(present, each) for each in wanted),
    "listContains": lambda present, wanted: isinstance(present, list) and wanted in present,
}


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """
    What a kind of knowledge base takes of filters; as what it names what it refuses, and by which
    rule; which one counts its constraints, if any does.
    """

    takes: Mapping[str, Takes]
    refused: Mapping[str, tuple[str, Rule]]
    constraints: Rule | None = None


_SCALARS = dict.fromkeys(("equals", "notEquals"), is_scalar)
_LISTS = dict.fromkeys(("in", "notIn"), is_list_of_scalars)
_RANGES = ("greaterThan", "greaterThanOrEquals", "lessThan", "lessThanOrEquals")


def _substrings(refusal: Rule) -> dict[str, tuple[str, Rule]]:
    return {
        "startsWith": ("STARTS_WITH", refusal),
        "stringContains": ("STRING_CONTAINS", refusal),
    }


S3_VECTORS = Grammar(
    takes={**_SCALARS, **_LISTS, **dict.fromkeys(_RANGES, is_number), "listContains": is_text},
    refused=_substrings(FILTER_OPERATOR),
    constraints=FILTER_CONSTRAINTS,
)
S3_VECTORS_WITHOUT_IN = replace(
    S3_VECTORS,
    refused={**S3_VECTORS.refused, "in": ("IN", FILTER_IN), "notIn": ("NOT_IN", FILTER_IN)},
)
MANAGED = Grammar(
    takes={
        **_SCALARS,
        **dict.fromkeys(_RANGES, lambda value: is_number(value) or moment_of(value) is not None),
        **_LISTS,
        "listContains": is_text,
    },
    refused=_substrings(MANAGED_FILTER_OPERATOR),
)


def check(condition: Filter, grammar: Grammar) -> None:
    """Raise ValidationException for a filter that Bedrock refuses on such a knowledge base."""
    _check(condition, grammar, 0)
    if grammar.constraints and _constraints(condition) > grammar.constraints.limit:
        raise grammar.constraints.broken()


def _check(condition: Filter, grammar: Grammar, depth: int) -> None:
    operator, operand = _single(condition)
    if operator in grammar.refused:
        name, refusal = grammar.refused[operator]
        raise refusal.broken(operator=name)
    if operator in _GROUPS:
        if depth >= FILTER_DEPTH.limit:
            raise FILTER_DEPTH.broken()
        if not 2 <= len(operand) <= FILTER_GROUP.limit:
            raise FILTER_GROUP.broken()
        for member in operand:
            _check(member, grammar, depth + 1)
        return
    if not grammar.takes[operator](operand.get("value")):
        raise FILTER_VALUE.broken(operator=operator, key=operand.get("key"))


def _constraints(condition: Filter) -> int:
    """Of a filter that is one."""
    operator, operand = _single(condition)
    if operator in _GROUPS:
        return sum(_constraints(member) for member in operand)
    return len(operand["value"]) if operator in _LISTS else 1


def matches(condition: Filter, metadata: dict[str, Value]) -> bool:
    """Whether a document's metadata satisfies a checked filter."""
    operator, operand = _single(condition)
    if operator == "andAll":
        return all(matches(member, metadata) for member in operand)
    if operator == "orAll":
        return any(matches(member, metadata) for member in operand)
    return _SATISFIES[operator](metadata.get(operand["key"]), operand["value"])


@dataclass(frozen=True)
class Sought:
    """
    The documents that a search is about, by a checked filter or, without one, all; of these, those
    that an `implied` filter lets through, too: rule implicit-filter.beside.
    """

    condition: Filter | None
    implied: Filter | None = None
    own: OwnKeys = OF_VECTOR

    def __call__(self, owner: Owner, attributes: dict[str, Value]) -> bool:
        demanded = [each for each in (self.condition, self.implied) if each is not None]
        if not demanded:
            return True
        known = {**attributes, **self.own.of(owner)}
        return all(matches(each, known) for each in demanded)


def _single(condition: Filter) -> tuple[str, Any]:
    if len(condition) != 1:
        raise FILTER_UNION.broken()
    return next(iter(condition.items()))
