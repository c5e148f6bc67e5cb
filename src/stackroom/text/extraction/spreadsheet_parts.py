"""
The parts of an XLSX: what each cell shows, and where [ECMA-376, part 1, 18.2 to 18.4 and 18.8].
"""

import posixpath
import re
import zipfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from stackroom.errors import Unreadable
from stackroom.text.extraction.colours import WHITE, Colour, are_alike, of_hex
from stackroom.text.extraction.number_formats import BUILT_IN, number_format
from stackroom.text.extraction.ooxml import Attributes, local, parse, relations
from stackroom.text.extraction.tables import ABOVE, BESIDE

FORMAT = "XLSX"
_ROOT = "xl/workbook.xml"  # where a file without relations has it
_MAX_COLUMN = 16_384  # of Excel; a file may say anything
# Cells name their text by number, so that a megabyte of them stands for gigabytes of text.
_MOST_CHARACTERS = 100_000_000
_TOO_LONG = (
    f"the sheets show more than {_MOST_CHARACTERS // 1_000_000} million characters; split the"
    " workbook and upload the parts"
)
_MOST_SPANNED = 1_000_000  # cells of a sheet that are parts of merged ones
_RUNNING = frozenset({"oddHeader", "oddFooter"})
# In a header or footer: a font, a size, a colour, a page number and the like [18.3.1.46].
_CODE = re.compile(r'&(?:"[^"]*"|\d+|K(?:[0-9A-Fa-f]{6}|\d\d[+-]\d{3})|[A-Z])')
_NUMBERED = 2  # words beside a page's number, such as "page" and "of"
_PLACE = re.compile(r"&[LCR]")
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")

Show = Callable[[float | str, bool], str]
Position = tuple[int, int]  # row and column, from 1


def _is_on(value: str | None) -> bool:
    return value in {"1", "true", "on"}


# The workbook: which sheets there are, what they have in common.


@dataclass(frozen=True, kw_only=True)
class SheetPart:
    name: str
    part: str
    is_hidden: bool


@dataclass(kw_only=True)
class Workbook:
    archive: zipfile.ZipFile
    sheets: list[SheetPart] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)  # that cells refer to by number
    shows: list[Show] = field(default_factory=list)  # by the number of a cell's style
    unseen: set[int] = field(default_factory=set)  # styles whose text can't be seen
    shown: int = 0  # characters, of all cells that were read
    from_1904: bool = False
    is_uncalculated: bool = False  # whatever opens it is to calculate it; zeros stand for values

    def related(self, part: str, *kinds: str) -> list[str]:
        """Return the parts of these kinds that a part refers to, those that are there."""
        found = relations(self.archive, part).values()
        names = set(self.archive.namelist())
        return [target for each, target in found if each in kinds and target in names]


def open_workbook(archive: zipfile.ZipFile) -> Workbook:
    """Raises KeyError or ExpatError where an archive has no workbook, or a damaged one."""
    roots = [target for kind, target in relations(archive, "").values() if kind == "officeDocument"]
    root = roots[0] if roots else _ROOT
    workbook = Workbook(archive=archive)
    root_relations = relations(archive, root)

    def start(name: str, attributes: Attributes) -> None:
        if name == "workbookPr":
            workbook.from_1904 = _is_on(attributes.get("date1904"))
        elif name == "calcPr":
            workbook.is_uncalculated = _is_on(attributes.get("fullCalcOnLoad"))
        elif name == "sheet":
            identifiers = [value for key, value in attributes.items() if local(key) == "id"]
            kind, part = root_relations.get(identifiers[0] if identifiers else "", ("", ""))
            if kind == "worksheet":
                is_hidden = attributes.get("state", "visible") != "visible"
                sheet = SheetPart(name=attributes.get("name", ""), part=part, is_hidden=is_hidden)
                workbook.sheets.append(sheet)

    parse(archive, root, start=start)
    if not workbook.sheets:
        raise KeyError("no sheet is told")
    names, folder = set(archive.namelist()), posixpath.dirname(root)
    for kind in ("sharedStrings", "styles"):
        # Where Excel writes it, though nothing says so.
        usual = f"{folder}/{kind.lower()}.xml"
        for part in (workbook.related(root, kind) or [usual] * (usual in names))[:1]:
            if kind == "styles":
                styles = _Styles()
                parse(archive, part, start=styles.start, end=styles.end)
                workbook.shows, workbook.unseen = styles.shows(), styles.unseen()
            else:
                workbook.texts = _shared_texts(archive, part)
    return workbook


class _Texts:
    """The text of one element after another, without how East Asian words are pronounced."""

    def __init__(self, element: str) -> None:
        self.found: list[str] = []
        self._element = element
        self._pieces: list[str] = []
        self._is_text = self._is_phonetic = False

    def start(self, name: str, _: Attributes) -> None:
        if name == self._element:
            self._pieces = []
        self._is_phonetic |= name == "rPh"
        self._is_text = name == "t" and not self._is_phonetic

    def end(self, name: str) -> None:
        if name == self._element:
            self.found.append(_unescaped("".join(self._pieces)))
        self._is_phonetic &= name != "rPh"
        self._is_text = False

    def characters(self, text: str) -> None:
        if self._is_text:
            self._pieces.append(text)


def _shared_texts(archive: zipfile.ZipFile, part: str) -> list[str]:
    texts = _Texts("si")
    parse(archive, part, start=texts.start, end=texts.end, characters=texts.characters)
    return texts.found


def shape_texts(workbook: Workbook, part: str) -> list[str]:
    """Return the paragraphs of a drawing's text boxes."""
    texts = _Texts("p")
    parse(workbook.archive, part, start=texts.start, end=texts.end, characters=texts.characters)
    return [text for text in texts.found if text.strip()]


def comment_count(workbook: Workbook, part: str) -> int:
    names = list[str]()
    parse(workbook.archive, part, start=lambda name, _: names.append(name))
    return names.count("comment")


def _unescaped(text: str) -> str:
    """Undo what XML can't have: _x000D_ is a carriage return [22.4.2.4]."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


_TINY = 1.0  # points of a font, a row's height or a column's width
# Of the palette, and of the theme: the colour of paper [18.8.27, and 20.1.6.2: lt1].
_PAPER = {("indexed", "1"), ("indexed", "9"), ("theme", "0")}


@dataclass
class _Styles:
    """Formats, fonts and fills, and which of them the styles of cells have."""

    _codes: dict[int, str] = field(default_factory=lambda: dict(BUILT_IN))
    _fonts: list[Colour | None] = field(default_factory=list)
    _tiny_fonts: set[int] = field(default_factory=set)
    _fills: list[Colour | None] = field(default_factory=list)
    _cells: list[Attributes] = field(default_factory=list)
    _inside: list[str] = field(default_factory=list)

    def start(self, name: str, attributes: Attributes) -> None:
        self._inside.append(name)
        where = self._inside[1:2]
        if name == "numFmt" and where != ["dxfs"]:
            self._codes[_number(attributes.get("numFmtId"))] = attributes.get("formatCode", "")
        elif where == ["cellXfs"] and name == "xf":
            self._cells.append(attributes)
        elif where == ["fonts"]:
            self._font(name, attributes)
        elif where == ["fills"]:
            self._fill(name, attributes)

    def end(self, _: str) -> None:
        self._inside.pop()

    def _font(self, name: str, attributes: Attributes) -> None:
        if name == "font":
            self._fonts.append(None)
        elif name == "sz" and _is_tiny(attributes.get("val")):
            self._tiny_fonts.add(len(self._fonts) - 1)
        elif name == "color" and self._fonts:
            self._fonts[-1] = _colour(attributes)

    def _fill(self, name: str, attributes: Attributes) -> None:
        if name == "patternFill":
            is_none = attributes.get("patternType", "none") == "none"
            self._fills.append(WHITE if is_none else None)
        elif name == "gradientFill":
            self._fills.append(None)
        elif name == "fgColor" and self._fills and self._fills[-1] is None:
            self._fills[-1] = _colour(attributes)

    def shows(self) -> list[Show]:
        codes = (self._codes.get(_number(each.get("numFmtId")), "General") for each in self._cells)
        return [number_format(code) for code in codes]

    def unseen(self) -> set[int]:
        """Return the styles whose text is tiny, or has the colour of its cell."""
        return {number for number, each in enumerate(self._cells) if self._is_unseen(each)}

    def _is_unseen(self, cell: Attributes) -> bool:
        font, fill = _number(cell.get("fontId")), _number(cell.get("fillId"))
        colour = self._fonts[font] if font < len(self._fonts) else None
        paper = self._fills[fill] if fill < len(self._fills) else WHITE
        is_hidden = colour is not None and paper is not None and are_alike(colour, paper)
        return is_hidden or font in self._tiny_fonts


def _colour(attributes: Attributes) -> Colour | None:
    """Return a colour that is told, or the paper's; None of any other of a theme or a palette."""
    if attributes.keys() & {"tint"}:
        return None
    if not _PAPER.isdisjoint(attributes.items()):
        return WHITE
    return of_hex(attributes.get("rgb", "")[-6:])


def _is_tiny(size: str | None) -> bool:
    try:
        return size is not None and float(size) <= _TINY
    except ValueError:
        return False


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0


# A sheet.


@dataclass
class Sheet:
    """
    What the cells of a sheet show, by row and column, and how much of it nobody sees.

    Rows and columns are counted that are hidden and have something in them; `unseen` are cells that
    show nothing of it, and `formulas` those without a value, which show their formula here.
    """

    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    spanned: dict[int, dict[int, str]] = field(default_factory=dict)  # parts of merged cells
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    unseen: int = 0
    formulas: int = 0
    running: list[str] = field(default_factory=list)  # what its headers and footers say


def read_sheet(workbook: Workbook, part: str) -> Sheet:
    reader = _SheetReader(workbook)
    parse(workbook.archive, part, start=reader.start, end=reader.end, characters=reader.characters)
    _span(reader.sheet, reader.merged)
    return reader.sheet


def _span(sheet: Sheet, merged: Sequence[tuple[Position, Position]]) -> None:
    """Take out what merged cells cover, and keep which cells they span, of columns in use."""
    for (top, left), (bottom, right) in merged:
        for row in _within(range(top, bottom + 1), sheet.rows):
            cells = sheet.rows[row]
            for column in _within(range(left, right + 1), cells):
                if (row, column) != (top, left):
                    del cells[column]
    columns = dict.fromkeys(column for cells in sheet.rows.values() for column in cells)
    spanned = 0
    for (top, left), (bottom, right) in merged:
        across = _within(range(left, right + 1), columns)
        for row in _within(range(top, bottom + 1), sheet.rows):
            spanned += len(across)
            if spanned > _MOST_SPANNED:
                return
            parts = sheet.spanned.setdefault(row, {})
            parts.update({at: BESIDE if at > left else ABOVE for at in across})
            if row == top:
                parts.pop(left, None)


def _within(numbers: range, known: Collection[int]) -> list[int]:
    """Return those that are among the known ones."""
    if len(numbers) < len(known):
        return [each for each in numbers if each in known]
    return [each for each in known if each in numbers]


class _SheetReader:
    def __init__(self, workbook: Workbook) -> None:
        self.sheet = Sheet()
        self.merged = list[tuple[Position, Position]]()
        self._workbook = workbook
        self._hidden_columns = set[int]()
        self._is_hidden_row = self._is_text = self._is_phonetic = False
        self._row = self._column = 0
        self._cells: dict[int, str] = {}
        self._cell: Attributes = {}
        self._values: dict[str, str] = {}  # of a cell: its v, t and f
        self._element = ""

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "c":
            self._cell, self._values = attributes, {}
            match = _REFERENCE.fullmatch(attributes.get("r", ""))
            self._column = _column(match[1]) if match else self._column + 1
        elif name in {"v", "t", "f"}:
            self._element = "" if self._is_phonetic else name
            # Nothing is a value of a formula whose value is a text.
            if name == "f" or (name == "v" and self._cell.get("t") == "str"):
                self._values.setdefault(name, "")
        elif name in _RUNNING:
            self._element = name
        elif name == "row":
            self._row = _number(attributes.get("r")) or self._row + 1
            self._column, self._cells = 0, {}
            self._is_hidden_row = _is_on(attributes.get("hidden")) or _is_tiny(attributes.get("ht"))
        elif name == "col" and (
            _is_on(attributes.get("hidden")) or _is_tiny(attributes.get("width"))
        ):
            first, last = _number(attributes.get("min")), _number(attributes.get("max"))
            self._hidden_columns.update(range(first, min(last, _MAX_COLUMN) + 1))
        elif name == "mergeCell":
            self._merge(attributes.get("ref", ""))
        self._is_phonetic |= name == "rPh"

    def characters(self, text: str) -> None:
        if self._element:
            self._values[self._element] = self._values.get(self._element, "") + text

    def end(self, name: str) -> None:
        self._element = ""
        if name == "c":
            self._keep()
        elif name == "row" and self._cells:
            self.sheet.rows[self._row] = self._cells
        elif name in _RUNNING:
            self.sheet.running += _printed(self._values.get(name, ""))
        elif name == "rPh":
            self._is_phonetic = False

    def _keep(self) -> None:
        formula, value = self._values.get("f"), self._value()
        shown = self._shown(value) if value is not None else f"={formula}" if formula else ""
        is_formula = value is None and formula is not None
        if not (shown.strip() or is_formula) or self._column > _MAX_COLUMN:
            return
        if self._is_hidden_row:
            self.sheet.hidden_rows.add(self._row)
        elif self._column in self._hidden_columns:
            self.sheet.hidden_columns.add(self._column)
        elif _number(self._cell.get("s")) in self._workbook.unseen:
            self.sheet.unseen += 1
        else:
            self.sheet.formulas += is_formula
            if shown:
                self._cells[self._column] = shown
                self._workbook.shown += len(shown)
            if self._workbook.shown > _MOST_CHARACTERS:
                raise Unreadable(_TOO_LONG)

    def _value(self) -> str | None:
        value = self._values.get("t" if self._cell.get("t") == "inlineStr" else "v")
        is_made_up = value == "0" and "f" in self._values and self._workbook.is_uncalculated
        return None if is_made_up else value

    def _shown(self, value: str) -> str:
        kind = self._cell.get("t", "n")
        if kind == "b":
            return "TRUE" if _is_on(value.strip()) else "FALSE"
        if kind in {"e", "d"}:  # an error, or a date as ISO 8601 writes it
            return value
        if kind == "s":
            number = _number(value.strip())
            texts = self._workbook.texts
            return self._format()(texts[number] if number < len(texts) else "", False)
        if kind in {"str", "inlineStr"}:
            return self._format()(_unescaped(value), False)
        try:
            return self._format()(float(value), self._workbook.from_1904)
        except (ValueError, OverflowError):
            return value

    def _format(self) -> Show:
        number = _number(self._cell.get("s"))
        shows = self._workbook.shows
        return shows[number] if number < len(shows) else number_format("General")

    def _merge(self, reference: str) -> None:
        corners = [_REFERENCE.fullmatch(each) for each in reference.split(":")]
        if len(corners) == 2 and corners[0] and corners[1]:
            first, last = ((int(each[2]), _column(each[1])) for each in corners if each)
            self.merged.append((first, last))


def _printed(running: str) -> Iterator[str]:
    """Yield what a header or footer says at the left, in the middle and at the right."""
    for part in _PLACE.split(running.replace("&&", "\0")):
        text = _CODE.sub("", part).replace("\0", "&")
        words = text.split()
        if any(map(str.isalpha, text)) and ("&P" not in part or len(words) > _NUMBERED):
            yield " ".join(words)


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number
