"""
DOCX: the text of the document with its tables, footnotes and endnotes, deleted text left out.

Read as a stream, straight from the archive: memory follows the text and not the markup, and a
document type declaration, the door to entity bombs, is refused (WordprocessingML never has one).
"""

import posixpath
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from xml.parsers import expat

from stackroom.errors import Unreadable
from stackroom.inspection.extraction.archive import chunks, damaged, opened
from stackroom.inspection.extraction.page import Page, unpaged

_FORMAT = "DOCX"
_NOTES = ("footnotes.xml", "endnotes.xml")
# Breaks and hyphens that are elements of their own; a table cell ends in a tab, so a row is a line.
_MARKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "softHyphen": ""}
_ENDINGS = {"p": "\n", "tc": "\t", "tr": "\n"}

Attributes = dict[str, str]


def read(body: bytes) -> tuple[Page, ...]:
    with opened(body, _FORMAT) as archive:
        try:
            main = _main_part(archive)
            folder = posixpath.dirname(main)
            notes = [posixpath.join(folder, name) for name in _NOTES]
            parts = [main, *(name for name in notes if name in archive.namelist())]
            return unpaged("\n".join(_text(archive, part) for part in parts))
        except (KeyError, expat.ExpatError) as error:
            raise Unreadable(damaged(_FORMAT)) from error


def _main_part(archive: zipfile.ZipFile) -> str:
    """The document's part by the package's own relations: word/document.xml only by habit."""
    found: list[str] = []

    def start(name: str, attributes: Attributes) -> None:
        if name == "Relationship" and attributes.get("Type", "").endswith("/officeDocument"):
            found.append(attributes.get("Target", "").lstrip("/"))

    _parse(archive, "_rels/.rels", start=start)
    if not found or found[0].startswith("xl/"):
        raise Unreadable("the file is not a DOCX, whatever its name says")
    return found[0]


def _text(archive: zipfile.ZipFile, part: str) -> str:
    story = _Story()
    _parse(archive, part, start=story.start, end=story.end, characters=story.characters)
    return "".join(story.pieces)


@dataclass
class _Story:
    """Text of one part, gathered from the parser's calls."""

    pieces: list[str] = field(default_factory=list)
    in_text: bool = False
    fallbacks: int = 0  # open mc:Fallback elements: the same text again, for older readers
    cells: int = 0  # open table cells, in which a paragraph's end is no end of line

    def start(self, name: str, _attributes: Attributes) -> None:
        self.fallbacks += name == "Fallback"
        self.cells += name == "tc"
        self.in_text = name == "t"
        if name in _MARKS and not self.fallbacks:
            self.pieces.append(_MARKS[name])

    def end(self, name: str) -> None:
        self.in_text = False
        self.fallbacks -= name == "Fallback"
        self.cells -= name == "tc"
        if name in _ENDINGS and not self.fallbacks:
            self.pieces.append(" " if name == "p" and self.cells else _ENDINGS[name])

    def characters(self, text: str) -> None:
        if self.in_text and not self.fallbacks:
            self.pieces.append(text)


def _parse(
    archive: zipfile.ZipFile,
    part: str,
    *,
    start: Callable[[str, Attributes], None],
    end: Callable[[str], None] = lambda _: None,
    characters: Callable[[str], None] = lambda _: None,
) -> None:
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = lambda name, attributes: start(_local(name), attributes)
    parser.EndElementHandler = lambda name: end(_local(name))
    parser.CharacterDataHandler = characters
    for chunk in chunks(archive, part):
        parser.Parse(chunk, False)
    parser.Parse(b"", True)


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _refuse_doctype(*_: object) -> None:
    raise Unreadable(damaged(_FORMAT))
