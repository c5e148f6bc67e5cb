"""
The parts of a page of Word or of the web: paragraphs, headings and tables.

A table's rows are text by `table_lines`. A table that only arranges a page, by cells with headings
or long text, is the text of its cells instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from stackroom.text.extraction.page import Found
from stackroom.text.extraction.tables import ABOVE, BESIDE, table_lines

_LONGEST_CELL = 1_000  # characters, of a cell that is one of a table's values
_MOST_COLUMNS = 500  # of a table; where there are more, rows are the text of their cells
MAX_ACROSS = 100  # columns that a cell may span
_MOST_SPANNED = 1_000_000  # cells of a table, those counted twice that span several


@dataclass(frozen=True)
class Block:
    """
    A paragraph or a table.

    `heading` is what a heading says, without signs that only stand in its text. `flat` is a
    table's text on one line, for a cell that it stands in.
    """

    text: str
    heading: str | None = None
    flat: str = ""


@dataclass
class Cell:
    """A cell of a table. One that `continues` is part of the cell above it."""

    blocks: list[Block] = field(default_factory=list)
    across: int = 1
    continues: bool = False
    is_header: bool = False

    @property
    def text(self) -> str:
        return " ".join(filter(None, (each.flat or each.text.strip() for each in self.blocks)))


Row = list[Cell]


def joined(blocks: Sequence[Block]) -> tuple[str, list[Found]]:
    """Return the text, a block after the other, and where headings begin in it."""
    written, found, length = list[str](), list[Found](), 0
    for block in blocks:
        if not block.text.strip():
            continue
        if block.heading is not None:
            found.append((length, block.heading))
        written.append(block.text)
        length += len(block.text) + 1
    return "\n".join(written), found


def table_blocks(rows: Sequence[Row], *, headers: int = 0) -> list[Block]:
    """Return a table's text; the first rows that are said to be `headers` name its columns."""
    rows = [row for row in rows if row]
    if _is_arrangement(rows, headers):
        return [
            block for row in rows for cell in row if not cell.continues for block in cell.blocks
        ]
    cells = [[part for cell in row for part in _parts(cell)] for row in rows]
    lines = table_lines(cells, headers=headers or None)
    flat = "; ".join(", ".join(filter(None, row)) for row in cells)
    return [Block(lines, flat=flat)]


def _is_arrangement(rows: Sequence[Row], headers: int) -> bool:
    if not any(sum(bool(cell.blocks) for cell in row) > 1 for row in rows):
        return True
    if any(sum(cell.across for cell in row) > _MOST_COLUMNS for row in rows):
        return True
    if sum(cell.across for row in rows for cell in row) > _MOST_SPANNED:
        return True
    return any(
        sum(len(block.flat or block.text) for block in cell.blocks) > _LONGEST_CELL
        or (number >= headers and any(block.heading is not None for block in cell.blocks))
        for number, row in enumerate(rows)
        for cell in row
    )


def _parts(cell: Cell) -> list[str]:
    return [ABOVE if cell.continues else cell.text, *[BESIDE] * (cell.across - 1)]
