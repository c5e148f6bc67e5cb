"""
Conditional formats of an XLSX that hide cells: which cells they apply to [18.3.1.10, 18.3.1.18].

A formula that isn't understood here counts as true: what people may not see is no text.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Position = tuple[int, int]  # row and column, from 1
Value = float | str | bool | None  # of a cell; None where it is blank
Area = tuple[Position, Position]


class ErrorValue(str):
    """An error that a cell shows instead of a value, such as #N/A."""

    __slots__ = ()


_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_OPERATORS = {
    "equal": "=",
    "notEqual": "<>",
    "lessThan": "<",
    "greaterThan": ">",
    "lessThanOrEqual": "<=",
    "greaterThanOrEqual": ">=",
}
_COMPARISON = re.compile(r"([^<>=]+)(<=|>=|<>|=|<|>)([^<>=]+)")
CELL = re.compile(r"(\$?)([A-Z]{1,3})(\$?)(\d{1,7})")
_CALL = re.compile(r"([A-Z]+)\((.*)\)")
_TEXT_TESTS: dict[str, Callable[[str, str], bool]] = {
    "containsText": lambda text, sought: sought in text,
    "notContainsText": lambda text, sought: sought not in text,
    "beginsWith": lambda text, sought: text.startswith(sought),
    "endsWith": lambda text, sought: text.endswith(sought),
    "containsBlanks": lambda text, _: not text.strip(),
    "notContainsBlanks": lambda text, _: bool(text.strip()),
}
_FUNCTIONS: dict[str, Callable[[Value], Value]] = {
    "ISBLANK": lambda value: value is None,
    "ISERR": lambda value: isinstance(value, ErrorValue) and value != "#N/A",
    "ISERROR": lambda value: isinstance(value, ErrorValue),
    "ISNA": lambda value: value == "#N/A",
    "ISNUMBER": lambda value: isinstance(value, float),
    "ISTEXT": lambda value: isinstance(value, str) and not isinstance(value, ErrorValue),
    "LEN": lambda value: float(len(_text(value))),
    "NOT": lambda value: not value,
    "TRIM": lambda value: " ".join(_text(value).split()),
}


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A rule by which cells of some areas look as a differential style says."""

    areas: Sequence[Area]
    kind: str
    operator: str = ""
    text: str = ""
    style: int = 0
    formulas: list[str] = field(default_factory=list)

    def holds(self, at: Position, values: Mapping[Position, Value]) -> bool:
        """Return False if the rule doesn't apply to a cell, as far as it is understood."""
        try:
            return self._holds(at, values)
        except (LookupError, TypeError, ValueError):
            return True

    def _holds(self, at: Position, values: Mapping[Position, Value]) -> bool:
        value = values.get(at)
        if test := _TEXT_TESTS.get(self.kind):
            return test(_text(value).lower(), self.text.lower())
        if self.kind == "expression":
            return bool(self._value(self.formulas[0], at, values))
        if self.kind == "cellIs":
            bounds = [self._value(each, at, values) for each in self.formulas]
            if self.operator in {"between", "notBetween"}:
                is_between = _is(">=", value, bounds[0]) and _is("<=", value, bounds[1])
                return is_between == (self.operator == "between")
            return _is(_OPERATORS[self.operator], value, bounds[0])
        is_error = isinstance(value, ErrorValue)
        return {"containsErrors": is_error, "notContainsErrors": not is_error}[self.kind]

    def _value(self, formula: str, at: Position, values: Mapping[Position, Value]) -> Value:
        """Raises LookupError or ValueError for a formula that isn't understood."""
        formula = formula.strip().removeprefix("=").strip()
        if compared := _COMPARISON.fullmatch(formula):
            one, other = (self._value(each, at, values) for each in compared.group(1, 3))
            return _is(compared[2], one, other)
        if cell := CELL.fullmatch(formula):
            first = self.areas[0][0]
            column = column_number(cell[2]) + (0 if cell[1] else at[1] - first[1])
            return values.get((int(cell[4]) + (0 if cell[3] else at[0] - first[0]), column))
        if formula.removesuffix("()") in {"TRUE", "FALSE"}:
            return formula.startswith("TRUE")
        if call := _CALL.fullmatch(formula):
            return _FUNCTIONS[call[1]](self._value(call[2], at, values))
        if len(formula) > 1 and formula[0] == formula[-1] == '"' and '"' not in formula[1:-1]:
            return formula[1:-1]
        return float(formula)


def _text(value: Value) -> str:
    return f"{value:.15g}" if isinstance(value, float) else "" if value is None else str(value)


def _is(sign: str, one: Value, other: Value) -> bool:
    """
    Compare as Excel does: a blank cell is zero, or no text, each number is less than a text, and
    errors are like nothing.
    """
    if isinstance(one, ErrorValue) or isinstance(other, ErrorValue):
        return False
    if one is None or other is None:
        blank: Value = "" if isinstance(one, str) or isinstance(other, str) else 0.0
        one, other = (blank if each is None else each for each in (one, other))
    ranks = [isinstance(each, str) + 2 * isinstance(each, bool) for each in (one, other)]
    if ranks[0] != ranks[1]:
        return _COMPARED[sign](*ranks)
    return _COMPARED[sign](
        *(each.lower() if isinstance(each, str) else each for each in (one, other))
    )


def areas_of(references: str) -> list[Area]:
    """Return the areas of references such as "A1:B9 D4"."""
    found = list[Area]()
    for each in references.split():
        corners = [CELL.fullmatch(corner) for corner in each.split(":")]
        places = [(int(corner[4]), column_number(corner[2])) for corner in corners if corner]
        if places and len(places) == len(corners):
            found.append((places[0], places[-1]))
    return found


def column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number
