"""
DOCX: the text of the document with its tables, footnotes and endnotes, deleted text left out.

Notes stand below the text, where no heading is theirs: none is told for them.
"""

import posixpath
import zipfile
from dataclasses import dataclass, field
from xml.parsers import expat

from stackroom.errors import Unreadable
from stackroom.inspection.extraction.archive import damaged, opened
from stackroom.inspection.extraction.headings import (
    MAX_CHARACTERS,
    MAX_HEADINGS,
    RAW_CHARACTERS,
    Found,
)
from stackroom.inspection.extraction.page import Page, unpaged
from stackroom.inspection.extraction.word_styles import Styles, is_level, styles_of
from stackroom.inspection.extraction.word_xml import FORMAT, Attributes, attribute, parse

_NOTES = ("footnotes.xml", "endnotes.xml")
# Breaks and hyphens that are elements of their own; a table cell ends in a tab, so a row is a line.
_MARKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "softHyphen": ""}
_ENDINGS = {"p": "\n", "tc": "\t", "tr": "\n"}


def read(body: bytes) -> tuple[Page, ...]:
    with opened(body, FORMAT) as archive:
        try:
            main = _main_part(archive)
            folder = posixpath.dirname(main)
            story = _story(archive, main, styles_of(archive, posixpath.join(folder, "styles.xml")))
            notes = [posixpath.join(folder, name) for name in _NOTES]
            texts = [_text(archive, part) for part in notes if part in archive.namelist()]
        except (KeyError, expat.ExpatError) as error:
            raise Unreadable(damaged(FORMAT)) from error
        text, found = "".join(story.pieces), story.found()
        if texts:
            found.append((len(text), None))
        return unpaged("\n".join([text, *texts]), found)


def _main_part(archive: zipfile.ZipFile) -> str:
    """The document's part by the package's own relations: word/document.xml only by habit."""
    found: list[str] = []

    def start(name: str, attributes: Attributes) -> None:
        if name == "Relationship" and attributes.get("Type", "").endswith("/officeDocument"):
            found.append(attributes.get("Target", "").lstrip("/"))

    parse(archive, "_rels/.rels", start=start)
    if not found or found[0].startswith("xl/"):
        raise Unreadable("the file is not a DOCX, whatever its name says")
    return found[0]


def _text(archive: zipfile.ZipFile, part: str) -> str:
    return "".join(_story(archive, part, Styles()).pieces)


def _story(archive: zipfile.ZipFile, part: str, styles: Styles) -> "_Story":
    story = _Story(styles)
    parse(archive, part, start=story.start, end=story.end, characters=story.characters)
    return story


@dataclass
class _Paragraph:
    """One that is being read: where it begins, and what it has said so far of its own."""

    at: int
    style_id: str = ""
    level: str = ""
    said: list[str] = field(default_factory=list)
    length: int = 0

    def say(self, text: str) -> None:
        if self.length < RAW_CHARACTERS:
            self.said.append(text[:RAW_CHARACTERS])
            self.length += len(text)


@dataclass
class _Story:
    """Text of one part, gathered from the parser's calls."""

    styles: Styles
    pieces: list[str] = field(default_factory=list)
    length: int = 0  # of the pieces
    in_text: bool = False
    fallbacks: int = 0  # open mc:Fallback elements: the same text again, for older readers
    cells: int = 0  # open table cells, in which a paragraph's end is no end of line
    changes: int = 0  # open w:pPrChange elements: how the paragraph was before
    open: list[_Paragraph] = field(default_factory=list)  # a text box has paragraphs in one
    headings: list[tuple[int, str]] = field(default_factory=list)  # in the order of their ends

    def found(self) -> list[Found]:
        return sorted(self.headings, key=lambda heading: heading[0])

    def start(self, name: str, attributes: Attributes) -> None:
        self.fallbacks += name == "Fallback"
        self.cells += name == "tc"
        self.changes += name == "pPrChange"
        self.in_text = name == "t"
        if name in _MARKS and not self.fallbacks:
            self._say(_MARKS[name])
        elif name == "p" and self.length <= MAX_CHARACTERS:
            self.open.append(_Paragraph(self.length))
        elif self.open and not self.changes:
            if name == "pStyle":
                self.open[-1].style_id = attribute(attributes, "val")
            elif name == "outlineLvl":
                self.open[-1].level = attribute(attributes, "val")

    def end(self, name: str) -> None:
        self.in_text = False
        self.fallbacks -= name == "Fallback"
        self.cells -= name == "tc"
        self.changes -= name == "pPrChange"
        if name == "p" and self.open:
            self._end_paragraph(self.open.pop())
        if name in _ENDINGS and not self.fallbacks:
            self._add(" " if name == "p" and self.cells else _ENDINGS[name])

    def characters(self, text: str) -> None:
        if self.in_text and not self.fallbacks:
            self._say(text)

    def _say(self, text: str) -> None:
        self._add(text)
        if self.open:
            self.open[-1].say(text)

    def _add(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        by_level = bool(paragraph.level)
        if not (is_level(paragraph.level) if by_level else self._has_style(paragraph)):
            return
        # One more than are told, so that the last one ends where the next would begin.
        if len(self.headings) <= MAX_HEADINGS:
            self.headings.append((paragraph.at, "".join(paragraph.said)))

    def _has_style(self, paragraph: _Paragraph) -> bool:
        return bool(paragraph.style_id) and self.styles.is_heading(paragraph.style_id)
