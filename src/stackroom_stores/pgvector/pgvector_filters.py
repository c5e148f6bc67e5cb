"""
Conditions on attributes as SQL over a jsonb column; all keys and values are parameters.

`x @> y` of jsonb is true if x is y, or a list with y in it, where y is a text, a number or a truth
value. https://www.postgresql.org/docs/current/datatype-json.html#JSON-CONTAINMENT
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from psycopg.sql import SQL, Composable, Placeholder
from psycopg.types.json import Jsonb

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
)

_ORDERS = {
    Comparison.GREATER: SQL("jsonb_path_exists({attribute}, '$[*] ? (@ > $than)', {value})"),
    Comparison.GREATER_OR_EQUAL: SQL(
        "jsonb_path_exists({attribute}, '$[*] ? (@ >= $than)', {value})"
    ),
    Comparison.LESS: SQL("jsonb_path_exists({attribute}, '$[*] ? (@ < $than)', {value})"),
    Comparison.LESS_OR_EQUAL: SQL("jsonb_path_exists({attribute}, '$[*] ? (@ <= $than)', {value})"),
}
_TEXTS = {
    Comparison.STARTS_WITH: SQL("starts_with(each #>> '{{}}', {value})"),
    Comparison.STRING_CONTAINS: SQL("strpos(each #>> '{{}}', {value}) > 0"),
}


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A condition of a WHERE clause, and the values of its parameters."""

    sql: Composable
    values: dict[str, object]


def rendered(condition: Filter | None, *, owner_key: str | None = None) -> Condition:
    """
    Return a condition over the column `attributes`.

    The attribute `owner_key` is the column `user_id`, whatever the attributes have under that name.
    Raises SearchRefused for a condition that SQL can't express; it is never widened.
    """
    rendering = _Rendering(owner_key=owner_key)
    sql = SQL("true") if condition is None else rendering.of(condition)
    return Condition(sql=sql, values=rendering.values)


@dataclass(kw_only=True)
class _Rendering:
    owner_key: str | None
    values: dict[str, object] = field(default_factory=dict)

    def of(self, condition: Filter) -> Composable:
        match condition:
            case Has(key, value):
                return self._is(key, value)
            case Lists(key, value):
                listed = SQL("(jsonb_typeof({attribute}) = 'array' AND {has})")
                return listed.format(attribute=self._attribute(key), has=self._is(key, value))
            case Exists(key, is_there):
                found = SQL("coalesce(jsonb_typeof({}), 'null') {} 'null'")
                return found.format(self._attribute(key), SQL("<>" if is_there else "="))
            case Compares():
                return self._compared(condition)
            case AnyOf(choices):
                return _joined(" OR ", map(self.of, choices), if_none="false")
            case AllOf(conditions):
                return _joined(" AND ", map(self.of, conditions), if_none="true")

    def _compared(self, condition: Compares) -> Composable:
        key, comparison = condition.key, condition.comparison
        match comparison:
            case Comparison.IN:
                return self._is_one(key, condition.values)
            case Comparison.NOT_IN | Comparison.NOT_EQUALS:
                # An attribute that is absent makes it null, and what is demanded is true.
                excluded = self._is_one(key, condition.values)
                return SQL("NOT coalesce({}, false)").format(excluded)
            case Comparison.STARTS_WITH | Comparison.STRING_CONTAINS:
                text = condition.value
                if not isinstance(text, str):
                    raise SearchRefused(f"a filter with {comparison} of what is no text")
                elements = SQL(
                    "EXISTS (SELECT FROM jsonb_path_query({attribute}, '$[*]') AS each"
                    " WHERE jsonb_typeof(each) = 'string' AND {holds})"
                )
                holds = _TEXTS[comparison].format(value=self._parameter(_storable(text)))
                return elements.format(attribute=self._attribute(key), holds=holds)
            case _:
                than = condition.value
                if isinstance(than, bool) or not isinstance(than, int | float):
                    raise SearchRefused(f"a filter with {comparison} of what is no number")
                value = self._parameter(Jsonb({"than": _storable(than)}))
                return _ORDERS[comparison].format(attribute=self._attribute(key), value=value)

    def _is(self, key: str, value: Scalar) -> Composable:
        if key == self.owner_key and isinstance(value, str):
            return SQL("user_id = {}").format(self._parameter(_storable(value)))
        return SQL("{attribute} @> {value}").format(
            attribute=self._attribute(key), value=self._parameter(Jsonb(_storable(value)))
        )

    def _is_one(self, key: str, values: Iterable[Scalar]) -> Composable:
        return _joined(" OR ", (self._is(key, value) for value in values), if_none="false")

    def _attribute(self, key: str) -> Composable:
        if key == self.owner_key:
            return SQL("to_jsonb(user_id)")
        return SQL("(attributes -> {})").format(self._parameter(_storable(key)))

    def _parameter(self, value: object) -> Composable:
        name = f"filter_{len(self.values)}"
        self.values[name] = value
        # PostgreSQL can't tell the type of a parameter in every place.
        return SQL("{}::{}").format(
            Placeholder(name), SQL("jsonb" if isinstance(value, Jsonb) else "text")
        )


def _joined(word: str, members: Iterable[Composable], *, if_none: str) -> Composable:
    members = list(members)
    if not members:
        return SQL(if_none)
    return SQL("({})").format(SQL(word).join(members))


def _storable(value: Scalar) -> Scalar:
    """Raise SearchRefused for a value that PostgreSQL can't store, which no document can have."""
    if isinstance(value, str):
        if "\x00" in value:
            raise SearchRefused("a filter with a null character")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise SearchRefused("a filter with what is no Unicode text") from None
    elif isinstance(value, float) and not math.isfinite(value):
        raise SearchRefused("a filter with a number that is not finite")
    return value
