"""
XLSX: every sheet under its name, a row a line, cells parted by tabs.

Cells name their text by number, so that a small file can stand for very much text; only a bound
on the process stops that (see `stackroom.inspection.extraction.apart`).
"""

import re
import zipfile
from collections.abc import Iterator
from io import BytesIO

from python_calamine import CalamineError, CalamineWorkbook, load_workbook

from stackroom.errors import Unreadable
from stackroom.inspection.extraction.archive import damaged, opened
from stackroom.inspection.extraction.page import Page, unpaged

_FORMAT = "XLSX"
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
# A cell with a formula, up to its end; no cell holds another [ECMA-376, 18.3.1.4].
_FORMULA = re.compile(rb"<c\b(?:(?!</c>).)*?<f\b(?:(?!</c>).)*</c>", re.DOTALL)
_MAX_SHEET_BYTES = 20_971_520  # of a sheet that is looked through, for it takes its time


def read(body: bytes) -> tuple[Page, ...]:
    try:
        with opened(body, _FORMAT) as archive:
            workbook = load_workbook(BytesIO(body))
            missing = _missing(archive)
        return unpaged("\n".join(_lines(workbook)), missing=missing)
    except CalamineError as error:
        raise Unreadable(damaged(_FORMAT)) from error


def _missing(archive: zipfile.ZipFile) -> list[str]:
    """Formulas that no program has computed before the workbook was saved have no value."""
    sheets = [each for each in archive.infolist() if _SHEET.fullmatch(each.filename)]
    read = (archive.read(each) for each in sheets if each.file_size <= _MAX_SHEET_BYTES)
    count = sum(b"<v>" not in cell[0] for sheet in read for cell in _FORMULA.finditer(sheet))
    if not count:
        return []
    return [f"{count} cell{'s have formulas' if count > 1 else ' has a formula'} without a value"]


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
