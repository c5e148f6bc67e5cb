"""
Conditions on a passage's attributes, independent of any vector store.

The shape is what the narrowest store takes. Bedrock documents at most 5 filters a group, 5 groups
and one level of nesting, and refuses a group of one:
https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

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
    What only whoever configures a knowledge base may demand; callers ask by `Has`.

    `value` is a tuple for IN and NOT_IN, of which one, or none, is to be met. The four that order
    are of numbers, STARTS_WITH and STRING_CONTAINS of texts. An attribute that is absent meets
    NOT_EQUALS and NOT_IN, and no other comparison; one that is a list meets what any of its
    elements meets, and NOT_EQUALS and NOT_IN if none of them is excluded.
    """

    key: str
    comparison: Comparison
    value: Scalar | tuple[Scalar, ...]


@dataclass(frozen=True)
class AnyOf:
    choices: "tuple[Filter, ...]"


@dataclass(frozen=True)
class AllOf:
    conditions: "tuple[Filter, ...]"


Filter = Has | Lists | Compares | AnyOf | AllOf
Conditions = tuple[Filter, ...]


def any_of(choices: Iterable[Filter]) -> Filter:
    """At least one of them; a single choice needs no group."""
    choices = tuple(choices)
    return choices[0] if len(choices) == 1 else AnyOf(choices)


def all_of(conditions: Iterable[Filter]) -> Filter:
    """Every one of them; a single condition needs no group."""
    conditions = tuple(conditions)
    return conditions[0] if len(conditions) == 1 else AllOf(conditions)
