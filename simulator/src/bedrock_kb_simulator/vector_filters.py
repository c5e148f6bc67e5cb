"""S3 Vectors' own metadata filters, which QueryVectors takes: `{"genre": {"$eq": "drama"}}`."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bedrock_kb_simulator.filter_values import (
    is_list_of_scalars,
    is_number,
    is_scalar,
    is_text,
    ranged,
)
from bedrock_kb_simulator.indexes import Index
from bedrock_kb_simulator.rules import (
    VECTOR_FILTER_CONSTRAINTS,
    VECTOR_FILTER_KEY,
    VECTOR_FILTER_OPERATOR,
    VECTOR_FILTER_SHAPE,
    VECTOR_FILTER_STARTS_WITH,
    VECTOR_FILTER_VALUE,
)

Filter = Mapping[str, Any]
Metadata = Mapping[str, Any]

_GROUPS = ("$and", "$or")


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _same(present: Any, wanted: Any) -> bool:
    return isinstance(present, bool) == isinstance(wanted, bool) and bool(present == wanted)


def _equals(present: Any, wanted: Any) -> bool:
    if isinstance(present, list):
        return any(_same(each, wanted) for each in present)
    return _same(present, wanted)


def _is_in(present: Any, wanted: Any) -> bool:
    return any(_equals(present, each) for each in wanted)


# Operator: which values it takes, and when a key's value (None where absent) satisfies it.
_OPERATORS: dict[str, tuple[Callable[[Any], bool], Callable[[Any, Any], bool]]] = {
    "$eq": (is_scalar, _equals),
    "$ne": (is_scalar, lambda present, wanted: not _equals(present, wanted)),
    "$gt": (is_number, ranged(lambda a, b: a > b)),
    "$gte": (is_number, ranged(lambda a, b: a >= b)),
    "$lt": (is_number, ranged(lambda a, b: a < b)),
    "$lte": (is_number, ranged(lambda a, b: a <= b)),
    "$startsWith": (
        is_text,
        lambda present, wanted: isinstance(present, str) and present.startswith(wanted),
    ),
    "$in": (is_list_of_scalars, _is_in),
    "$nin": (is_list_of_scalars, lambda present, wanted: not _is_in(present, wanted)),
    "$exists": (_is_truth, lambda present, wanted: (present is not None) == wanted),
}


def check(condition: Any, index: Index, *, enhanced: bool) -> None:
    """Raise ValidationException for a filter that S3 Vectors refuses on this index."""
    constraints = 0
    for key, operator, value in _conditions(condition):
        if key in index.non_filterable:
            raise VECTOR_FILTER_KEY.broken(key=key)
        if operator not in _OPERATORS:
            raise VECTOR_FILTER_OPERATOR.broken(operator=operator)
        if operator == "$startsWith" and not enhanced:
            raise VECTOR_FILTER_STARTS_WITH.broken()
        takes, _ = _OPERATORS[operator]
        if not takes(value):
            raise VECTOR_FILTER_VALUE.broken(operator=operator, key=key)
        constraints += len(value) if isinstance(value, list) else 1
    if constraints > VECTOR_FILTER_CONSTRAINTS.limit:
        raise VECTOR_FILTER_CONSTRAINTS.broken()


def keys_of(condition: Any) -> set[str]:
    """The metadata that a checked filter looks at."""
    return {key for key, _, _ in _conditions(condition)}


def compiled(condition: Filter) -> Callable[[Metadata], bool]:
    """Whether a vector's metadata satisfies a checked filter."""
    parts = [_part(name, operand) for name, operand in condition.items()]
    return parts[0] if len(parts) == 1 else lambda metadata: all(part(metadata) for part in parts)


def _part(name: str, operand: Any) -> Callable[[Metadata], bool]:
    if name in _GROUPS:
        members = [compiled(member) for member in operand]
        quantifier = all if name == "$and" else any
        return lambda metadata: quantifier(member(metadata) for member in members)
    tests = [(_OPERATORS[operator][1], value) for operator, value in _operations(operand)]
    return lambda metadata: all(test(metadata.get(name), value) for test, value in tests)


def _conditions(condition: Any) -> Iterator[tuple[str, str, Any]]:
    if not isinstance(condition, dict) or not condition:
        raise VECTOR_FILTER_SHAPE.broken()
    for name, operand in condition.items():
        if name in _GROUPS:
            if not isinstance(operand, list) or not operand:
                raise VECTOR_FILTER_SHAPE.broken()
            for member in operand:
                yield from _conditions(member)
        elif name.startswith("$"):
            raise VECTOR_FILTER_OPERATOR.broken(operator=name)
        else:
            for operator, value in _operations(operand):
                yield name, operator, value


def _operations(operand: Any) -> list[tuple[str, Any]]:
    """A value alone means `$eq`."""
    if not isinstance(operand, dict):
        return [("$eq", operand)]
    if not operand:
        raise VECTOR_FILTER_SHAPE.broken()
    return list(operand.items())
