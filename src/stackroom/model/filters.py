"""
Conditions on a passage's attributes, independent of any vector store.

The shape is what the narrowest store takes. Bedrock documents at most 5 filters a group, 5 groups
and one level of nesting, and refuses a group of one:
https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from operator import ge, gt, le, lt

Scalar = str | int | float | bool


@dataclass(frozen=True)
class Has:
    """The attribute equals the value, or is a list that contains it."""

    key: str
    value: Scalar


@dataclass(frozen=True)
class Lists:
    """The attribute is a list that contains the text; a single text does not match."""

    key: str
    value: str


@dataclass(frozen=True)
class Exists:
    """The attribute is present, whatever its value; or absent, if `is_there` is False."""

    key: str
    is_there: bool


class Comparison(StrEnum):
    """The operators, named as in Bedrock's RetrievalFilter."""

    NOT_EQUALS = "notEquals"
    GREATER = "greaterThan"
    GREATER_OR_EQUAL = "greaterThanOrEquals"
    LESS = "lessThan"
    LESS_OR_EQUAL = "lessThanOrEquals"
    IN = "in"
    NOT_IN = "notIn"
    STARTS_WITH = "startsWith"
    STRING_CONTAINS = "stringContains"


@dataclass(frozen=True)
class Compares:
    """
    A comparison other than `Has`. Callers may use the four that order values.

    `value` is a tuple for IN and NOT_IN, any or none of which must match. The four that order
    values compare numbers, STARTS_WITH and STRING_CONTAINS texts. An absent attribute meets only
    NOT_EQUALS and NOT_IN; a list meets what any of its elements meets, and NOT_EQUALS and NOT_IN if
    no element is excluded.
    """

    key: str
    comparison: Comparison
    value: Scalar | tuple[Scalar, ...]

    @property
    def values(self) -> tuple[Scalar, ...]:
        return self.value if isinstance(self.value, tuple) else (self.value,)


@dataclass(frozen=True)
class AnyOf:
    choices: "tuple[Filter, ...]"


@dataclass(frozen=True)
class AllOf:
    conditions: "tuple[Filter, ...]"


Filter = Has | Lists | Exists | Compares | AnyOf | AllOf
Conditions = tuple[Filter, ...]


def any_of(choices: Iterable[Filter]) -> Filter:
    """Return a filter that needs one of the choices; a single choice needs no group."""
    choices = tuple(choices)
    return choices[0] if len(choices) == 1 else AnyOf(choices)


def all_of(conditions: Iterable[Filter]) -> Filter:
    """Return a filter that needs all conditions; a single condition needs no group."""
    conditions = tuple(conditions)
    return conditions[0] if len(conditions) == 1 else AllOf(conditions)


def leaves(condition: Filter) -> Iterator[Has | Lists | Exists | Compares]:
    """Yield the conditions on single attributes, in whatever groups they are."""
    match condition:
        case AnyOf(members) | AllOf(members):
            for member in members:
                yield from leaves(member)
        case leaf:
            yield leaf


def is_met(condition: Filter, attributes: Mapping[str, object]) -> bool:
    """Return True if the attributes meet the condition, whatever a store made of it."""
    match condition:
        case Has(key, value):
            return _is_among(value, _elements(attributes, key))
        case Lists(key, value):
            listed = attributes.get(key)
            return isinstance(listed, list) and _is_among(value, listed)
        case Exists(key, is_there):
            return (attributes.get(key) is not None) == is_there
        case Compares():
            return _is_right(_elements(attributes, condition.key), condition)
        case AnyOf(choices):
            return any(is_met(choice, attributes) for choice in choices)
        case AllOf(conditions):
            return all(is_met(member, attributes) for member in conditions)


_ORDERS: Mapping[Comparison, Callable[[float, float], bool]] = {
    Comparison.GREATER: gt,
    Comparison.GREATER_OR_EQUAL: ge,
    Comparison.LESS: lt,
    Comparison.LESS_OR_EQUAL: le,
}


def _is_right(present: list[object], condition: Compares) -> bool:
    comparison, value = condition.comparison, condition.value
    if comparison in (Comparison.NOT_EQUALS, Comparison.NOT_IN):
        return not any(_is_among(each, present) for each in condition.values)
    if comparison is Comparison.IN:
        return any(_is_among(each, present) for each in condition.values)
    texts = [each for each in present if isinstance(each, str)]
    if comparison is Comparison.STARTS_WITH:
        return any(each.startswith(str(value)) for each in texts)
    if comparison is Comparison.STRING_CONTAINS:
        return any(str(value) in each for each in texts)
    numbers = [each for each in present if isinstance(each, int | float)]
    order = _ORDERS[comparison]
    return isinstance(value, int | float) and any(
        order(each, value) for each in numbers if not isinstance(each, bool)
    )


def _elements(attributes: Mapping[str, object], key: str) -> list[object]:
    """Return the elements of a list, or the single value; nothing for an absent attribute."""
    present = attributes.get(key)
    if present is None:
        return []
    return present if isinstance(present, list) else [present]


def _is_among(value: Scalar, present: Iterable[object]) -> bool:
    """Return True if the value is present. Unlike in Python, a boolean is not a number."""
    return any(
        each == value and isinstance(each, bool) == isinstance(value, bool) for each in present
    )
