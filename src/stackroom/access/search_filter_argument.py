"""
Check a caller's `filter` argument, and translate it into a filter for the store.

It is only ever added to what the caller may see (access/tenancy.py), so it cannot widen that.
`conditions` parses it; `resolve_types` checks it against the attributes' types, so that a filter
that can't match is refused instead of returning nothing.
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
    seconds_of,
    timestamp_attribute,
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
_SYMBOLS = {">=": "gte", ">": "gt", "<=": "lte", "<": "lt"}
# Text that is meant as a comparison. {"in": ["<10"]} matches the literal text instead.
_COMPARISON_TEXT = re.compile(r"\s*(>=|<=|>|<|≥|≤)\s*[-+]?[0-9]")
_SECONDS_A_DAY = 86_400


def conditions(filter_argument: object) -> Conditions:
    """
    Parse a caller's `filter` argument: all of its keys must match, each by any of its values or by
    an object of operators. Dates are texts here; `resolve_types` turns them into numbers.

    Raises ValueError with a message for the caller.
    """
    if not isinstance(filter_argument, Mapping):
        raise ValueError("must be an object of metadata keys and values")
    if len(filter_argument) > MAX_KEYS:
        raise ValueError(f"names {len(filter_argument)} keys, at most {MAX_KEYS} are possible")
    return tuple(_condition(_checked_key(key), value) for key, value in filter_argument.items())


def _condition(key: str, value: object) -> Filter:
    if isinstance(value, Mapping):
        return _parse_operators(key, value)
    if isinstance(value, str) and _COMPARISON_TEXT.match(value):
        return Compares(key, Comparison.GREATER_OR_EQUAL, _checked_value(key, value))
    return _any_of(key, value)


def _any_of(key: str, value: object) -> Filter:
    values = value if isinstance(value, list | tuple) else [value]
    if not 1 <= len(values) <= MAX_VALUES:
        raise ValueError(f"{key!r} has {len(values)} values, 1 to {MAX_VALUES} are possible")
    checked = [_checked_value(key, each) for each in values]
    # Compare types too, because True and 1 are equal here and different in a store.
    distinct = {(type(each), each): each for each in checked}.values()
    return any_of(Has(key, each) for each in distinct)


def _parse_operators(key: str, value: Mapping[object, object]) -> Filter:
    # In OpenAI's strict mode, callers send every operator, with null for those they don't use.
    operators = {
        _SYMBOLS.get(str(name), str(name)): bound
        for name, bound in value.items()
        if bound is not None
    }
    if unknown := [name for name in operators if name not in OPERATORS]:
        raise ValueError(
            f"{key!r} has the operator {unknown[0][:100]!r}, possible are {', '.join(OPERATORS)}"
        )
    if len(operators) == 1 and "in" in operators:
        return _any_of(key, operators["in"])
    if len(operators) == 1 and isinstance(exists := operators.get("exists"), bool):
        return Exists(key, exists)
    if not operators or "in" in operators or "exists" in operators:
        raise ValueError(
            f"{key!r} must have a bound or two, or in with a list, or exists with true or false"
        )
    return _range(key, operators)


def _range(key: str, operators: Mapping[str, object]) -> Filter:
    bounds = [(name, value) for name, value in operators.items() if name != "between"]
    if "between" in operators:
        between = operators["between"]
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


# The conditions, checked against the attributes' types.

_NAMES = {
    AttributeType.TEXT: "a text",
    AttributeType.NUMBER: "a number",
    AttributeType.BOOLEAN: "true or false",
    AttributeType.DATE: "a date",
    AttributeType.LIST: "a list of texts",
}


def resolve_types(requested: Conditions, types: AttributeTypes) -> Conditions:
    """
    Return the conditions as stores compare them: dates in seconds, folders as plain paths.

    Raises ValidationError, naming what is allowed, for a condition that no document can match
    because of the attribute's type. An attribute without a type here may be another owner's.
    """
    return tuple(_resolve_type(each, types.get(key_of(each))) for each in requested)


def key_of(condition: Filter) -> str:
    """Return the one attribute that a caller's condition names."""
    return next(leaves(condition)).key


def unsupported_types(condition: Filter, types: AttributeTypes) -> frozenset[AttributeType]:
    """Return the attribute types that some documents have and the condition can't compare."""
    return types.get(key_of(condition), frozenset()) - _kinds(condition)


def _resolve_type(condition: Filter, known: frozenset[AttributeType] | None) -> Filter:
    key, kinds = key_of(condition), _kinds(condition)
    if not kinds & (known or frozenset(AttributeType)):
        raise ValidationError(f"filter: {_refusal(key, condition, known)}")
    if isinstance(condition, Exists):
        return condition
    if key == FOLDER:
        return _folder_condition(condition)
    is_range = isinstance(next(leaves(condition)), Compares)
    if AttributeType.DATE in kinds and (is_range or known == frozenset({AttributeType.DATE})):
        condition = _dates_to_seconds(condition)
    if isinstance(condition, AllOf) and _is_empty(condition):
        raise ValidationError(f"filter: {key!r} has bounds with nothing between them")
    return condition


def _is_empty(condition: AllOf) -> bool:
    """Return True if no value is between the lower and the upper bound."""
    low, high = (each for each in leaves(condition) if isinstance(each, Compares))
    if not isinstance(low.value, int | float) or not isinstance(high.value, int | float):
        return False
    excludes = {low.comparison, high.comparison} & {Comparison.GREATER, Comparison.LESS}
    return low.value > high.value or (low.value == high.value and bool(excludes))


def _kinds(condition: Filter) -> frozenset[AttributeType]:
    """Return the types of attributes that can meet the condition."""
    match condition:
        case AnyOf(members):
            return frozenset[AttributeType]().union(*map(_kinds, members))
        case AllOf(members):
            return frozenset(AttributeType).intersection(*map(_kinds, members))
        case Exists():
            return frozenset(AttributeType)
        case Compares(_, _, value) | Has(_, value) | Lists(_, value):
            is_range = isinstance(condition, Compares)
    if isinstance(value, str):
        dates = {AttributeType.DATE} if seconds_of(value) is not None else set()
        return frozenset(dates if is_range else {AttributeType.TEXT, AttributeType.LIST, *dates})
    return frozenset({AttributeType.BOOLEAN if isinstance(value, bool) else AttributeType.NUMBER})


def _folder_condition(condition: Filter) -> Filter:
    paths = [plain_folder(str(each.value)) for each in leaves(condition) if isinstance(each, Has)]
    if not all(paths):
        raise ValidationError(f"filter: {FOLDER!r} must name a folder, such as 2026/contracts")
    return any_of(Has(FOLDER, each) for each in paths)


def _dates_to_seconds(condition: Filter) -> Filter:
    """Return the condition in seconds; a date without a time means the whole day."""
    match condition:
        case Has(key, value):
            start, end = _day_of(str(value))
            seconds = timestamp_attribute(key)
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
            return Compares(timestamp_attribute(key), comparison, start)
        case AllOf(members):
            return AllOf(tuple(map(_dates_to_seconds, members)))
        case _:
            # Days are ranges, and Bedrock doesn't accept groups nested three deep.
            raise ValidationError(
                f"filter: {key_of(condition)!r} is a date, of which one or a range can be asked."
                f" Allowed: {_forms(key_of(condition), AttributeType.DATE)}"
            )


def _day_of(text: str) -> tuple[int, int]:
    """Return the first second of a day and of the next; for a time, that second twice."""
    start = seconds_of(text)
    assert start is not None, "only dates are converted to seconds"
    return start, start + (_SECONDS_A_DAY if is_day(text) else 0)


def _refusal(key: str, condition: Filter, known: frozenset[AttributeType] | None) -> str:
    if known is None:
        return (
            f"{key!r} has a bound that is neither a number nor a date such as 2026-03-01. Allowed:"
            f" {_forms(key, AttributeType.NUMBER)}"
        )
    kinds = sorted(known)
    is_range = isinstance(next(leaves(condition)), Compares)
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
