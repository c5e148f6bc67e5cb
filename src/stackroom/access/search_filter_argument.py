"""
The `filter` argument of a caller: checked, and translated into a filter of the store.

It is only ever added to what the caller may see (access/tenancy.py), so it cannot widen that.
`conditions` parses it; `typed` checks it against the types of the attributes, so that a filter that
can't match is refused instead of returning nothing.
"""

import json
import math
import re
from collections.abc import Mapping

from stackroom.access.tenancy import CATALOG, STORE_PREFIX, USER
from stackroom.errors import ValidationError
from stackroom.model.attributes import (
    FOLDER,
    AttributeType,
    AttributeTypes,
    is_day,
    plain_folder,
    seconds_name,
    seconds_of,
)
from stackroom.model.filters import (
    AllOf,
    AnyOf,
    Compares,
    Comparison,
    Conditions,
    Exists,
    Filter,
    Has,
    Lists,
    Scalar,
    all_of,
    any_of,
    leaves,
)

# User and catalog are two conditions, and Bedrock documents five a group and five groups.
MAX_KEYS = 3
MAX_VALUES = 5
MAX_KEY_LENGTH = 100  # FilterKey in the API model of Bedrock's Retrieve
MAX_VALUE_LENGTH = 2048  # stringValue of a document's metadata, in the same model
OPERATORS = ("gte", "gt", "lte", "lt", "between", "in", "exists")

_LOWER = {"gte": Comparison.GREATER_OR_EQUAL, "gt": Comparison.GREATER}
_UPPER = {"lte": Comparison.LESS_OR_EQUAL, "lt": Comparison.LESS}
_SPELLED = {">=": "gte", ">": "gt", "<=": "lte", "<": "lt"}
# A text that is meant for a comparison; {"in": ["<10"]} asks for one that only looks like it.
_MEANT = re.compile(r"\s*(>=|<=|>|<|≥|≤)\s*[-+]?[0-9]")
_SECONDS_A_DAY = 86_400


def conditions(asked: object) -> Conditions:
    """
    Parse a caller's `filter` argument: all of its keys must match, each by any of its values or by
    an object of operators. Dates are texts here; `typed` turns them into numbers.

    Raises ValueError with a message for the caller.
    """
    if not isinstance(asked, Mapping):
        raise ValueError("must be an object of metadata keys and values")
    if len(asked) > MAX_KEYS:
        raise ValueError(f"names {len(asked)} keys, at most {MAX_KEYS} are possible")
    return tuple(_condition(_checked_key(key), value) for key, value in asked.items())


def _condition(key: str, asked: object) -> Filter:
    if isinstance(asked, Mapping):
        return _operated(key, asked)
    if isinstance(asked, str) and _MEANT.match(asked):
        return Compares(key, Comparison.GREATER_OR_EQUAL, _checked_value(key, asked))
    return _any_of(key, asked)


def _any_of(key: str, asked: object) -> Filter:
    values = asked if isinstance(asked, list | tuple) else [asked]
    if not 1 <= len(values) <= MAX_VALUES:
        raise ValueError(f"{key!r} has {len(values)} values, 1 to {MAX_VALUES} are possible")
    checked = [_checked_value(key, value) for value in values]
    # Compare types too, because True and 1 are equal here and different in a store.
    distinct = {(type(value), value): value for value in checked}.values()
    return any_of(Has(key, value) for value in distinct)


def _operated(key: str, asked: Mapping[object, object]) -> Filter:
    # A schema in OpenAI's strict mode has every operator, and null for those that aren't meant.
    given = {
        _SPELLED.get(str(name), str(name)): value
        for name, value in asked.items()
        if value is not None
    }
    if unknown := [name for name in given if name not in OPERATORS]:
        raise ValueError(
            f"{key!r} has the operator {unknown[0][:100]!r}, possible are {', '.join(OPERATORS)}"
        )
    if len(given) == 1 and "in" in given:
        return _any_of(key, given["in"])
    if len(given) == 1 and isinstance(is_there := given.get("exists"), bool):
        return Exists(key, is_there)
    if not given or "in" in given or "exists" in given:
        raise ValueError(
            f"{key!r} must have a bound or two, or in with a list, or exists with true or false"
        )
    return _range(key, given)


def _range(key: str, given: Mapping[str, object]) -> Filter:
    bounds = [(name, value) for name, value in given.items() if name != "between"]
    if "between" in given:
        between = given["between"]
        if not isinstance(between, list | tuple) or len(between) != 2:
            raise ValueError(f"{key!r} must have a list of two bounds in between")
        bounds += [("gte", between[0]), ("lte", between[1])]
    lower = [_bound(key, _LOWER[name], value) for name, value in bounds if name in _LOWER]
    upper = [_bound(key, _UPPER[name], value) for name, value in bounds if name in _UPPER]
    if len(lower) > 1 or len(upper) > 1:
        raise ValueError(f"{key!r} has two bounds on one side")
    return all_of([*lower, *upper])


def _bound(key: str, comparison: Comparison, value: object) -> Compares:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{key!r} must have bounds that are numbers or dates such as 2026-03-01")
    return Compares(key, comparison, _checked_value(key, value))


def _checked_key(key: object) -> str:
    if not isinstance(key, str) or not 1 <= len(key) <= MAX_KEY_LENGTH:
        raise ValueError(f"keys must be text of 1 to {MAX_KEY_LENGTH} characters")
    plain = key.strip().casefold()
    if plain in {USER, CATALOG} or plain.startswith(STORE_PREFIX):
        raise ValueError(
            f"may not name {key!r}: whose documents are searched follows from the signed-in user"
            " and the catalog_id argument"
        )
    return _encodable(key)


def _checked_value(key: str, value: object) -> Scalar:
    match value:
        case bool() | int():
            return value
        case float() if math.isfinite(value):
            return value
        case str() if 1 <= len(value) <= MAX_VALUE_LENGTH:
            return _encodable(value)
        case _:
            raise ValueError(
                f"{key!r} must be text of 1 to {MAX_VALUE_LENGTH} characters, a number,"
                f" true or false, or a list of at most {MAX_VALUES} of these"
            )


def _encodable(text: str) -> str:
    """Reject half a surrogate pair, which JSON can contain but no request to a store can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode text") from None
    return text


# The same, held against what is known of the attributes.

_NAMES = {
    AttributeType.TEXT: "a text",
    AttributeType.NUMBER: "a number",
    AttributeType.BOOLEAN: "true or false",
    AttributeType.DATE: "a date",
    AttributeType.LIST: "a list of texts",
}


def typed(asked: Conditions, types: AttributeTypes) -> Conditions:
    """
    Return the conditions as stores compare them: dates in seconds, folders as plain paths.

    Raises ValidationError, naming what is allowed, for a condition that no document can match by
    the type of the attribute. An attribute without a type here may be another owner's.
    """
    return tuple(_typed(each, types.get(key_of(each))) for each in asked)


def key_of(condition: Filter) -> str:
    """Return the one attribute that a caller's condition is on."""
    return next(leaves(condition)).key


def uncompared(asked: Filter, types: AttributeTypes) -> frozenset[AttributeType]:
    """Return the attribute types that some documents have and the condition can't compare."""
    return types.get(key_of(asked), frozenset()) - _kinds(asked)


def _typed(asked: Filter, known: frozenset[AttributeType] | None) -> Filter:
    key, kinds = key_of(asked), _kinds(asked)
    if not kinds & (known or frozenset(AttributeType)):
        raise ValidationError(f"filter: {_refusal(key, asked, known)}")
    if isinstance(asked, Exists):
        return asked
    if key == FOLDER:
        return _of_folders(asked)
    is_range = isinstance(next(leaves(asked)), Compares)
    if AttributeType.DATE in kinds and (is_range or known == frozenset({AttributeType.DATE})):
        asked = _dated(asked)
    if isinstance(asked, AllOf) and _is_empty(asked):
        raise ValidationError(f"filter: {key!r} has bounds with nothing between them")
    return asked


def _is_empty(asked: AllOf) -> bool:
    """Return True if nothing lies between the lower and the upper bound."""
    low, high = (each for each in leaves(asked) if isinstance(each, Compares))
    if not isinstance(low.value, int | float) or not isinstance(high.value, int | float):
        return False
    excludes = {low.comparison, high.comparison} & {Comparison.GREATER, Comparison.LESS}
    return low.value > high.value or (low.value == high.value and bool(excludes))


def _kinds(asked: Filter) -> frozenset[AttributeType]:
    """Return the types of attributes that can meet the condition."""
    match asked:
        case AnyOf(members):
            return frozenset[AttributeType]().union(*map(_kinds, members))
        case AllOf(members):
            return frozenset(AttributeType).intersection(*map(_kinds, members))
        case Exists():
            return frozenset(AttributeType)
        case Compares(_, _, value) | Has(_, value) | Lists(_, value):
            is_range = isinstance(asked, Compares)
    if isinstance(value, str):
        dates = {AttributeType.DATE} if seconds_of(value) is not None else set()
        return frozenset(dates if is_range else {AttributeType.TEXT, AttributeType.LIST, *dates})
    return frozenset({AttributeType.BOOLEAN if isinstance(value, bool) else AttributeType.NUMBER})


def _of_folders(asked: Filter) -> Filter:
    paths = [plain_folder(str(each.value)) for each in leaves(asked) if isinstance(each, Has)]
    if not all(paths):
        raise ValidationError(f"filter: {FOLDER!r} must name a folder, such as 2026/contracts")
    return any_of(Has(FOLDER, each) for each in paths)


def _dated(asked: Filter) -> Filter:
    """Return the condition in seconds; a date without a time means the whole day."""
    match asked:
        case Has(key, value):
            start, end = _day_of(str(value))
            seconds = seconds_name(key)
            if start == end:
                return Has(seconds, start)
            after, before = Comparison.GREATER_OR_EQUAL, Comparison.LESS
            return AllOf((Compares(seconds, after, start), Compares(seconds, before, end)))
        case Compares(key, comparison, value):
            start, end = _day_of(str(value))
            if start != end and comparison is Comparison.GREATER:
                comparison, start = Comparison.GREATER_OR_EQUAL, end
            elif start != end and comparison is Comparison.LESS_OR_EQUAL:
                comparison, start = Comparison.LESS, end
            return Compares(seconds_name(key), comparison, start)
        case AllOf(members):
            return AllOf(tuple(map(_dated, members)))
        case _:
            # Days are ranges, and Bedrock takes no group within a group within a group.
            raise ValidationError(
                f"filter: {key_of(asked)!r} is a date, of which one or a range can be asked."
                f" Allowed: {_forms(key_of(asked), AttributeType.DATE)}"
            )


def _day_of(text: str) -> tuple[int, int]:
    """Return the first second of a day and of the next; for a time, that second twice."""
    start = seconds_of(text)
    assert start is not None, "only what is a date is asked for in seconds"
    return start, start + (_SECONDS_A_DAY if is_day(text) else 0)


def _refusal(key: str, asked: Filter, known: frozenset[AttributeType] | None) -> str:
    if known is None:
        return (
            f"{key!r} has a bound that is neither a number nor a date such as 2026-03-01. Allowed:"
            f" {_forms(key, AttributeType.NUMBER)}"
        )
    kinds = sorted(known)
    is_range = isinstance(next(leaves(asked)), Compares)
    has_order = {AttributeType.NUMBER, AttributeType.DATE} & known
    message = f"{key!r} is {' or '.join(_NAMES[each] for each in kinds)} in your documents"
    if is_range and not has_order:
        message += (
            ", which has no order; upload it as a number or a date (x-amz-meta-kb-number-NAME,"
            " -kb-date-NAME) to ask for a range"
        )
    return f"{message}. Allowed: {'; '.join(_forms(key, each) for each in kinds)}"


def _forms(key: str, kind: AttributeType) -> str:
    """Return what a filter may demand of an attribute of this type, in JSON."""
    ranges = {AttributeType.NUMBER: (2025, 2026), AttributeType.DATE: ("2025-01-01", "2025-12-31")}
    values: dict[AttributeType, object] = {AttributeType.BOOLEAN: True}
    values |= {each: bounds[0] for each, bounds in ranges.items()}
    examples = [{key: values.get(kind, "...")}]
    if kind in ranges:
        examples += [{key: {"gte": ranges[kind][0]}}, {key: {"between": ranges[kind]}}]
    return ", ".join(json.dumps(each, ensure_ascii=False) for each in examples)
