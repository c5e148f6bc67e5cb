"""
Format numbers as a spreadsheet shows them, by the codes of ECMA-376, part 1, 18.8.30 and 18.8.31.

They appear as in English Excel, with two exceptions: dates that follow the reader's own settings
are written as 2026-03-01, and long whole numbers without a format of theirs keep all their digits.
"""

import re
from calendar import day_name, month_name
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache

_GENERAL = "General"
_ISO, _ISO_TIME = "yyyy-mm-dd", "yyyy-mm-dd hh:mm"
# Those that a file refers to by number alone [18.8.30]; 14 and 22, and those of East Asia, are
# other ones in every country.
BUILT_IN = {
    0: _GENERAL,
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    14: _ISO,
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: _ISO_TIME,
    **dict.fromkeys((5, 6), '"$"#,##0;\\("$"#,##0\\)'),
    **dict.fromkeys((7, 8), '"$"#,##0.00;\\("$"#,##0.00\\)'),
    **dict.fromkeys((37, 38), "#,##0;\\(#,##0\\)"),
    **dict.fromkeys((39, 40), "#,##0.00;\\(#,##0.00\\)"),
    41: '#,##0;\\(#,##0\\);"-"',
    42: '"$"#,##0;"$"\\(#,##0\\);"$-"',
    43: '#,##0.00;\\(#,##0.00\\);"-"',
    44: '"$"#,##0.00;"$"\\(#,##0.00\\);"$-"',
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss.0",
    48: "##0.0E+0",
    49: "@",
    **dict.fromkeys((*range(27, 32), 36, *range(50, 55), 57, 58), _ISO),
    **dict.fromkeys((32, 34, 55), "h:mm"),
    **dict.fromkeys((33, 35, 56), "h:mm:ss"),
}

_LONGEST_CODE = 1_000  # characters; Excel takes 255
_MAX_DIGITS = 8  # behind the point
_MOST = 1e19  # what a code is applied to, with room for its digits within those of a decimal
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|[_*].|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>general)|(?P<noon>am/pm|a/p)|(?P<exponent>e[+-])"
    r"|(?P<date>y+|m+|d+|h+|s+|e+|g+|b+)|(?P<place>[0#?])|(?P<sign>[.,%/;@])|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
_FRACTION = re.compile(r"(?P<whole>[#0?]+[^#0?/]+)?[#0?]+\s*/\s*(?P<below>[#?]+|[0-9]+)")
_DAY_SECONDS = 86_400
_LAST_DAY = 2_958_465  # 31 December 9999
_DAYS_TO_1904 = 1_462

_Calendar = tuple[int, int, int, int]  # year, month, day, weekday


@dataclass(frozen=True)
class _Token:
    kind: str  # literal, general, noon, exponent, date, elapsed, place, sign, condition
    text: str


@lru_cache(1_000)
def number_format(code: str) -> Callable[[float | str, bool], str]:
    """Return what shows a number, or a text, by the code; True means days counted from 1904."""
    sections = _sections(code) if len(code) <= _LONGEST_CODE else []
    numbers = [each for each in sections[:3] if _Token("sign", "@") not in each]
    conditions = [[token.text for token in each if token.kind == "condition"] for each in numbers]
    shows = [_shows(each) for each in numbers]

    def show(value: float | str, from_1904: bool = False) -> str:
        if isinstance(value, str):
            return _text(sections, value)
        number = _choose(conditions, value)
        if number is None or abs(value) > _MOST:
            return general(value)
        is_negative = number == 1 and value < 0 and not any(conditions)
        return shows[number](-value if is_negative else value, from_1904)

    return show


def _shows(section: Sequence[_Token]) -> Callable[[float, bool], str]:
    kinds = {token.kind for token in section}
    if kinds & {"date", "elapsed", "noon"}:
        return _dates(section)
    if _Token("sign", "/") in section and "place" in kinds:
        return lambda value, _: _fraction(section, value)
    layout = _Layout(section)
    if "exponent" in kinds:
        return lambda value, _: _signed(value, layout, _scientific(section, layout.amount(value)))
    return lambda value, _: _signed(value, layout, layout.shown(layout.amount(value)))


def general(value: float) -> str:
    """Return a number without noise: ten digits, or all of a whole one."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    if len(short := repr(value)) < 12 and "e" not in short:
        return short
    size = abs(value)
    if 1e-4 <= size < 1e11:
        return f"{value:.{9 if size < 1 else 10 - len(str(int(size)))}f}".rstrip("0").rstrip(".")
    mantissa, exponent = f"{value:.5E}".split("E")
    return f"{mantissa.rstrip('0').rstrip('.')}E{exponent}"


# What a code consists of.


def _sections(code: str) -> list[list[_Token]]:
    found: list[list[_Token]] = [[]]
    for token in _tokens(code):
        if token == _Token("sign", ";"):
            found.append([])
        else:
            found[-1].append(token)
    return found[:4]


def _tokens(code: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(code):
        kind, text = match.lastgroup, match[match.lastgroup or 0]
        if kind == "bracket":
            yield from _bracket(text)
        elif kind in {"quoted", "escaped", "other"}:
            yield _Token("literal", text)
        elif kind:
            yield _Token(kind, text.lower())


def _bracket(text: str) -> Iterator[_Token]:
    """A currency, a condition, or a time that goes beyond its day; colours and languages aren't."""
    if text.startswith("$"):
        yield _Token("literal", text[1:].partition("-")[0])
    elif _ELAPSED.fullmatch(text):
        yield _Token("elapsed", text.lower())
    elif _CONDITION.fullmatch(text):
        yield _Token("condition", text)


def _text(sections: Sequence[Sequence[_Token]], value: str) -> str:
    last = sections[-1] if sections else []
    if len(sections) < 4 and _Token("sign", "@") not in last:
        return value
    return "".join(
        value if token.text == "@" and token.kind == "sign" else token.text
        for token in last
        if token.kind in {"literal", "sign"}
    )


def _choose(conditions: Sequence[Sequence[str]], value: float) -> int | None:
    """Return which of the sections for numbers shows it, None for none."""
    for number, condition in enumerate(conditions):
        if condition and _holds(condition[0], value):
            return number
    free = [number for number, condition in enumerate(conditions) if not condition]
    if not free or len(free) < len(conditions):
        return free[-1] if free else None
    if value < 0 and len(free) > 1:
        return 1
    return 2 if not value and len(free) > 2 else 0


def _holds(condition: str, value: float) -> bool:
    match = _CONDITION.fullmatch(condition)
    assert match is not None, "other brackets are no conditions"
    bound = float(match[2])
    return {
        "<": value < bound,
        ">": value > bound,
        "=": value == bound,
        "<=": value <= bound,
        ">=": value >= bound,
        "<>": value != bound,
    }[match[1]]


# Numbers.


class _Layout:
    """The places of digits, points and signs in the section of a format that shows a number."""

    def __init__(self, section: Sequence[_Token]) -> None:
        self.section = section
        points = [at for at, token in enumerate(section) if token == _Token("sign", ".")]
        self.point = points[0] if points else len(section)
        places = [at for at, token in enumerate(section) if token.kind == "place"]
        self.wholes = {at: number for number, at in enumerate(p for p in places if p < self.point)}
        after = [at for at in places if at > self.point][:_MAX_DIGITS]
        self.decimals = {at: number for number, at in enumerate(after)}
        last = max(self.wholes, default=-1)
        commas = [at for at, token in enumerate(section) if token == _Token("sign", ",")]
        # Those behind the last place scale; others group.
        self.is_grouped = any(at < last for at in commas)
        thousands = sum(at > last for at in commas)
        percents = sum(token.text == "%" for token in section)
        self.scale = Decimal(100) ** percents / Decimal(1_000) ** thousands
        self.unit = Decimal(1).scaleb(-len(after))
        self.has_places = bool(places)
        # "#,##0.00" between two texts is what nearly all are, and is written in one go.
        codes = "".join(section[at].text for at in places)
        low, high = min(places, default=0), max(places, default=-1)
        self.is_plain = re.fullmatch(r"#*0+", codes[: len(self.wholes)]) is not None and (
            codes[: len(self.wholes)].count("0") == 1
            and set(codes[len(self.wholes) :]) <= {"0"}
            and all(t.kind in {"place", "sign"} for t in section[low : high + 1])
        )
        self.before, self.behind = _literals(section[:low]), _literals(section[high + 1 :])

    def amount(self, value: float) -> Decimal:
        return abs(Decimal(f"{value:.15g}")) * self.scale

    def shown(self, amount: Decimal) -> str:
        if not self.is_plain:
            return "".join(self._digits(amount))
        rounded = amount.quantize(self.unit, ROUND_HALF_UP)
        return f"{self.before}{rounded:{',' if self.is_grouped else ''}f}{self.behind}"

    def _digits(self, amount: Decimal) -> Iterator[str]:
        """Put a number's digits where the section has places for them, the last at the last."""
        rounded = amount.quantize(self.unit, ROUND_HALF_UP)
        whole, _, fraction = f"{rounded:f}".partition(".")
        whole = whole.lstrip("0")
        kept = len(fraction.rstrip("0"))
        for at, token in enumerate(self.section):
            if token.kind == "general":
                yield general(float(amount))
            elif at in self.wholes:
                place = self.wholes[at]
                right = len(self.wholes) - place
                yield _whole(token.text, whole, right, place == 0, self.is_grouped)
            elif at == self.point:
                yield ("" if self.wholes else whole) + "."
            elif at in self.decimals:
                number = self.decimals[at]
                yield fraction[number] if number < kept or token.text == "0" else ""
            else:
                yield _literals([token])


def _literals(tokens: Iterable[_Token]) -> str:
    return "".join(t.text for t in tokens if t.kind == "literal" or t.text in {"%", "/"})


def _signed(value: float, layout: _Layout, shown: str) -> str:
    shown = shown.strip()
    is_negative = value < 0 and (not layout.has_places or any(map(shown.count, "123456789")))
    return f"-{shown}" if is_negative else shown


def _whole(place: str, digits: str, right: int, is_first: bool, is_grouped: bool) -> str:
    """Return what stands at a place that is so many from the right; all before it at the first."""
    end = max(0, len(digits) - right + 1)
    found = digits[0 if is_first else max(0, end - 1) : end]
    if not found:
        found = {"0": "0", "?": " ", "#": ""}[place]
    if not is_grouped or not found.strip():
        return found
    start = right + len(found) - 1
    return "".join(
        digit + ("," if (start - at) % 3 == 1 and start - at > 1 else "")
        for at, digit in enumerate(found)
    )


def _scientific(section: Sequence[_Token], amount: Decimal) -> str:
    at = next(at for at, token in enumerate(section) if token.kind == "exponent")
    mantissa, after = section[:at], section[at + 1 :]
    point = next((n for n, token in enumerate(mantissa) if token.text == "."), len(mantissa))
    wholes = max(1, sum(token.kind == "place" for token in mantissa[:point]))
    decimals = sum(token.kind == "place" for token in mantissa[point:])
    exponent = amount.adjusted() // wholes * wholes if amount else 0
    # Rounded before it is told: 9.999 is 1.00E+01.
    scaled = round(amount.scaleb(-exponent), decimals)
    if scaled.adjusted() >= wholes:
        exponent += wholes
    width = sum(token.kind == "place" for token in after)
    sign = "-" if exponent < 0 else "+" if section[at].text.endswith("+") else ""
    rest = "".join(token.text for token in after if token.kind == "literal")
    shown = _Layout(mantissa).shown(amount.scaleb(-exponent))
    return f"{shown}E{sign}{abs(exponent):0{width}d}{rest}"


def _fraction(section: Sequence[_Token], value: float) -> str:
    code = "".join(t.text if t.kind in {"place", "sign", "literal"} else "" for t in section)
    found = _FRACTION.search(code)
    if found is None:
        return general(value)
    amount, least = abs(Fraction(f"{value:.15g}")), found["below"]
    whole = int(amount) if found["whole"] else 0
    if least.isdecimal() and int(least):
        below = int(least)
        above = round((amount - whole) * below)
    else:
        above, below = (amount - whole).limit_denominator(10 ** len(least) - 1).as_integer_ratio()
    if found["whole"] and above == below:
        whole, above = whole + 1, 0
    parts = [str(whole)] * (whole > 0 or not above) if found["whole"] else []
    parts += [f"{above}/{below}"] * (above > 0 or not found["whole"])
    shown = f"{code[: found.start()]}{' '.join(parts)}{code[found.end() :]}".strip()
    return f"-{shown}" if value < 0 and (whole or above) else shown


# Dates and times.


def _dates(section: Sequence[_Token]) -> Callable[[float, bool], str]:
    parts = [
        replace(token, kind="minute")
        if token.kind == "date" and token.text in {"m", "mm"} and _is_minute(section, at)
        else token
        for at, token in enumerate(section)
        if token.kind != "condition" and token.text != "@"
    ]
    has_noon = any(token.kind == "noon" for token in section)
    is_counted = any(token.kind == "elapsed" for token in section)
    tenths = _tenths(section)

    @lru_cache(1_000)
    def show(value: float, from_1904: bool) -> str:
        days = value + (_DAYS_TO_1904 if from_1904 else 0)
        if not 0 <= days <= _LAST_DAY + 1 and not is_counted:
            return general(value)
        seconds, tick = divmod(round(abs(days) * _DAY_SECONDS * 10**tenths), 10**tenths)
        after = iter(f"{tick:0{tenths}d}")
        calendar = _calendar(seconds // _DAY_SECONDS)
        shown = (_part(each, seconds, calendar, after, has_noon=has_noon) for each in parts)
        return ("-" if days < 0 else "") + "".join(shown).strip()

    return show


def _tenths(section: Sequence[_Token]) -> int:
    """Return how many digits of a second are shown."""
    points = [at for at, token in enumerate(section) if token == _Token("sign", ".")]
    places = (token for token in section[points[-1] if points else len(section) :])
    return min(sum(token.kind == "place" for token in places), 3)


def _is_minute(section: Sequence[_Token], at: int) -> bool:
    def unit(tokens: Sequence[_Token]) -> str:
        return next((each.text[0] for each in tokens if each.kind in {"date", "elapsed"}), "")

    return unit(section[:at][::-1]) == "h" or unit(section[at + 1 :]) == "s"


def _part(
    token: _Token, seconds: int, calendar: _Calendar, after: Iterator[str], *, has_noon: bool
) -> str:
    of_day = seconds % _DAY_SECONDS
    hour = of_day // 3_600
    clock = {"h": (hour % 12 or 12) if has_noon else hour, "s": of_day % 60}
    if token.kind == "place":
        return next(after, "")
    if token.kind == "elapsed":
        return f"{seconds // {'h': 3_600, 'm': 60, 's': 1}[token.text[0]]:0{len(token.text)}d}"
    if token.kind == "noon":
        return "PM" if of_day >= _DAY_SECONDS // 2 else "AM"
    if token.kind not in {"date", "minute"}:
        return token.text
    number = of_day // 60 % 60 if token.kind == "minute" else clock.get(token.text[0])
    width = min(len(token.text), 2)
    return _of_day(token.text, calendar) if number is None else f"{number:0{width}d}"


def _of_day(letters: str, calendar: _Calendar) -> str:
    year, month, day, weekday = calendar
    letter, is_number = letters[0], len(letters) < 3
    if letter == "m" and not is_number:
        return month_name[month][: {3: 3, 5: 1}.get(len(letters))]
    if letter == "d" and not is_number:
        return day_name[weekday][: 3 if len(letters) == 3 else None]
    if letter in "md":
        return f"{month if letter == 'm' else day:0{len(letters)}d}"
    if letter == "g":  # the name of an era
        return ""
    return f"{year % 100:02d}" if is_number and letter != "e" else str(year)


def _calendar(days: int) -> _Calendar:
    """Return year, month, day and weekday. Day 60 is 29 February 1900, which there never was."""
    if days in {0, 60}:
        return (1900, 2, 29, 2) if days else (1900, 1, 0, 5)
    found = date(1899, 12, 31 if days < 60 else 30) + timedelta(days=min(days, _LAST_DAY))
    return found.year, found.month, found.day, found.weekday()
