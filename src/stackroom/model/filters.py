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
    """The attribute is this value, or a list with this value in it."""

    key: str
    value: Scalar


@dataclass(frozen=True)
class Lists:
    """The attribute is a list with this text in it; an attribute that is the text alone is none."""

    key: str
    value: str


@dataclass(frozen=True)
class Exists:
    """Documents have the attribute, whatever its value; or, unless `is_there`, they don't."""

    key: str
    is_there: bool


class Comparison(StrEnum):
    """In the words of Bedrock's RetrievalFilter."""

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
    A comparison other than `Has`; of these, callers ask for the four that order.

    `value` is a tuple for IN and NOT_IN, of which one, or none, is to be met. The four that order
    are of numbers, STARTS_WITH and STRING_CONTAINS of texts. An attribute that is absent meets
    NOT_EQUALS and NOT_IN, and no other comparison; one that is a list meets what any of its
    elements meets, and NOT_EQUALS and NOT_IN if none of them is excluded.
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
    """At least one of them; a single choice needs no group."""
    choices = tuple(choices)
    return choices[0] if len(choices) == 1 else AnyOf(choices)


def all_of(conditions: Iterable[Filter]) -> Filter:
    """Every one of them; a single condition needs no group."""
    conditions = tuple(conditions)
    return conditions[0] if len(conditions) == 1 else AllOf(conditions)


def leaves(condition: Filter) -> Iterator[Has | Lists | Exists | Compares]:
    """All that it says of single attributes, in whatever group that stands."""
    match condition:
        case AnyOf(members) | AllOf(members):
            for member in members:
                yield from leaves(member)
        case leaf:
            yield leaf


def is_met(condition: Filter, attributes: Mapping[str, object]) -> bool:
    """By what is known of a passage, whatever a store made of the condition."""
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
    """Of a list, or the one value that is there; none of an attribute that is absent."""
    present = attributes.get(key)
    if present is None:
        return []
    return present if isinstance(present, list) else [present]


def _is_among(value: Scalar, present: Iterable[object]) -> bool:
    """A truth value is no number, as Python would have it."""
    return any(
        each == value and isinstance(each, bool) == isinstance(value, bool) for each in present
    )
