"""
Conditions on attributes in OpenSearch's query language, and the conditions that it can't express.

All compare exact, whole values: https://docs.opensearch.org/latest/query-dsl/term/index/
"""

import re
from collections.abc import Mapping
from typing import Any

from stackroom.errors import SearchRefused
from stackroom.model.filters import (
    AllOf,
    AnyOf,
    Compares,
    Comparison,
    Exists,
    Filter,
    Has,
    Lists,
    Scalar,
    leaves,
)
from stackroom_stores.opensearch.index_layout import NUMBERS, Attribute

Rendered = dict[str, Any]

_KINDS = NUMBERS | {"boolean", "date", "keyword"}  # that are compared whole
_NOTHING: Rendered = {"match_none": {}}
_RANGES = {
    Comparison.GREATER: "gt",
    Comparison.GREATER_OR_EQUAL: "gte",
    Comparison.LESS: "lt",
    Comparison.LESS_OR_EQUAL: "lte",
}
_TEXTS = (Comparison.STARTS_WITH, Comparison.STRING_CONTAINS)


def rendered(condition: Filter, attributes: Mapping[str, Attribute]) -> Rendered:
    """
    Return a query for a condition, in an index that has these attributes.

    OpenSearch compares each element of a list, and can't tell a list of one from its element, so a
    `Lists` condition matches single texts, too. No document has an attribute that the index doesn't
    know, and none has a text where the index has numbers. Raises SearchRefused for a comparison
    that the index can't make.
    """
    check(condition)
    match condition:
        case Has(key, value) | Lists(key, value):
            return _had(key, attributes.get(key), value)
        case Exists(key, is_there):
            return _present(attributes.get(key), is_there=is_there)
        case Compares():
            return _compared(condition, attributes.get(condition.key))
        case AnyOf(choices):
            # A group of none, which OpenSearch would let all through.
            if not choices:
                return _NOTHING
            should = [rendered(choice, attributes) for choice in choices]
            return {"bool": {"should": should, "minimum_should_match": 1}}
        case AllOf(conditions):
            return {"bool": {"filter": [rendered(each, attributes) for each in conditions]}}


def check(condition: Filter) -> None:
    """Raise SearchRefused for a condition that no OpenSearch index can compare."""
    for each in leaves(condition):
        if isinstance(each, Compares):
            ordered, of_texts = each.comparison in _RANGES, each.comparison in _TEXTS
            if ordered and not _is_number(each.value):
                raise SearchRefused(
                    f"a filter on {each.key!r} with {each.comparison} needs a number"
                )
            if of_texts and not isinstance(each.value, str):
                raise SearchRefused(f"a filter on {each.key!r} with {each.comparison} needs a text")


def _had(key: str, attribute: Attribute | None, value: Scalar) -> Rendered:
    if attribute is None or (attribute.type in _KINDS and not _fits(attribute, value)):
        return _NOTHING
    return {"term": {_exact(key, attribute, value): value}}


def _present(attribute: Attribute | None, *, is_there: bool) -> Rendered:
    """Test whether a value exists for comparison; a text that is too long counts as absent."""
    if attribute is None:
        return _NOTHING if is_there else {"match_all": {}}
    found = {"exists": {"field": attribute.field}}
    return found if is_there else {"bool": {"must_not": [found]}}


def _compared(condition: Compares, attribute: Attribute | None) -> Rendered:
    comparison, value = condition.comparison, condition.value
    if comparison in (Comparison.NOT_EQUALS, Comparison.NOT_IN):
        return (
            {"bool": {"must_not": [_among(condition, attribute)]}}
            if attribute
            else {"match_all": {}}
        )
    if attribute is None:
        return _NOTHING
    if comparison is Comparison.IN:
        return _among(condition, attribute)
    if attribute.type not in (NUMBERS if comparison in _RANGES else ("keyword",)):
        raise _unfit(condition.key, attribute, comparison)
    if comparison in _RANGES:
        return {"range": {attribute.field: {_RANGES[comparison]: value}}}
    if comparison is Comparison.STARTS_WITH:
        return {"prefix": {attribute.field: {"value": value}}}
    literal = re.sub(r"([*?\\])", r"\\\1", str(value))
    return {"wildcard": {attribute.field: {"value": f"*{literal}*"}}}


def _among(condition: Compares, attribute: Attribute) -> Rendered:
    for each in condition.values:
        _exact(condition.key, attribute, each)
    return {"terms": {attribute.field: list(condition.values)}}


def _exact(key: str, attribute: Attribute, value: object) -> str:
    """Return the field to compare with. A value that OpenSearch would convert is refused."""
    if not _fits(attribute, value):
        raise _unfit(key, attribute, f"a value of type {type(value).__name__}")
    if isinstance(value, str) and len(value) > attribute.longest:
        raise SearchRefused(
            f"a filter on {key!r} with a text of {len(value)} characters, of which the index keeps"
            f" {attribute.longest}"
        )
    return attribute.field


def _fits(attribute: Attribute, value: object) -> bool:
    if attribute.type == "boolean":
        return isinstance(value, bool)
    if attribute.type in NUMBERS:
        return _is_number(value)
    return attribute.type in _KINDS and isinstance(value, str)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unfit(key: str, attribute: Attribute, comparison: str) -> SearchRefused:
    return SearchRefused(
        f"a filter on {key!r}, which the index holds as {attribute.type!r}, can't compare it"
        f" by {comparison}"
    )
