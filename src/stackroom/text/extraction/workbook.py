"""
XLSX: every sheet that people see under its name, and on it one table after another, then the texts
of boxes and charts, and of headers and footers that no other sheet has.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from xml.parsers import expat

from stackroom.errors import Unreadable
from stackroom.text.extraction.archive import damaged, opened
from stackroom.text.extraction.colours import WHITE
from stackroom.text.extraction.page import Found, Page, hidden_words, unpaged
from stackroom.text.extraction.spreadsheet_drawings import SheetDrawing
from stackroom.text.extraction.spreadsheet_parts import (
    FORMAT,
    Sheet,
    Workbook,
    comment_count,
    open_workbook,
    read_sheet,
)
from stackroom.text.extraction.spreadsheet_styles import UNKNOWN
from stackroom.text.extraction.tables import names_columns, table_lines

_MOST_SHEETS = 10  # that a sentence names
_LEAST_COLUMNS = 3  # of a table that goes on below an empty row
_SPARSE = 50  # places a cell; where there are more, rows and columns say nothing

_Rows = dict[int, dict[int, str]]  # what stands in which row and column


def read(body: bytes) -> tuple[Page, ...]:
    try:
        with opened(body, FORMAT) as archive:
            return _read(open_workbook(archive))
    except (KeyError, expat.ExpatError) as error:
        raise Unreadable(damaged(FORMAT)) from error


def _read(workbook: Workbook) -> tuple[Page, ...]:
    texts, found, gaps = list[str](), list[Found](), _Gaps()
    length, running = 0, set[str]()
    for part in workbook.sheets:
        if part.is_hidden:
            gaps.hidden_sheets += 1
            continue
        sheet = read_sheet(workbook, part.part)
        tables = [*_tables(sheet), *_shapes(workbook, part.part, gaps)]
        gaps.add(part.name, sheet)
        gaps.objects += len(workbook.related(part.part, "oleObject", "package"))
        gaps.comments += sum(
            comment_count(workbook, each) for each in workbook.related(part.part, "comments")
        )
        # An empty sheet has no lines, not even its name: a workbook of those has no text.
        if tables:
            new = [each for each in dict.fromkeys(sheet.running) if each not in running]
            running.update(new)
            tables += ["\n".join(new)] if new else []
            found.append((length, part.name))
            texts.append("\n\n".join([part.name, *tables]))
            length += len(texts[-1]) + 2
    return unpaged("\n\n".join(texts), found, missing=gaps.sentences())


def _shapes(workbook: Workbook, part: str, gaps: "_Gaps") -> list[str]:
    drawings = workbook.related(part, "drawing")
    charts = [chart for drawing in drawings for chart in workbook.related(drawing, "chart")]
    texts = list[str]()
    paper = WHITE if set(workbook.papers) <= {WHITE} else UNKNOWN
    for each in (*drawings, *charts):
        drawing = SheetDrawing(paper).read(workbook.archive, each)
        texts += drawing.texts
        gaps.hidden_words += drawing.hidden_words
    return ["\n".join(dict.fromkeys(texts))] if texts else []


class _Gaps:
    """The hidden content of a workbook, and the visible content that we don't read."""

    def __init__(self) -> None:
        self.hidden_sheets = self.hidden_words = self.comments = self.objects = 0
        # By kind and sheet.
        self._counts: dict[str, dict[str, int]] = defaultdict(dict)

    def add(self, name: str, sheet: Sheet) -> None:
        for kind, count in (
            ("row", len(sheet.hidden_rows)),
            ("column", len(sheet.hidden_columns)),
            ("unseen", sheet.unseen),
            ("partial", sheet.partial),
            ("formula", sheet.formulas),
        ):
            if count:
                self._counts[kind][name] = count

    def _of(self, *kinds: str) -> tuple[int, str]:
        """Return how many there are of these kinds, and on which sheets."""
        names = dict.fromkeys(name for kind in kinds for name in self._counts[kind])
        return sum(sum(self._counts[kind].values()) for kind in kinds), _listed(list(names))

    def sentences(self) -> Iterator[str]:
        if self.hidden_sheets:
            yield f"{_number(self.hidden_sheets, 'hidden sheet')} left out"
        hidden, names = self._of("row", "column")
        if hidden:
            counts = {each: self._of(each)[0] for each in ("row", "column")}
            each = [_counted(count, f"hidden {kind}") for kind, count in counts.items() if count]
            yield f"{' and '.join(each)} {'were' if hidden > 1 else 'was'} left out: {names}"
        yield from hidden_words(self.hidden_words)
        unseen, names = self._of("unseen")
        if unseen:
            cells = (
                "cells that nobody can see were" if unseen > 1 else "cell that nobody can see was"
            )
            yield f"{unseen} {cells} left out: {names}"
        partial, names = self._of("partial")
        if partial:
            cells = _counted(partial, "cell")
            yield f"text that nobody can see was left out of {cells}: {names}"
        formulas, names = self._of("formula")
        if formulas:
            have = "cells have formulas" if formulas > 1 else "cell has a formula"
            yield f"{formulas} {have} without a value: {names}"
        if self.comments:
            yield f"{_number(self.comments, 'comment')} not read"
        if self.objects:
            yield f"{_number(self.objects, 'embedded object')} not read"


def _number(count: int, noun: str) -> str:
    return f"{_counted(count, noun)} {'were' if count > 1 else 'was'}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count > 1)}"


def _listed(names: Sequence[str]) -> str:
    more = [f"and {len(names) - _MOST_SHEETS} more"] if len(names) > _MOST_SHEETS else []
    return ", ".join([*names[:_MOST_SHEETS], *more])


# The tables of a sheet.


def _tables(sheet: Sheet) -> Iterator[str]:
    for block in _blocks(sheet):
        for part in _side_by_side(block):
            if text := table_lines(_dense(part, sheet.spanned)):
                yield text


def _blocks(sheet: Sheet) -> Iterator[_Rows]:
    """Yield the rows of a sheet, apart where one is empty and the next begins something else."""
    hidden = sorted(sheet.hidden_rows)
    block: _Rows = {}
    last = 0
    for row in sorted(row for row, cells in sheet.rows.items() if cells):
        between = bisect_left(hidden, row) - bisect_left(hidden, last)
        cells = sheet.rows[row]
        if block and row - last - 1 > between and not _goes_on(block[last], cells):
            yield block
            block = {}
        block[row] = cells
        last = row
    if block:
        yield block


def _goes_on(last: dict[int, str], cells: dict[int, str]) -> bool:
    """Return True if a row below an empty one has a table's columns and doesn't name its own."""
    return (
        len(cells) >= _LEAST_COLUMNS
        and (min(cells), max(cells)) == (min(last), max(last))
        and not names_columns(list(cells.values()))
    )


def _side_by_side(rows: _Rows) -> list[_Rows]:
    """Part a block where a column is empty, if all that stand beside each other have a header."""
    columns = sorted({column for cells in rows.values() for column in cells})
    starts = [at for at, each in enumerate(columns) if not at or each > columns[at - 1] + 1]
    if len(starts) < 2:
        return [rows]
    parts = list[_Rows]()
    for begin, end in zip(starts, [*starts[1:], len(columns)], strict=True):
        first, last = columns[begin], columns[end - 1]
        within = {
            row: {at: cells[at] for at in cells if first <= at <= last}
            for row, cells in rows.items()
        }
        parts.append({row: cells for row, cells in within.items() if cells})
    firsts = (next(iter(part.values())) for part in parts)
    return parts if all(names_columns(list(each.values())) for each in firsts) else [rows]


def _dense(rows: _Rows, spanned: dict[int, dict[int, str]]) -> Sequence[Sequence[str]]:
    columns = sorted({column for cells in rows.values() for column in cells})
    if len(rows) * len(columns) > _SPARSE * sum(map(len, rows.values())):
        return [[cells[column] for column in sorted(cells)] for cells in rows.values()]
    whole = ({**spanned.get(row, {}), **cells} for row, cells in rows.items())
    return [[cells.get(column, "") for column in columns] for cells in whole]
