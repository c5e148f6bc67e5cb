"""
XLSX: every sheet under its name, a row a line, cells parted by tabs.

Cells name their text by number, so that a small file can stand for very much text; only a bound
on the process stops that (see `stackroom.inspection.extraction.apart`).
"""

from collections.abc import Iterator
from io import BytesIO

from python_calamine import CalamineError, CalamineWorkbook, load_workbook

from stackroom.errors import Unreadable
from stackroom.inspection.extraction.archive import damaged, opened
from stackroom.inspection.extraction.page import Page, unpaged

_FORMAT = "XLSX"


def read(body: bytes) -> tuple[Page, ...]:
    try:
        with opened(body, _FORMAT):
            workbook = load_workbook(BytesIO(body))
        return unpaged("\n".join(_lines(workbook)))
    except CalamineError as error:
        raise Unreadable(damaged(_FORMAT)) from error


def _lines(workbook: CalamineWorkbook) -> Iterator[str]:
    for name in workbook.sheet_names:
        sheet = workbook.get_sheet_by_name(name)
        lines = ("\t".join(map(_cell, cells)).strip() for cells in sheet.iter_rows())
        rows = [line for line in lines if line]
        # An empty sheet has no lines, not even its name: a workbook of those has no text.
        if rows:
            yield name
            yield from rows


def _cell(cell: object) -> str:
    # Spreadsheets know no integers: 80 comes as 80.0.
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)
