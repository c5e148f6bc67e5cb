"""
DOCX: the text of the document with its tables, footnotes and endnotes, deleted text left out.

Notes stand below the text, where no heading is theirs: none is told for them.
"""

import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from stackroom.errors import Unreadable
from stackroom.inspection.extraction.archive import DAMAGE, chunks, damaged, opened
from stackroom.inspection.extraction.page import (
    MAX_CHARACTERS,
    MAX_HEADINGS,
    RAW_CHARACTERS,
    Found,
    Page,
    unpaged,
)

# Which paragraphs of a DOCX are headings, by its styles.
#
# A heading has an outline level, or a style that has one, or is named "heading 1" to "heading 9"
# or "Title", or is made from such a style. Word keeps these names in English in every language;
# the ids by which paragraphs refer to a style are translated ("berschrift1"). Without readable
# styles, the ids are taken at their word.

# The parts of a DOCX, parsed as streams, straight from the archive.
#
# Memory follows what the caller keeps, not the markup. A document type declaration, the door to
# entity bombs, is refused: WordprocessingML never has one.

FORMAT = "DOCX"

Attributes = dict[str, str]


def parse(
    archive: zipfile.ZipFile,
    part: str,
    *,
    start: Callable[[str, Attributes], None],
    end: Callable[[str], None] = lambda _: None,
    characters: Callable[[str], None] = lambda _: None,
) -> None:
    """Elements come without the prefix of their namespace; raises KeyError, or ExpatError."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_doctype
    parser.StartElementHandler = lambda name, attributes: start(_local(name), attributes)
    parser.EndElementHandler = lambda name: end(_local(name))
    parser.CharacterDataHandler = characters
    for chunk in chunks(archive, part):
        parser.Parse(chunk, False)
    parser.Parse(b"", True)


def attribute(attributes: Attributes, name: str) -> str:
    """Its value, whatever the prefix of its namespace; empty if it isn't there."""
    return next((value for key, value in attributes.items() if _local(key) == name), "")


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _refuse_doctype(*_: object) -> None:
    raise Unreadable(damaged(FORMAT))


_MAX_BYTES = 20_971_520  # unpacked; Word's own styles are 50 KB, those of a company some hundred
_MAX_STYLES = 10_000
_MAX_CHAIN = 50  # styles made from one another
_MAX_LENGTH = 255  # of an id or a name; longer ones are nobody's
_HEADING = re.compile(r"heading ?[1-9]|title", re.IGNORECASE)
_LEVELS = {str(level) for level in range(9)}  # as written in the file; 9 is body text


def is_level(value: str) -> bool:
    """Whether an outline level is that of a heading; else it says that this is none."""
    return value.strip() in _LEVELS


# By the ids of styles, whether they are those of headings; empty if they could not be read.
Styles = dict[str, bool]


def styles_of(archive: zipfile.ZipFile, part: str) -> Styles:
    """Never raises: a document whose styles are broken still has its text."""
    gathered = _Gathered()
    try:
        if archive.getinfo(part).file_size > _MAX_BYTES:
            return {}
        parse(archive, part, start=gathered.start, end=gathered.end)
    except (KeyError, expat.ExpatError, Unreadable, *DAMAGE):
        return {}
    return {style_id: gathered.is_heading(style_id) for style_id in gathered.styles}


@dataclass
class _Gathered:
    """Styles, gathered from the parser's calls: of each the values of the elements in it."""

    styles: dict[str, dict[str, str]] = field(default_factory=dict)
    open: dict[str, str] | None = None

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "style":
            style_id = attribute(attributes, "styleId")
            self.open = {}
            if len(self.styles) < _MAX_STYLES and len(style_id) <= _MAX_LENGTH:
                self.styles[style_id] = self.open
        elif self.open is not None and name in {"name", "basedOn", "outlineLvl"}:
            self.open[name] = attribute(attributes, "val")[: _MAX_LENGTH + 1]

    def end(self, name: str) -> None:
        if name == "style":
            self.open = None

    def is_heading(self, style_id: str) -> bool:
        """By the first style that says so or so, of it and those that it is made from."""
        for _ in range(_MAX_CHAIN):  # of a ring of styles too
            style = self.styles.get(style_id)
            if style is None:
                return False
            if level := style.get("outlineLvl"):
                return is_level(level)
            if _HEADING.fullmatch(style.get("name", "")):
                return True
            style_id = style.get("basedOn", "")
        return False


_NOTES = ("footnotes.xml", "endnotes.xml")
_RUNNING_PART = re.compile(r"(?:header|footer)[0-9]*\.xml")
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
            there = [part for part in notes if part in archive.namelist()]
            texts = ["".join(_story(archive, part, {}).pieces) for part in there]
        except (KeyError, expat.ExpatError) as error:
            raise Unreadable(damaged(FORMAT)) from error
        text = "".join(story.pieces)
        found: list[Found] = sorted(story.headings, key=lambda heading: heading[0])
        if texts:
            found.append((len(text), None))
        return unpaged("\n".join([text, *texts]), found, missing=_missing(archive, folder))


def _missing(archive: zipfile.ZipFile, folder: str) -> Iterator[str]:
    """What prints, or stands beside the text, and is no part of it here."""
    names = [each for each in archive.namelist() if posixpath.dirname(each) == folder]
    parts = [each for each in names if _RUNNING_PART.fullmatch(posixpath.basename(each))]
    if any("".join(_story(archive, part, {}).pieces).strip() for part in parts):
        yield "headers and footers were not read"
    if (part := posixpath.join(folder, "comments.xml")) in names:
        count = Counter[str]()
        parse(archive, part, start=lambda name, _: count.update([name]))
        if comments := count["comment"]:
            yield f"{comments} comment{'s were' if comments > 1 else ' was'} not read"


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
    # How many elements of a name are open. In mc:Fallback is the same text again, for older
    # readers; in a table cell a paragraph's end is no end of line; in w:pPrChange is how the
    # paragraph was before.
    inside: Counter[str] = field(default_factory=Counter)
    open: list[_Paragraph] = field(default_factory=list)  # a text box has paragraphs in one
    headings: list[tuple[int, str]] = field(default_factory=list)  # in the order of their ends

    def start(self, name: str, attributes: Attributes) -> None:
        self.inside[name] += 1
        self.in_text = name == "t"
        if name in _MARKS and not self.inside["Fallback"]:
            self._say(_MARKS[name])
        elif name == "p" and self.length <= MAX_CHARACTERS:
            self.open.append(_Paragraph(self.length))
        elif self.open and not self.inside["pPrChange"]:
            if name == "pStyle":
                self.open[-1].style_id = attribute(attributes, "val")
            elif name == "outlineLvl":
                self.open[-1].level = attribute(attributes, "val")

    def end(self, name: str) -> None:
        self.in_text = False
        self.inside[name] -= 1
        if name == "p" and self.open:
            self._end_paragraph(self.open.pop())
        if name in _ENDINGS and not self.inside["Fallback"]:
            self._add(" " if name == "p" and self.inside["tc"] else _ENDINGS[name])

    def characters(self, text: str) -> None:
        if self.in_text and not self.inside["Fallback"]:
            self._say(text)

    def _say(self, text: str) -> None:
        self._add(text)
        if self.open:
            self.open[-1].say(text)

    def _add(self, text: str) -> None:
        self.pieces.append(text)
        self.length += len(text)

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        style_id = paragraph.style_id
        if paragraph.level:
            is_heading = is_level(paragraph.level)
        else:
            named = bool(_HEADING.fullmatch(style_id))
            is_heading = bool(style_id) and self.styles.get(style_id, named)
        # One more than are told, so that the last one ends where the next would begin.
        if is_heading and len(self.headings) <= MAX_HEADINGS:
            self.headings.append((paragraph.at, "".join(paragraph.said)))
