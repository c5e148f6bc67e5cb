"""Texts of a sheet's drawings and charts, and which of them nobody sees [20.1]."""

import zipfile

from stackroom.text.extraction.colours import WHITE, of_hex
from stackroom.text.extraction.ooxml import Attributes, parse
from stackroom.text.extraction.spreadsheet_styles import BLACK, UNKNOWN, Font, Shade

_NONE: Shade = UNKNOWN
_TINY = 100  # hundredths of a point
_FILLS = frozenset({"solidFill", "gradFill", "blipFill", "pattFill", "grpFill"})
_THEME = {**dict.fromkeys(("bg1", "lt1"), WHITE), **dict.fromkeys(("tx1", "dk1"), BLACK)}


class SheetDrawing:
    """
    A drawing's paragraphs, as people see them, and the number of words that they don't see.

    `paper` is what boxes stand on that have no fill. What a colour's changes make of it isn't known
    here.
    """

    def __init__(self, paper: Shade) -> None:
        self.texts = list[str]()
        self.hidden_words = 0
        self._below, self._paper, self._ink = paper, _NONE, _NONE
        self._is_hidden = self._is_unseen = False  # the shape, the run
        self._path = list[str]()
        self._said = list[str]()

    def read(self, archive: zipfile.ZipFile, part: str) -> "SheetDrawing":
        parse(archive, part, start=self._start, end=self._end, characters=self._characters)
        return self

    def _start(self, name: str, attributes: Attributes) -> None:
        self._path.append(name)
        above = self._path[-3:-1]
        if name == "cNvPr":
            self._is_hidden, self._paper = attributes.get("hidden") in {"1", "true"}, UNKNOWN
        elif name == "compatExt":  # a form control, which is drawn in place of this shape
            self._is_hidden = False
        elif above == ["sp", "spPr"] and (name in _FILLS or name == "noFill"):
            self._paper = self._below if name == "noFill" else UNKNOWN
        elif above == ["spPr", "solidFill"] and self._path[-4] == "sp":
            self._paper = _shade(attributes)
        elif above == ["rPr", "solidFill"]:
            self._ink = _shade(attributes)
        elif self._path[-4:-2] == ["rPr", "solidFill"]:
            self._ink = UNKNOWN
        elif self._path[-4:-2] == ["spPr", "solidFill"]:
            self._paper = UNKNOWN
        elif name == "rPr":
            size = attributes.get("sz", "")
            self._is_unseen = size.isdecimal() and int(size) <= _TINY
            self._ink = UNKNOWN
        elif above[1:] == ["rPr"] and name == "noFill":
            self._is_unseen = True

    def _end(self, name: str) -> None:
        self._path.pop()
        if name == "p":
            if "".join(self._said).strip():
                self.texts.append("".join(self._said))
            self._said = []
        elif name == "r":
            self._ink, self._is_unseen = UNKNOWN, False
        elif name in {"pic", "graphicFrame"} or (name == "sp" and self._paper != WHITE):
            self._below = UNKNOWN  # a later box may stand on it

    def _characters(self, text: str) -> None:
        if self._path[-1] != "t":
            return
        is_known = UNKNOWN not in (self._ink, self._paper)
        is_lost = is_known and not Font(colour=self._ink).is_seen_on(self._paper)
        if self._is_hidden or self._is_unseen or is_lost:
            self.hidden_words += len(text.split())
        else:
            self._said.append(text)


def _shade(attributes: Attributes) -> Shade:
    value = attributes.get("lastClr") or attributes.get("val", "")
    return _THEME.get(value) or of_hex(value) or UNKNOWN
