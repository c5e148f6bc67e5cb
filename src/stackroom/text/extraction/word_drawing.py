"""Drawings of a DOCX: how large one is, whether it is hidden, and what its text stands on."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from stackroom.text.extraction.colours import of_hex
from stackroom.text.extraction.ooxml import Attributes
from stackroom.text.extraction.word_styles import CLEAR, UNKNOWN, Properties, attribute

_CENTIMETRE = 360_000  # in units of DrawingML [ECMA-376, 20.1.10.16]
_POINTS = 28.35  # of a centimetre
# Square centimetres: a box in which nothing can be seen, a picture behind text that may be what
# the text stands on, and one that is more than a logo.
_NOTHING, _BACKDROP, _LARGE = 0.01, 9, 100
_FAINT = 95_000  # of 100,000: letters as transparent as that can hardly be seen
_SIZE = re.compile(r"(?:^|;)\s*(width|height)\s*:\s*([\d.]{1,12})pt")
_HIDDEN = re.compile(r"visibility\s*:\s*hidden|display\s*:\s*none")
_BEHIND = re.compile(r"z-index\s*:\s*-")
_SHAPES = frozenset({"shape", "rect", "roundrect", "oval"})
_FILLS = frozenset({"solidFill", "gradFill", "blipFill", "pattFill", "grpFill"})


def colour_of(name: str, attributes: Attributes) -> str:
    """Return a colour of DrawingML, of which the theme's are unknown but for that of paper."""
    value = attribute(attributes, "val")
    return value if name == "srgbClr" else "FFFFFF" if value in {"bg1", "lt1"} else UNKNOWN


def letters_of(name: str, attributes: Attributes) -> Properties:
    """Return what an element says of the letters that it fills."""
    value = attribute(attributes, "val")
    if name == "noFill" or (name == "alpha" and value.isdecimal() and int(value) > _FAINT):
        return {"color": CLEAR}
    return {} if name == "alpha" else {"color": colour_of(name, attributes)}


@dataclass
class Drawing:
    """The one that is being read."""

    area: float = 0  # square centimetres
    is_behind: bool = False
    fill: str | None = None  # None: nothing said of it yet
    is_coloured: bool = False  # it, or one before: boxes without a fill may stand on that

    def note(self, path: Sequence[str], attributes: Attributes) -> None:
        name, above = path[-1], path[-2] if len(path) > 1 else ""
        if name in {"anchor", "inline"}:
            self.is_behind = attribute(attributes, "behindDoc") in {"1", "true"}
        elif name == "extent":
            sides = [attribute(attributes, each) for each in ("cx", "cy")]
            if all(side.isdecimal() and len(side) < 15 for side in sides):
                self.area = int(sides[0]) * int(sides[1]) / _CENTIMETRE**2
        elif name == "wsp":
            self.fill = None
        elif name in _SHAPES:
            self._note_shape(attributes)
        elif above == "spPr" and (name in _FILLS or name == "noFill"):
            self.fill = "" if name == "noFill" else UNKNOWN
        elif list(path[-3:-1]) == ["spPr", "solidFill"]:
            self.fill = colour_of(name, attributes)
        elif list(path[-4:-2]) == ["spPr", "solidFill"]:
            self.fill = UNKNOWN  # a colour made from another
        elif (name == "fillRef" and self.fill is None and attribute(attributes, "idx") != "0") or (
            name == "fill" and attribute(attributes, "type") not in {"", "solid"}
        ):
            self.fill = UNKNOWN
        is_backdrop = name in {"blip", "imagedata"} and self.area >= _BACKDROP
        self.is_coloured |= is_backdrop or self.fill not in {None, "", "FFFFFF"}

    def _note_shape(self, attributes: Attributes) -> None:
        sides = dict(_SIZE.findall(attribute(attributes, "style")))
        points = [float(each) for each in sides.values() if each.count(".") < 2 and each != "."]
        self.area = points[0] * points[1] / _POINTS**2 if len(points) == 2 else 0
        self.is_behind = bool(_BEHIND.search(attribute(attributes, "style")))
        colour = attribute(attributes, "fillcolor").partition(" ")[0].lstrip("#")
        if attribute(attributes, "filled") in {"f", "false"}:
            self.fill = ""
        elif colour in {"", "white"} or of_hex(colour):
            self.fill = colour.replace("white", "FFFFFF") or "FFFFFF"
        else:
            self.fill = UNKNOWN

    def hides(self, name: str, attributes: Attributes) -> bool:
        """Return True if the element says that nobody sees its drawing."""
        if name == "docPr":
            return attribute(attributes, "hidden") in {"1", "true"}
        if name == "extent":
            return self.area < _NOTHING
        return name in _SHAPES and bool(_HIDDEN.search(attribute(attributes, "style")))

    def is_backdrop(self, name: str) -> bool:
        """Return True if the element says that its drawing stands behind text."""
        return name in {"extent", *_SHAPES} and self.is_behind and self.area >= _BACKDROP

    def is_large(self) -> bool:
        return self.area >= _LARGE
