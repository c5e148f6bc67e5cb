"""Parse CSV as a table, whatever delimits its cells, or as plain text if it holds no table."""

import csv
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from itertools import islice

from stackroom.model.formats import MAX_FILE_BYTES
from stackroom.text.extraction.page import Page, unpaged
from stackroom.text.extraction.plain import lines_of
from stackroom.text.extraction.tables import table_lines

_DELIMITERS = ",;\t|"
_SAMPLE_ROWS = 200
_SAMPLE_CHARACTERS = 100_000
_LEAST_ALIKE = 0.6  # of rows, with as many cells
_MOST_CHARACTERS = 16_777_216  # of a table that is read as one: the cells fit into memory
_MOST_LINES = 50  # of a cell; one with more begins with a stray quote
_HINT = "sep="  # in the first line, for Excel
_TOO_LONG = "the table is too long for the names of its columns to stand in each row"


def read(body: bytes) -> tuple[Page, ...]:
    text, missing = lines_of(body)
    table = _table(text) if len(text) <= _MOST_CHARACTERS else ""
    if not table and _delimiter(text):
        missing = (*missing, _TOO_LONG)
    return unpaged(table or text, missing=missing)


def _table(text: str) -> str:
    """Return the text as a table, or nothing if it is none, or would become too long."""
    delimiter = _delimiter(text)
    if delimiter is None:
        return ""
    if text.startswith(_HINT):
        text = text.partition("\n")[2]
    try:
        rows = list(_rows(text, delimiter))
    except csv.Error:
        # Quotes that don't pair: each line is a row, and they are a part of its cells.
        rows = [line.split(delimiter) for line in text.split("\n")]
    table = table_lines(rows, is_named=True)
    return table if len(table) <= MAX_FILE_BYTES else ""


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    for row in csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True):
        if any(cell.count("\n") > _MOST_LINES for cell in row):
            raise csv.Error("a cell with too many lines")
        yield row


def _delimiter(text: str) -> str | None:
    """Return what gives most rows the same number of cells, of several the one with more cells."""
    sample = text[:_SAMPLE_CHARACTERS]
    if sample.startswith(_HINT) and sample[len(_HINT) : len(_HINT) + 2].endswith("\n"):
        return sample[len(_HINT)]
    if len(sample) < len(text):
        sample = sample.rpartition("\n")[0]
    alike = {each: _alike(sample, each) for each in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda each: alike[each])
    return best if alike[best][0] >= _LEAST_ALIKE else None


def _alike(sample: str, delimiter: str) -> tuple[float, int]:
    """Return the share of rows with the most common number of cells, and that number."""
    reader = csv.reader(StringIO(sample, newline=""), delimiter=delimiter)
    try:
        widths = [len(row) for row in islice(reader, _SAMPLE_ROWS) if any(row)]
    except csv.Error:
        return 0, 0
    [(width, count)] = Counter(each for each in widths if each > 1).most_common(1) or [(0, 0)]
    return (round(count / len(widths), 1) if widths else 0), width
