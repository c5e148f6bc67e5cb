"""
Styles of a DOCX: the properties of paragraphs and runs that have none of their own.

A heading has an outline level, or a style that has one, or is named "heading 1" to "heading 9" or
"Title", or is made from such a style. Word keeps these names in English in every language; the ids
by which paragraphs refer to a style are translated ("berschrift1"). Without readable styles, ids
are taken at their word.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from stackroom.text.extraction.colours import WHITE, are_alike, of_hex
from stackroom.text.extraction.ooxml import Attributes, local

Properties = dict[str, str]  # properties of paragraphs or runs, by name

# Unpacked. Word's own styles are 50 KB, those of a company some hundred.
MAX_PART_BYTES = 20_971_520
_MAX_STYLES = 10_000
_MAX_CHAIN = 50  # styles made from one another
MAX_LENGTH = 255  # of an id, a name or a value; longer ones are nobody's
_HEADING = re.compile(r"heading ?[1-9]|title", re.IGNORECASE)
_LEVELS = {str(level) for level in range(9)}  # as written in the file; 9 is body text
# Parts of tables have properties of their own; a change has those of before.
_PASSED_OVER = {"tblStylePr", "rPrChange", "pPrChange"}
_OFF = {"0", "false", "off"}
_TINY = 2  # half points, of letters that nobody can read
_FLAT = 20  # twentieths of a point, of lines or rows that nobody can see
UNKNOWN = "?"  # a colour that can't be told, such as a picture's
CLEAR = "clear"  # that of letters without a fill
# ECMA-376, 17.18.40 (ST_HighlightColor).
_HIGHLIGHTS = {
    "black": "000000",
    "blue": "0000FF",
    "cyan": "00FFFF",
    "darkBlue": "000080",
    "darkCyan": "008080",
    "darkGray": "808080",
    "darkGreen": "008000",
    "darkMagenta": "800080",
    "darkRed": "800000",
    "darkYellow": "808000",
    "green": "00FF00",
    "lightGray": "C0C0C0",
    "magenta": "FF00FF",
    "red": "FF0000",
    "white": "FFFFFF",
    "yellow": "FFFF00",
}


def attribute(attributes: Attributes, name: str) -> str:
    """
    Return the attribute's value, whatever the prefix of its namespace; empty if it isn't there.
    """
    return next((value for key, value in attributes.items() if local(key) == name), "")


def is_on(attributes: Attributes) -> bool:
    """Return True for an element that switches something on: one without a value, too."""
    return attribute(attributes, "val").lower() not in _OFF


def note(properties: Properties, name: str, attributes: Attributes) -> None:
    """Add a property to those of a run or a paragraph."""
    value = attribute(attributes, "val")[: MAX_LENGTH + 1]
    match name:
        case "vanish":
            properties[name] = "1" if is_on(attributes) else ""
        case "color":
            theme = attribute(attributes, "themeColor")
            is_paper = theme in {"background1", "light1"} and of_hex(value) is None
            properties[name] = "FFFFFF" if is_paper else value
        case "highlight":
            properties[name] = _HIGHLIGHTS.get(value, "")
        case "shd":
            properties[name] = shading(attributes)
        case "spacing":
            if attribute(attributes, "lineRule") == "exact":
                properties["line"] = attribute(attributes, "line")
        case "sz" | "outlineLvl" | "numId" | "ilvl" | "pStyle" | "rStyle":
            properties[name] = value


def shading(attributes: Attributes) -> str:
    """Return the colour; "auto" or nothing where there is none."""
    pattern, fill = attribute(attributes, "val"), attribute(attributes, "fill")
    if pattern == "solid":
        return attribute(attributes, "color")
    if pattern not in {"", "clear", "nil"} or (
        attribute(attributes, "themeFill") and of_hex(fill) is None
    ):
        return UNKNOWN
    return fill


def is_flat(twentieths: str) -> bool:
    return twentieths.isdecimal() and int(twentieths) <= _FLAT


@dataclass
class Style:
    kind: str
    values: Properties = field(default_factory=dict)  # name, basedOn, link
    paragraph: Properties = field(default_factory=dict)
    run: Properties = field(default_factory=dict)
    is_shaded: bool = False  # some cells of a table


@dataclass
class WordStyles:
    """The styles of a document, gathered from the parser's calls."""

    styles: dict[str, Style] = field(default_factory=dict)
    defaults: Properties = field(default_factory=dict)
    first: str = ""  # the style of paragraphs that name none
    _open: Style | None = None
    _inside: list[str] = field(default_factory=list)
    _passed_over: int = 0  # elements that are open
    _known: dict[tuple[str, str], Properties] = field(default_factory=dict)

    def start(self, name: str, attributes: Attributes) -> None:
        above = self._inside[-1:]
        self._inside.append(name)
        self._passed_over += name in _PASSED_OVER
        if name == "style":
            self._start_style(attributes)
        elif self._open and self._open.kind == "table" and name == "shd":
            self._open.is_shaded |= shading(attributes) not in {"", "auto", "FFFFFF"}
        elif self._passed_over:
            pass
        elif above == ["rPr"]:
            note(self._open.run if self._open else self.defaults, name, attributes)
        elif self._open and above in (["pPr"], ["numPr"]):
            note(self._open.paragraph, name, attributes)
        elif self._open and above == ["style"]:
            self._open.values[name] = attribute(attributes, "val")[: MAX_LENGTH + 1]

    def end(self, name: str) -> None:
        self._inside.pop()
        self._passed_over -= name in _PASSED_OVER
        if name == "style":
            self._open = None

    def _start_style(self, attributes: Attributes) -> None:
        style_id = attribute(attributes, "styleId")
        self._open = Style(attribute(attributes, "type") or "paragraph")
        # Without an id, nothing has the style [Reporting Services writes such a one].
        if len(self.styles) < _MAX_STYLES and 0 < len(style_id) <= MAX_LENGTH:
            self.styles[style_id] = self._open
        is_default = attribute(attributes, "default")
        if self._open.kind == "paragraph" and is_default and is_default not in _OFF:
            self.first = style_id

    def _chain(self, style_id: str) -> list[Style]:
        """Return the style, and those that it is made from: as far as a ring of them goes."""
        chain = list[Style]()
        while (style := self.styles.get(style_id)) and len(chain) < _MAX_CHAIN:
            chain.append(style)
            style_id = style.values.get("basedOn", "")
        return chain

    def _inherited(
        self, style_id: str, part: Callable[[Style], Properties], name: str
    ) -> Properties:
        known = self._known.get((style_id, name))
        if known is None:
            known = {}
            for style in reversed(self._chain(style_id)):
                known |= part(style)
            self._known[style_id, name] = known
        return known

    def of_paragraph(self, style_id: str) -> Properties:
        return self._inherited(style_id or self.first, lambda style: style.paragraph, "paragraph")

    def of_run(self, style_id: str) -> Properties:
        return self._inherited(style_id, lambda style: style.run, "run")

    def shades_tables(self, style_id: str) -> bool:
        return any(style.is_shaded for style in self._chain(style_id))

    def is_heading(self, style_id: str, level: str) -> bool:
        """
        Return True for a heading: by the outline level, else by the first style in the chain with
        an outline level or a heading's name.
        """
        if level:
            return level.strip() in _LEVELS
        if style_id not in self.styles:
            return not self.styles and bool(_HEADING.fullmatch(style_id))
        for style in self._chain(style_id):
            if own := style.paragraph.get("outlineLvl"):
                return own.strip() in _LEVELS
            if _HEADING.fullmatch(style.values.get("name", "")):
                return True
        return False

    def properties(self, table: str, paragraph: str, run: Properties) -> Properties:
        """Return the properties of a run in a paragraph, and perhaps a table, of a style."""
        own = run.get("rStyle", "")
        style = self.styles.get(own)
        if style and style.kind == "paragraph":
            own = style.values.get("link", "")
        layers = [self.of_run(each) for each in (table, paragraph or self.first, own)]
        properties = self.defaults | layers[0] | layers[1] | layers[2] | run
        # Each style turns it on or off; what the run itself says holds [ECMA-376, 17.7.3].
        hides = sum(bool(layer.get("vanish")) for layer in layers) % 2 == 1
        properties["vanish"] = run.get(
            "vanish", self.defaults.get("vanish") or ("1" if hides else "")
        )
        return properties


def is_hidden(properties: Mapping[str, str], behind: str) -> bool:
    """Return True if nobody sees a run; `behind` is the colour of what it stands on."""
    size = properties.get("sz", "")
    if properties.get("vanish") or (size.isdecimal() and int(size) <= _TINY):
        return True
    paper = properties.get("highlight") or _filled(properties) or behind
    inks = [properties.get("color", ""), properties.get("outline", CLEAR)]
    return all(_is_lost(ink, paper) for ink in inks)


def _filled(properties: Mapping[str, str]) -> str:
    fill = properties.get("shd", "")
    return "" if fill == "auto" else fill


def _is_lost(ink: str, behind: str) -> bool:
    letters, paper = of_hex(ink), WHITE if behind in {"", "auto"} else of_hex(behind)
    is_alike = letters is not None and paper is not None and are_alike(letters, paper)
    return ink == CLEAR or is_alike
