"""
Which paragraphs of a DOCX are headings, by its styles.

A heading has an outline level, or a style that has one, or is named "heading 1" to "heading 9" or
"Title", or is made from such a style. Word keeps these names in English in every language; the ids
by which paragraphs refer to a style are translated ("berschrift1"). Without readable styles, the
ids are taken at their word.
"""

import re
import zipfile
from dataclasses import dataclass, field
from xml.parsers import expat

from stackroom.errors import Unreadable
from stackroom.inspection.extraction.archive import DAMAGE
from stackroom.inspection.extraction.word_xml import Attributes, attribute, parse

_MAX_BYTES = 20_971_520  # unpacked; Word's own styles are 50 KB, those of a company some hundred
_MAX_STYLES = 10_000
_MAX_CHAIN = 50  # styles made from one another
_MAX_LENGTH = 255  # of an id or a name; longer ones are nobody's
_HEADING = re.compile(r"heading ?[1-9]|title", re.IGNORECASE)
_LEVELS = {str(level) for level in range(9)}  # as written in the file; 9 is body text


def is_level(value: str) -> bool:
    """Whether an outline level is that of a heading; else it says that this is none."""
    return value.strip() in _LEVELS


@dataclass(frozen=True, kw_only=True)
class Styles:
    """`known` None: the file's styles could not be read, or there are none."""

    known: dict[str, bool] | None = None

    def is_heading(self, style_id: str) -> bool:
        if self.known is None or style_id not in self.known:
            return bool(_HEADING.fullmatch(style_id))
        return self.known[style_id]


def styles_of(archive: zipfile.ZipFile, part: str) -> Styles:
    """Never raises: a document whose styles are broken still has its text."""
    gathered = _Gathered()
    try:
        if archive.getinfo(part).file_size > _MAX_BYTES:
            return Styles()
        parse(archive, part, start=gathered.start, end=gathered.end)
    except (KeyError, expat.ExpatError, Unreadable, *DAMAGE):
        return Styles()
    return Styles(known=gathered.headings())


@dataclass
class _Style:
    name: str = ""
    based_on: str = ""
    level: str = ""


@dataclass
class _Gathered:
    """Styles, gathered from the parser's calls."""

    styles: dict[str, _Style] = field(default_factory=dict)
    open: _Style | None = None

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "style":
            style_id = attribute(attributes, "styleId")
            self.open = _Style()
            if len(self.styles) < _MAX_STYLES and len(style_id) <= _MAX_LENGTH:
                self.styles[style_id] = self.open
        elif self.open is not None and name in {"name", "basedOn", "outlineLvl"}:
            value = attribute(attributes, "val")[: _MAX_LENGTH + 1]
            if name == "name":
                self.open.name = value
            elif name == "basedOn":
                self.open.based_on = value
            else:
                self.open.level = value

    def end(self, name: str) -> None:
        if name == "style":
            self.open = None

    def headings(self) -> dict[str, bool]:
        return {style_id: self._is_heading(style_id) for style_id in self.styles}

    def _is_heading(self, style_id: str) -> bool:
        """By the first style that says so or so, of it and those that it is made from."""
        for _ in range(_MAX_CHAIN):  # of a ring of styles too
            style = self.styles.get(style_id)
            if style is None:
                return False
            if style.level:
                return is_level(style.level)
            if _HEADING.fullmatch(style.name):
                return True
            style_id = style.based_on
        return False
