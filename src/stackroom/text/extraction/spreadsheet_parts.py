"""
The parts of an XLSX: what each cell shows, and where [ECMA-376, part 1, 18.2 to 18.4 and 18.8].
"""

import posixpath
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from stackroom.errors import Unreadable
from stackroom.text.extraction.colours import WHITE
from stackroom.text.extraction.number_formats import number_format
from stackroom.text.extraction.ooxml import Attributes, local, parse, relations
from stackroom.text.extraction.spreadsheet_conditions import (
    CELL,
    Area,
    Condition,
    ErrorValue,
    Position,
    Value,
    areas_of,
    column_number,
)
from stackroom.text.extraction.spreadsheet_styles import (
    BLACK,
    CellStyles,
    Difference,
    Font,
    Shade,
    Show,
    as_number,
    is_tiny,
)
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
# Headers and footers, and the switch without which pages don't have them.
_RUNNING = {
    **dict.fromkeys(("oddHeader", "oddFooter"), ""),
    **dict.fromkeys(("evenHeader", "evenFooter"), "differentOddEven"),
    **dict.fromkeys(("firstHeader", "firstFooter"), "differentFirst"),
}
# In a header or footer: a font, a size, a colour, a page number and the like [18.3.1.46].
_CODE = re.compile(r'&(?:"[^"]*"|\d+|K(?:[0-9A-Fa-f]{6}|\d\d[+-]\d{3})|[A-Z])')
_NUMBERED = 2  # words beside a page's number, such as "page" and "of"
_PLACE = re.compile(r"&[LCR]")
_MOST_CONDITIONS = 200  # of a sheet, of those that may hide cells
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")

Run = tuple[str, Font | None]  # a part of a text; None is the font of its cell


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
    texts: list[str | list[Run]] = field(default_factory=list)  # that cells refer to by number
    shows: list[Show] = field(default_factory=list)  # by the number of a cell's style
    unseen: set[int] = field(default_factory=set)  # styles whose text can't be seen
    papers: list[Shade] = field(default_factory=list)  # what letters of a style stand on
    inks: list[Shade] = field(default_factory=list)  # of those letters
    hiding: dict[int, Difference] = field(default_factory=dict)  # by which conditions hide cells
    shown: int = 0  # characters, of all cells that were read
    from_1904: bool = False
    is_uncalculated: bool = False  # whatever opens it is to calculate it; zeros stand for values

    def related(self, part: str, *kinds: str) -> list[str]:
        """Return the parts of these kinds that a part refers to, those that are there."""
        found = relations(self.archive, part).values()
        names = set(self.archive.namelist())
        return [target for each, target in found if each in kinds and target in names]


def open_workbook(archive: zipfile.ZipFile) -> Workbook:
    """Open the workbook. Raises KeyError or ExpatError if an archive has none, or a damaged one."""
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
            if kind in {"worksheet", "chartsheet"}:
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
                styles = CellStyles()
                parse(archive, part, start=styles.start, end=styles.end)
                workbook.shows = styles.shows()
                workbook.unseen, workbook.papers = styles.unseen(), styles.papers()
                workbook.inks, workbook.hiding = styles.inks(), styles.hiding()
            else:
                workbook.texts = _texts(archive, part, "si")
    return workbook


class _Texts:
    """
    The text of one element after another, without how East Asian words are pronounced; its runs
    where some have fonts of their own.
    """

    def __init__(self, element: str) -> None:
        self.found: list[str | list[Run]] = []
        self._element = element
        self._runs: list[Run] = []
        self._font: Font | None = None
        self._is_text = self._is_phonetic = False

    def start(self, name: str, attributes: Attributes) -> None:
        if name == self._element:
            self._runs = []
        elif name in {"r", "rPr"}:
            self._font = Font() if name == "rPr" else None
        elif self._font:
            self._font.note(name, attributes)
        self._is_phonetic |= name == "rPh"
        self._is_text = name == "t" and not self._is_phonetic

    def end(self, name: str) -> None:
        if name == self._element:
            is_rich = any(font for _, font in self._runs)
            runs = [(_unescaped(text), font) for text, font in self._runs]
            self.found.append(runs if is_rich else "".join(text for text, _ in runs))
        elif name == "r":
            self._font = None
        self._is_phonetic &= name != "rPh"
        self._is_text = False

    def characters(self, text: str) -> None:
        if self._is_text:
            self._runs.append((text, self._font))


def _runs(text: str | list[Run]) -> list[Run]:
    return [(text, None)] if isinstance(text, str) else text


def _texts(archive: zipfile.ZipFile, part: str, element: str) -> list[str | list[Run]]:
    texts = _Texts(element)
    parse(archive, part, start=texts.start, end=texts.end, characters=texts.characters)
    return texts.found


def comment_count(workbook: Workbook, part: str) -> int:
    names = list[str]()
    parse(workbook.archive, part, start=lambda name, _: names.append(name))
    return names.count("comment")


def _unescaped(text: str) -> str:
    """Undo what XML can't have: _x000D_ is a carriage return [22.4.2.4]."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


# A sheet.


@dataclass
class Sheet:
    """
    The visible text of a sheet's cells, by row and column, and how much of it nobody sees.

    Hidden rows and columns count if they have something in them; `unseen` counts cells that show
    nothing of theirs, `partial` those that show a part, and `formulas` those without a value, which
    show their formula here.
    """

    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    spanned: dict[int, dict[int, str]] = field(default_factory=dict)  # parts of merged cells
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    unseen: int = 0
    partial: int = 0
    formulas: int = 0
    running: list[str] = field(default_factory=list)  # what its headers and footers say


def read_sheet(workbook: Workbook, part: str) -> Sheet:
    reader = _SheetReader(workbook)
    parse(workbook.archive, part, start=reader.start, end=reader.end, characters=reader.characters)
    reader.hide_by_conditions()
    _span(reader.sheet, reader.merged)
    return reader.sheet


def _span(sheet: Sheet, merged: Sequence[Area]) -> None:
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


def _covered(areas: Sequence[Area], rows: Mapping[int, Mapping[int, str]]) -> Iterator[Position]:
    for (top, left), (bottom, right) in areas:
        for row in _within(range(top, bottom + 1), rows):
            yield from ((row, at) for at in _within(range(left, right + 1), rows[row]))


def _condition(areas: Sequence[Area], attributes: Attributes) -> Condition:
    return Condition(
        areas=areas,
        kind=attributes.get("type", ""),
        operator=attributes.get("operator", ""),
        text=attributes.get("text", ""),
        style=as_number(attributes["dxfId"]) if "dxfId" in attributes else -1,
    )


class _SheetReader:
    def __init__(self, workbook: Workbook) -> None:
        self.sheet = Sheet()
        self.merged = list[Area]()
        self._areas, self._conditions = list[Area](), list[Condition]()
        self._values_at: dict[Position, Value] = {}  # what a condition may be about
        self._styles_at: dict[Position, int] = {}
        self._workbook = workbook
        self._hidden_columns = set[int]()
        self._is_hidden_row = False
        self._inline: _Texts | None = None  # a cell's own text
        self._row = self._column = 0
        self._cells: dict[int, str] = {}
        self._cell: Attributes = {}
        self._values: dict[str, str] = {}  # of a cell: its v, t and f
        self._element = ""
        self._running: Attributes = {}

    def start(self, name: str, attributes: Attributes) -> None:
        if self._inline:
            self._inline.start(name, attributes)
        elif name == "c":
            self._cell, self._values = attributes, {}
            match = CELL.fullmatch(attributes.get("r", ""))
            self._column = column_number(match[2]) if match else self._column + 1
        elif name == "is":
            self._inline = _Texts(name)
        elif name in {"v", "f"}:
            self._element = name
            # Nothing is a value of a formula whose value is a text.
            if name == "f" or (name == "v" and self._cell.get("t") == "str"):
                self._values.setdefault(name, "")
        elif name == "row":
            self._row = as_number(attributes.get("r")) or self._row + 1
            self._column, self._cells = 0, {}
            self._is_hidden_row = _is_on(attributes.get("hidden")) or is_tiny(attributes.get("ht"))
        else:
            self._start_beside_cells(name, attributes)

    def _start_beside_cells(self, name: str, attributes: Attributes) -> None:
        if name == "headerFooter":
            self._running = attributes
        elif name in _RUNNING or name == "formula":
            self._element = name
            self._values.pop(name, None)
        elif name == "conditionalFormatting":
            self._areas = areas_of(attributes.get("sqref", ""))
        elif name == "cfRule" and len(self._conditions) < _MOST_CONDITIONS:
            self._conditions.append(_condition(self._areas, attributes))
        elif name == "col" and (
            _is_on(attributes.get("hidden")) or is_tiny(attributes.get("width"))
        ):
            first, last = as_number(attributes.get("min")), as_number(attributes.get("max"))
            self._hidden_columns.update(range(first, min(last, _MAX_COLUMN) + 1))
        elif name == "mergeCell":
            self.merged += areas_of(attributes.get("ref", ""))

    def characters(self, text: str) -> None:
        if self._inline:
            self._inline.characters(text)
        elif self._element:
            self._values[self._element] = self._values.get(self._element, "") + text

    def end(self, name: str) -> None:
        self._element = ""
        if self._inline and name != "c":
            self._inline.end(name)
        elif name == "c":
            self._keep()
            self._inline = None
        elif name == "row" and self._cells:
            self.sheet.rows[self._row] = self._cells
        elif name == "formula" and self._conditions:
            self._conditions[-1].formulas.append(self._values.get(name, ""))
        elif name in _RUNNING and (
            not (switch := _RUNNING[name]) or _is_on(self._running.get(switch))
        ):
            self.sheet.running += _printed(self._values.get(name, ""))

    def _keep(self) -> None:
        formula, value = self._values.get("f"), self._value()
        is_formula = value is None and formula is not None
        if value is None:
            value = f"={formula}" if formula else ""
        runs = _runs(value)
        whole = "".join(text for text, _ in runs)
        seen = "".join(text for text, font in runs if self._is_seen(font))
        shown = self._shown(seen) if seen and not is_formula else seen
        if not (whole.strip() or is_formula) or self._column > _MAX_COLUMN:
            return
        if self._is_hidden_row:
            self.sheet.hidden_rows.add(self._row)
        elif self._column in self._hidden_columns:
            self.sheet.hidden_columns.add(self._column)
        elif whole.strip() and not shown.strip():
            self.sheet.unseen += not (seen and _is_zero(whole))
        else:
            self.sheet.formulas += is_formula
            self.sheet.partial += seen.split() != whole.split()
            if self._workbook.hiding:
                at = self._row, self._column
                self._styles_at[at] = as_number(self._cell.get("s"))
                self._values_at[at] = self._comparable(whole)
            if shown:
                self._cells[self._column] = shown
                self._workbook.shown += len(shown)
            if self._workbook.shown > _MOST_CHARACTERS:
                raise Unreadable(_TOO_LONG)

    def _value(self) -> str | list[Run] | None:
        """Return what a cell has in it: its text or its runs, or a number as it is stored."""
        kind, value = self._cell.get("t"), self._values.get("v")
        if kind == "inlineStr":
            return self._inline.found[-1] if self._inline and self._inline.found else None
        if kind == "s" and value is not None:
            number, texts = as_number(value.strip()), self._workbook.texts
            return texts[number] if number < len(texts) else ""
        is_made_up = value == "0" and "f" in self._values and self._workbook.is_uncalculated
        return None if is_made_up else value

    def _shown(self, value: str) -> str:
        kind = self._cell.get("t", "n")
        if kind == "b":
            return "TRUE" if _is_on(value.strip()) else "FALSE"
        if kind in {"e", "d"}:  # an error, or a date as ISO 8601 writes it
            return value
        if kind in {"s", "str", "inlineStr"}:
            return self._format()(_unescaped(value) if kind == "str" else value, False)
        try:
            return self._format()(float(value), self._workbook.from_1904)
        except (ValueError, OverflowError):
            return value

    def _is_seen(self, font: Font | None) -> bool:
        """Return True for letters in the cell's font, or a run's own, that the cell shows."""
        style, papers = as_number(self._cell.get("s")), self._workbook.papers
        if font:
            return font.is_seen_on(papers[style] if style < len(papers) else WHITE)
        return style not in self._workbook.unseen

    def _format(self) -> Show:
        number = as_number(self._cell.get("s"))
        shows = self._workbook.shows
        return shows[number] if number < len(shows) else number_format("General")

    def hide_by_conditions(self) -> None:
        """Take out the cells that a conditional format hides."""
        for condition in self._conditions:
            difference, rows = self._workbook.hiding.get(condition.style), self.sheet.rows
            for at in _covered(condition.areas, rows) if difference else ():
                if self._looks_hidden(difference, at) and condition.holds(at, self._values_at):
                    del rows[at[0]][at[1]]
                    value = self._values_at[at]
                    # Tables hide zeros and errors that say nothing.
                    self.sheet.unseen += not (isinstance(value, ErrorValue) or value == 0)

    def _looks_hidden(self, difference: Difference | None, at: Position) -> bool:
        style, value = self._styles_at[at], self._values_at[at]
        inks, papers = self._workbook.inks, self._workbook.papers
        look = (inks[style], papers[style]) if style < len(inks) else (BLACK, WHITE)
        shown = value if isinstance(value, float | str) else str(value)
        return difference is not None and difference.hides(*look, shown)

    def _comparable(self, value: str) -> Value:
        kind = self._cell.get("t", "n")
        if kind == "n":
            with suppress(ValueError):
                return float(value)
        return ErrorValue(value) if kind == "e" else _is_on(value) if kind == "b" else value


def _is_zero(text: str) -> bool:
    """Return True for what formats leave blank in many tables."""
    try:
        return float(text) == 0
    except ValueError:
        return False


def _printed(running: str) -> Iterator[str]:
    """Yield what a header or footer says at the left, in the middle and at the right."""
    for part in _PLACE.split(running.replace("&&", "\0")):
        text = _CODE.sub("", part).replace("\0", "&")
        words = text.split()
        if any(map(str.isalpha, text)) and ("&P" not in part or len(words) > _NUMBERED):
            yield " ".join(words)
