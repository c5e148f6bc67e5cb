"""
Lines of text as they stand on a page, in the order in which people read them.

What stands side by side is a line of its own in OCR: here cells of a row become one line, and two
columns of prose one after the other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

_LEAST_LINES = 4  # of a column
_LEAST_WIDTH = 0.25  # of the page, that lines of a column have: cells of a table are narrower
_MIDDLE = 0.5


@dataclass(frozen=True, kw_only=True)
class TextLine:
    """
    A line of text on a page. Places and sizes are shares of the page's sides; `confidence` is in
    percent.
    """

    text: str
    confidence: float
    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def middle(self) -> float:
        return self.top + self.height / 2


def text_in_order(lines: Sequence[TextLine]) -> str:
    downwards = sorted(lines, key=lambda each: each.middle)
    if not _has_columns(downwards):
        return "\n".join(_rows(downwards))
    rows = list[str]()
    # A heading across both columns ends those above it.
    for crosses, band in groupby(downwards, key=_crosses):
        if crosses:
            rows += _rows([*band])
            continue
        columns: tuple[list[TextLine], list[TextLine]] = ([], [])
        for each in band:
            columns[each.left >= _MIDDLE].append(each)
        for column in columns:
            rows += _rows(column)
    return "\n".join(rows)


def _crosses(line: TextLine) -> bool:
    return line.left < _MIDDLE < line.right


def _has_columns(lines: Sequence[TextLine]) -> bool:
    """
    Return True if most lines stand on one side of the middle, and are as long as those of prose.
    """
    sides = (
        [each for each in lines if each.right <= _MIDDLE],
        [each for each in lines if each.left >= _MIDDLE],
    )
    return len(lines) < 2 * sum(map(len, sides)) and all(
        len(side) >= _LEAST_LINES and median(each.width for each in side) >= _LEAST_WIDTH
        for side in sides
    )


def _rows(lines: Sequence[TextLine]) -> Iterator[str]:
    """Yield a line of text for each row; the lines go downwards."""
    row = list[TextLine]()
    for line in lines:
        if row and line.middle - row[-1].middle > row[-1].height / 2:
            yield _joined(row)
            row = []
        row.append(line)
    if row:
        yield _joined(row)


def _joined(row: Sequence[TextLine]) -> str:
    return " ".join(each.text for each in sorted(row, key=lambda each: each.left))
