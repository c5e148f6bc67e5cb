"""XLSX: every sheet under its name, a row a line, cells parted by tabs."""

from collections.abc import Iterator, Sequence
from io import BytesIO

from python_calamine import CalamineError, CalamineWorkbook, load_workbook

from stackroom.errors import Unreadable
from stackroom.extraction.archive import chunks, damaged, opened
from stackroom.extraction.page import Page, unpaged

_FORMAT = "XLSX"
# Cells name their text by number, so that few bytes can stand for very many characters.
_MAX_CHARACTERS = 100_000_000


def read(body: bytes) -> tuple[Page, ...]:
    with opened(body, _FORMAT) as archive:
        for name in archive.namelist():
            for _ in chunks(archive, name):
                pass  # the parser does not bound what it unpacks: prove every member first
    try:
        workbook = load_workbook(BytesIO(body))
        # An empty sheet has no lines, not even its name: a workbook of those has no text.
        return unpaged("\n".join(_bounded(_lines(workbook))))
    except CalamineError as error:
        raise Unreadable(damaged(_FORMAT)) from error


def _lines(workbook: CalamineWorkbook) -> Iterator[str]:
    for name in workbook.sheet_names:
        rows = [row for row in map(_line, workbook.get_sheet_by_name(name).iter_rows()) if row]
        if rows:
            yield name
            yield from rows


def _line(cells: Sequence[object]) -> str:
    return "\t".join(_cell(cell) for cell in cells).strip()


def _cell(cell: object) -> str:
    # Spreadsheets know no integers: 80 comes as 80.0.
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def _bounded(lines: Iterator[str]) -> Iterator[str]:
    total = 0
    for line in lines:
        total += len(line)
        if total > _MAX_CHARACTERS:
            raise Unreadable("the workbook holds too much text; split it and upload the parts")
        yield line
