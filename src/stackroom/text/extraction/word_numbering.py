"""The lists of a DOCX: what stands before a paragraph's text, such as "1.2", "a)" or a bullet."""

import re
from dataclasses import dataclass, field

from stackroom.text.extraction.ooxml import Attributes
from stackroom.text.extraction.word_styles import (
    MAX_LENGTH,
    Properties,
    WordStyles,
    attribute,
    is_on,
)

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_PLACE = re.compile(r"%([1-9])")
_MAX_NUMBER = 4_000  # that is written in Roman numbers or letters


@dataclass
class _Level:
    start: int = 1
    format: str = "decimal"
    text: str = ""
    style: str = ""
    is_legal: bool = False


@dataclass
class Numbering:
    """The lists of a document, gathered from the parser's calls, and how far each has come."""

    styles: WordStyles
    _lists: dict[str, dict[int, _Level]] = field(default_factory=dict)  # w:abstractNum
    _links: dict[str, str] = field(default_factory=dict)  # a list's style, which has the levels
    _uses: dict[str, str] = field(default_factory=dict)  # w:num: which list
    _restarts: dict[str, dict[int, int]] = field(default_factory=dict)
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)
    _inside: list[tuple[str, str]] = field(default_factory=list)
    _level: _Level | None = None

    def start(self, name: str, attributes: Attributes) -> None:
        value = attribute(attributes, "val")[:MAX_LENGTH]
        match name:
            case "abstractNum":
                self._inside.append((name, attribute(attributes, "abstractNumId")))
            case "num":
                self._inside.append((name, attribute(attributes, "numId")))
            case "lvl" | "lvlOverride":
                self._inside.append((name, attribute(attributes, "ilvl")))
                self._start_level(name)
            case "numStyleLink" if self._inside:
                self._links[self._inside[0][1]] = value
            case "abstractNumId" if self._inside:
                self._uses[self._inside[0][1]] = value
            case "startOverride" if len(self._inside) > 1 and value.isdecimal():
                restarts = self._restarts.setdefault(self._inside[0][1], {})
                restarts[_int(self._inside[1][1])] = int(value)
            case _ if self._level:
                self._note(self._level, name, value, attributes)

    def end(self, name: str) -> None:
        if self._inside and self._inside[-1][0] == name:
            self._inside.pop()
            if name == "lvl":
                self._level = None

    def _start_level(self, name: str) -> None:
        # A list's own levels; those of w:num that replace one are rare.
        if name == "lvl" and self._inside[0][0] == "abstractNum" and len(self._inside) == 2:
            levels = self._lists.setdefault(self._inside[0][1], {})
            self._level = levels.setdefault(_int(self._inside[1][1]), _Level())

    def _note(self, level: _Level, name: str, value: str, attributes: Attributes) -> None:
        match name:
            case "start" if value.isdecimal():
                level.start = int(value)
            case "numFmt":
                level.format = value
            case "lvlText":
                level.text = value
            case "pStyle":
                level.style = value
            case "isLgl":
                level.is_legal = is_on(attributes)

    def label(self, paragraph: Properties, style_id: str) -> str:
        """Count the paragraph, and return what stands before its text: "1.2", "a)" or "-"."""
        number_id = paragraph.get("numId", "")
        list_id = self._list_of(number_id)
        levels = self._lists.get(list_id)
        if not levels:
            return ""
        by_style = next((at for at, each in levels.items() if each.style == style_id), 0)
        at = _int(paragraph["ilvl"]) if "ilvl" in paragraph else by_style
        level = levels.get(at)
        if level is None:
            return ""
        self._count(number_id, list_id, at)
        if level.format == "bullet":
            return "  " * at + "-"
        if level.format == "none":
            return ""

        def written(place: re.Match[str]) -> str:
            other = levels.get(int(place[1]) - 1, level)
            number = self._counts[list_id].get(int(place[1]) - 1, other.start)
            return numbered(number, "decimal" if level.is_legal else other.format)

        return "  " * at + _PLACE.sub(written, level.text)

    def _list_of(self, number_id: str) -> str:
        list_id = self._uses.get(number_id, "")
        if style := self._links.get(list_id):
            return self._uses.get(self.styles.of_paragraph(style).get("numId", ""), "")
        return list_id

    def _count(self, number_id: str, list_id: str, at: int) -> None:
        counts = self._counts.setdefault(list_id, {})
        for level, start in self._restarts.pop(number_id, {}).items():
            counts[level] = start - 1
        counts[at] = counts.get(at, self._lists[list_id][at].start - 1) + 1
        for deeper in [level for level in counts if level > at]:
            del counts[deeper]


def _int(value: str) -> int:
    return int(value) if value.isdecimal() and len(value) < 4 else 0


def numbered(number: int, form: str) -> str:
    """Return 4 as "iv" for "lowerRoman", as "D" for "upperLetter", and the like."""
    if not 0 < number < _MAX_NUMBER or form not in {
        *("lowerLetter", "upperLetter", "lowerRoman", "upperRoman", "decimalZero")
    }:
        return str(number)
    if form == "decimalZero":
        return f"{number:02}"
    if form.endswith("Letter"):  # after "z" comes "aa", after that "bb"
        text = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
    else:
        text = ""
        for value, sign in _ROMAN:
            text += sign * (number // value)
            number %= value
    return text.upper() if form.startswith("upper") else text
