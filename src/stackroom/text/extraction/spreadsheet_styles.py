"""The look of an XLSX's cells: number formats, and letters that can't be seen [18.8]."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from stackroom.text.extraction.colours import WHITE, Colour, are_alike, of_hex
from stackroom.text.extraction.number_formats import BUILT_IN, number_format
from stackroom.text.extraction.ooxml import Attributes

_TINY = 1.0  # points of a font, a row's height or a column's width
BLACK = (0.0, 0.0, 0.0)
UNKNOWN = "?"  # the colour of a pattern, or of several colours
_LEAST_TINT = 0.03  # by which a colour is lighter or darker
# Of the palette, and of the theme: the colours of paper and of ink [18.8.27, and 20.1.6.2: lt1].
_NAMED = {
    **dict.fromkeys(("indexed 1", "indexed 9", "indexed 65", "theme 0"), WHITE),
    **dict.fromkeys(("indexed 0", "indexed 8", "indexed 64", "theme 1"), BLACK),
}
_WHITE_SECTION = re.compile(r"(?:^|(?<=;))[^;]*\[(?:white|color ?2)\][^;]*", re.IGNORECASE)

Show = Callable[[float | str, bool], str]
Shade = Colour | str  # the name of one that only a theme or a palette knows


@dataclass(kw_only=True)
class Font:
    colour: Shade = BLACK
    is_tiny: bool = False

    def note(self, name: str, attributes: Attributes) -> None:
        if name == "sz":
            self.is_tiny = is_tiny(attributes.get("val"))
        elif name == "color":
            self.colour = _shade(attributes) or BLACK

    def is_seen_on(self, paper: Shade) -> bool:
        if self.is_tiny:
            return False
        if isinstance(self.colour, str) or isinstance(paper, str):
            return self.colour != paper
        return not are_alike(self.colour, paper)


@dataclass(kw_only=True)
class Difference:
    """The parts of a cell's look that change where a condition applies; None is as before."""

    ink: Shade | None = None
    paper: Shade | None = None
    code: str | None = None

    def hides(self, ink: Shade, paper: Shade, value: float | str) -> bool:
        if self.code is not None and not number_format(self.code)(value, False).strip():
            return True
        if self.ink is None and self.paper is None:
            return False
        return not Font(colour=self.ink or ink).is_seen_on(self.paper or paper)


@dataclass
class CellStyles:
    """Formats, fonts and fills, and which of them the styles of cells have."""

    differences: list[Difference] = field(default_factory=list)

    _codes: dict[int, str] = field(default_factory=lambda: dict(BUILT_IN))
    _fonts: list[Font] = field(default_factory=list)
    _fills: list[Shade] = field(default_factory=list)
    _cells: list[Attributes] = field(default_factory=list)
    _inside: list[str] = field(default_factory=list)
    _is_solid: bool = False  # the last fill

    def start(self, name: str, attributes: Attributes) -> None:
        self._inside.append(name)
        where = self._inside[1:2]
        if name == "numFmt" and where != ["dxfs"]:
            # Some programs write no code where they mean "General".
            code = attributes.get("formatCode") or "General"
            self._codes[as_number(attributes.get("numFmtId"))] = code
        elif where == ["dxfs"]:
            self._difference(name, attributes)
        elif where == ["cellXfs"] and name == "xf":
            self._cells.append(attributes)
        elif where == ["fonts"]:
            self._font(name, attributes)
        elif where == ["fills"] and (self._fills or name == "fill"):
            self._fill(name, attributes)

    def end(self, _: str) -> None:
        self._inside.pop()

    def _difference(self, name: str, attributes: Attributes) -> None:
        if name == "dxf":
            self.differences.append(Difference())
        elif name == "color" and self._inside[-2] == "font":
            self.differences[-1].ink = _shade(attributes)
        elif name == "bgColor":
            self.differences[-1].paper = _shade(attributes)
        elif name == "numFmt":
            self.differences[-1].code = attributes.get("formatCode") or None

    def _font(self, name: str, attributes: Attributes) -> None:
        if name == "font":
            self._fonts.append(Font())
        elif self._fonts:
            self._fonts[-1].note(name, attributes)

    def _fill(self, name: str, attributes: Attributes) -> None:
        if name == "fill":
            self._fills.append(WHITE)
        elif name == "patternFill":
            pattern = attributes.get("patternType", "none")
            self._fills[-1] = WHITE if pattern == "none" else UNKNOWN
            self._is_solid = pattern == "solid"
        elif name == "gradientFill":
            self._fills[-1] = UNKNOWN
            self._is_solid = False
        elif name == "fgColor" and self._is_solid:
            self._fills[-1] = _shade(attributes) or UNKNOWN

    def shows(self) -> list[Show]:
        codes = (
            self._codes.get(as_number(each.get("numFmtId")), "General") for each in self._cells
        )
        return [
            number_format(_visible(code) if paper == WHITE else code)
            for code, paper in zip(codes, self.papers(), strict=True)
        ]

    def unseen(self) -> set[int]:
        """Return the styles whose text is tiny, or has the colour of its cell."""
        looks = zip(self._fonts_of_cells(), self.papers(), strict=True)
        return {number for number, (font, paper) in enumerate(looks) if not font.is_seen_on(paper)}

    def hiding(self) -> dict[int, Difference]:
        """Return the differences that may hide what is in cells, by their numbers."""
        looks = set(zip(self.inks(), self.papers(), strict=True))
        return {
            number: each
            for number, each in enumerate(self.differences)
            if each.code is not None or any(each.hides(*look, 1.0) for look in looks)
        }

    def inks(self) -> list[Shade]:
        return [each.colour for each in self._fonts_of_cells()]

    def _fonts_of_cells(self) -> list[Font]:
        numbers = (as_number(each.get("fontId")) for each in self._cells)
        return [self._fonts[each] if each < len(self._fonts) else Font() for each in numbers]

    def papers(self) -> list[Shade]:
        """Return what each style's letters stand on; the first fill is none, whatever it says."""
        numbers = (as_number(each.get("fillId")) for each in self._cells)
        return [self._fills[each] if 0 < each < len(self._fills) else WHITE for each in numbers]


def _visible(code: str) -> str:
    """Return a format's code without the sections that write white on white."""
    seen = _WHITE_SECTION.sub("", code)
    return seen if seen == code or ";" in seen else ";;"


def _shade(attributes: Attributes) -> Shade | None:
    """Return a colour, or its name; None where none is said, which is black for letters."""
    if "theme" not in attributes and (colour := of_hex(attributes.get("rgb", "")[-6:])):
        return colour
    names = (f"{key} {attributes[key]}" for key in ("theme", "indexed") if key in attributes)
    name = next(names, "")
    tint = _as_float(attributes.get("tint"))
    if name and abs(tint) > _LEAST_TINT:
        return f"{name} {tint}"
    return _NAMED.get(name, name or None)


def is_tiny(size: str | None) -> bool:
    return size is not None and _as_float(size, _TINY + 1) <= _TINY


def _as_float(text: str | None, default: float = 0.0) -> float:
    try:
        return float(text or default)
    except ValueError:
        return default


def as_number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0
