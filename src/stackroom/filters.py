"""
Conditions on a passage's attributes, independent of any vector store.

The shape is what the narrowest store takes. Bedrock documents at most 5 filters a group, 5 groups
and one level of nesting, and refuses a group of one:
https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html
"""

from collections.abc import Iterable
from dataclasses import dataclass

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
class AnyOf:
    choices: tuple[Has | Lists, ...]


Condition = Has | Lists | AnyOf
Conditions = tuple[Condition, ...]


@dataclass(frozen=True)
class AllOf:
    conditions: Conditions


Filter = Condition | AllOf


def any_of(choices: Iterable[Has | Lists]) -> Condition:
    """At least one of them; a single choice needs no group."""
    choices = tuple(choices)
    return choices[0] if len(choices) == 1 else AnyOf(choices)


def all_of(conditions: Iterable[Condition]) -> Filter:
    """Every one of them; a single condition needs no group."""
    conditions = tuple(conditions)
    return conditions[0] if len(conditions) == 1 else AllOf(conditions)
