"""Retrieval filters: their validation, and the documents that they match."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.bucket_objects import Value
from bedrock_kb_simulator.indexes import Index
from bedrock_kb_simulator.memory_indexes import Owner
from bedrock_kb_simulator.metadata import OF_VECTOR, OwnKeys

# Checks of values that Retrieve's filters and S3 Vectors' own share.


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_list_of_scalars(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(is_scalar(each) for each in value)


def moment_of(value: Any) -> datetime | None:
    """Return the moment of a text in ISO 8601, in UTC unless it has an offset; None for others."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def range_test(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """
    Return a test that compares numbers with numbers and moments with moments.

    Other values never satisfy it (rule managed.filter-range). On S3 Vectors a checked filter has no
    moments.
    """

    def satisfied(present: Any, wanted: Any) -> bool:
        if is_number(present) and is_number(wanted):
            return compare(present, wanted)
        moments = moment_of(present), moment_of(wanted)
        return None not in moments and compare(*moments)

    return satisfied


Filter = dict[str, Any]

Takes = Callable[[Any], bool]  # whether an operator accepts a value

_GROUPS = ("andAll", "orAll")


def _same(present: Any, wanted: Any) -> bool:
    return isinstance(present, bool) == isinstance(wanted, bool) and bool(present == wanted)


def _equals(present: Any, wanted: Any) -> bool:
    """Compare values; a list equals each of its elements, and True is not 1 as in Python."""
    if isinstance(present, list):
        return any(_same(each, wanted) for each in present)
    return _same(present, wanted)


def _is_in(present: Any, wanted: Any) -> bool:
    return any(_equals(present, each) for each in wanted)


# Tests by operator; an absent attribute is None.
_SATISFIES: dict[str, Callable[[Value | None, Any], bool]] = {
    "equals": _equals,
    "notEquals": lambda present, wanted: not _equals(present, wanted),
    "greaterThan": range_test(lambda a, b: a > b),
    "greaterThanOrEquals": range_test(lambda a, b: a >= b),
    "lessThan": range_test(lambda a, b: a < b),
    "lessThanOrEquals": range_test(lambda a, b: a <= b),
    "in": _is_in,
    "notIn": lambda present, wanted: not _is_in(present, wanted),
    "listContains": lambda present, wanted: isinstance(present, list) and wanted in present,
}


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """
    The filters that a kind of knowledge base accepts.

    `takes` checks values by operator, `refused` has the name and rule of unsupported operators, and
    `constraints` is the rule that limits their number.
    """

    takes: Mapping[str, Takes]
    refused: Mapping[str, tuple[str, rules.Rule]]
    constraints: rules.Rule | None = None


_SCALARS = dict.fromkeys(("equals", "notEquals"), is_scalar)
_LISTS = dict.fromkeys(("in", "notIn"), is_list_of_scalars)  # rule filter.in
_RANGES = ("greaterThan", "greaterThanOrEquals", "lessThan", "lessThanOrEquals")


def _substrings(refusal: rules.Rule) -> dict[str, tuple[str, rules.Rule]]:
    return {"startsWith": ("STARTS_WITH", refusal), "stringContains": ("STRING_CONTAINS", refusal)}


S3_VECTORS = Grammar(
    takes={**_SCALARS, **_LISTS, **dict.fromkeys(_RANGES, is_number), "listContains": is_text},
    refused=_substrings(rules.FILTER_OPERATOR),
    constraints=rules.VECTOR_FILTER_CONSTRAINTS,
)
MANAGED = Grammar(
    takes={
        **_SCALARS,
        **dict.fromkeys(_RANGES, lambda value: is_number(value) or moment_of(value) is not None),
        **_LISTS,
        "listContains": is_text,
    },
    refused=_substrings(rules.MANAGED_FILTER_OPERATOR),
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
        if depth >= rules.FILTER_DEPTH.limit:
            raise rules.FILTER_DEPTH.broken()
        if not 2 <= len(operand) <= rules.FILTER_GROUP.limit:
            raise rules.FILTER_GROUP.broken()
        for member in operand:
            _check(member, grammar, depth + 1)
        return
    if not grammar.takes[operator](operand.get("value")):
        raise rules.FILTER_VALUE.broken(operator=operator, key=operand.get("key"))


def _constraints(condition: Filter) -> int:
    """Return the number of constraints in a checked filter."""
    operator, operand = _single(condition)
    if operator in _GROUPS:
        return sum(_constraints(member) for member in operand)
    return len(operand["value"]) if operator in _LISTS else 1


def matches(condition: Filter, metadata: dict[str, Value]) -> bool:
    """Return True if a document's metadata satisfies a checked filter."""
    operator, operand = _single(condition)
    if operator == "andAll":
        return all(matches(member, metadata) for member in operand)
    if operator == "orAll":
        return any(matches(member, metadata) for member in operand)
    return _SATISFIES[operator](metadata.get(operand["key"]), operand["value"])


@dataclass(frozen=True)
class DocumentFilter:
    """
    A test of documents by a checked filter; without one it accepts all.
    """

    condition: Filter | None
    own_keys: OwnKeys = OF_VECTOR

    def __call__(self, owner: Owner, attributes: dict[str, Value]) -> bool:
        return self.condition is None or matches(
            self.condition, {**attributes, **self.own_keys.of(owner)}
        )


def _single(condition: Filter) -> tuple[str, Any]:
    if len(condition) != 1:
        raise rules.FILTER_UNION.broken()
    return next(iter(condition.items()))


# S3 Vectors' own metadata filters, which QueryVectors takes: `{"genre": {"$eq": "drama"}}`.

VectorFilter = Mapping[str, Any]
Metadata = Mapping[str, Any]

_VECTOR_GROUPS = ("$and", "$or")


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


# By operator: a check of the filter's value, and a test of the metadata's (None if absent).
_OPERATORS: dict[str, tuple[Callable[[Any], bool], Callable[[Any, Any], bool]]] = {
    "$eq": (is_scalar, _equals),
    "$ne": (is_scalar, lambda present, wanted: not _equals(present, wanted)),
    "$gt": (is_number, range_test(lambda a, b: a > b)),
    "$gte": (is_number, range_test(lambda a, b: a >= b)),
    "$lt": (is_number, range_test(lambda a, b: a < b)),
    "$lte": (is_number, range_test(lambda a, b: a <= b)),
    "$startsWith": (
        is_text,
        lambda present, wanted: isinstance(present, str) and present.startswith(wanted),
    ),
    "$in": (is_list_of_scalars, _is_in),
    "$nin": (is_list_of_scalars, lambda present, wanted: not _is_in(present, wanted)),
    "$exists": (_is_truth, lambda present, wanted: (present is not None) == wanted),
}


def check_vector_filter(condition: Any, index: Index) -> None:
    """Raise ValidationException for a filter that S3 Vectors refuses on this index."""
    constraints = 0
    for key, operator, value in _conditions(condition):
        if key in index.non_filterable:
            raise rules.VECTOR_FILTER_KEY.broken(key=key)
        if operator not in _OPERATORS:
            raise rules.VECTOR_FILTER_OPERATOR.broken(operator=operator)
        takes, _ = _OPERATORS[operator]
        if not takes(value):
            raise rules.VECTOR_FILTER_VALUE.broken(operator=operator, key=key)
        constraints += len(value) if isinstance(value, list) else 1
    if constraints > rules.VECTOR_FILTER_CONSTRAINTS.limit:
        raise rules.VECTOR_FILTER_CONSTRAINTS.broken()


def keys_of(condition: Any) -> set[str]:
    """Return the metadata keys in a checked filter."""
    return {key for key, _, _ in _conditions(condition)}


def compile_filter(condition: VectorFilter) -> Callable[[Metadata], bool]:
    """Return a test of a vector's metadata by a checked filter."""
    parts = [_part(name, operand) for name, operand in condition.items()]
    return parts[0] if len(parts) == 1 else lambda metadata: all(part(metadata) for part in parts)


def _part(name: str, operand: Any) -> Callable[[Metadata], bool]:
    if name in _VECTOR_GROUPS:
        members = [compile_filter(member) for member in operand]
        quantifier = all if name == "$and" else any
        return lambda metadata: quantifier(member(metadata) for member in members)
    tests = [(_OPERATORS[operator][1], value) for operator, value in _operations(operand)]
    return lambda metadata: all(test(metadata.get(name), value) for test, value in tests)


def _conditions(condition: Any) -> Iterator[tuple[str, str, Any]]:
    if not isinstance(condition, dict) or not condition:
        raise rules.VECTOR_FILTER_SHAPE.broken()
    for name, operand in condition.items():
        if name in _VECTOR_GROUPS:
            if not isinstance(operand, list) or not operand:
                raise rules.VECTOR_FILTER_SHAPE.broken()
            for member in operand:
                yield from _conditions(member)
        elif name.startswith("$"):
            raise rules.VECTOR_FILTER_OPERATOR.broken(operator=name)
        else:
            for operator, value in _operations(operand):
                yield name, operator, value


def _operations(operand: Any) -> list[tuple[str, Any]]:
    """Return the operators with their values; a bare value means `$eq`."""
    if not isinstance(operand, dict):
        return [("$eq", operand)]
    if not operand:
        raise rules.VECTOR_FILTER_SHAPE.broken()
    return list(operand.items())
