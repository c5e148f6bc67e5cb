"""
Tables as text in which every passage names its columns, wherever a chunker cuts.

A short table is a Markdown table: a passage that has a row of it has its header, too. A longer
one has a line a row, with the name of its column before each value.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest

# Of a Markdown table: hardly more tokens than two passages share where Bedrock cuts by default, 60
# of 300, be it in Latin letters or Chinese.
_SHORT_BYTES = 200
_LINE_BYTES = 200  # of a row; a longer one goes on in another line that begins like the first
_SAMPLE_ROWS = 200  # enough to tell by whether the first row is a header
_LONGEST_NAME = 60  # characters, of a column that a table does not mark as such
_LEAST_AMOUNTS = 5  # below a name that may be long, or one of two that are alike
_SPACES = re.compile(r"[^\S ]|\s\s|^\s|\s$")
_LONGER = 2  # times as long as a header's cell: what stands below a name rather than beside it
# What stands in rows and not above them: amounts, dates, times, booleans, errors, addresses.
_VALUE = re.compile(
    r"[-+(~<>≤≥±]*\s?(?:[A-Z]{3}\s?|\w{0,3}[$€£¥₩₹]\s?)?[-+.]?\d(?!\d*(?:st|nd|rd|th)\b)"
    r"|(?i:true|false|yes|no|n/a|null|none|nan|-+|—|–)$|#\w+[/!?]|\S+@\S+\.\S+$|[a-z]+://"
)
# A header has these in columns of amounts: "Region, 2024, 2025", or a date a month.
_YEAR_OR_DATE = re.compile(r"(?:19|20)\d\d(?:[-/.]\d{1,2}){0,2}$|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}$")


def table_lines(rows: Sequence[Sequence[str]], *, has_header: bool | None = None) -> str:
    """
    Return the rows, texts of cells as people see them, as Markdown without a line end at its end.

    `has_header` says whether the first row names the columns; None finds that out, and takes rows
    with one cell above it for captions. Empty rows, columns and cells are left out. Without a
    header a row is its cells, parted by tabs.
    """
    cells = _filled([[_on_one_line(cell) for cell in row] for row in rows])
    captions = 0 if has_header is not None else _captions(cells)
    lines = ["".join(row) for row in cells[:captions]]
    table = _filled(cells[captions:])
    if has_header is None:
        has_header = bool(table) and _is_header(table)
    elif len(table) < 2 or not any(map(str.strip, rows[0])):
        has_header = False
    if not has_header:
        return "\n".join([*lines, *("\t".join(filter(None, row)) for row in table)])
    short = _markdown(table)
    return "\n".join([*lines, *([short] if short else _records(table[0], table[1:]))])


def names_columns(row: Sequence[str]) -> bool:
    """Return True if each cell is short, unlike the others, and no amount, date or the like."""
    return len(row) > 1 and _are_names([_on_one_line(cell) for cell in row])


def _are_names(cells: Sequence[str]) -> bool:
    return len(set(cells)) == len(cells) and all(
        cell and len(cell) <= _LONGEST_NAME and not _VALUE.match(cell) for cell in cells
    )


def _on_one_line(cell: str) -> str:
    return " ".join(cell.split()) if _SPACES.search(cell) else cell


def _filled(rows: list[list[str]]) -> list[list[str]]:
    """Return the rows without those, and without columns, that have nothing in them."""
    rows = [row for row in rows if any(row)]
    used = [any(column) for column in zip_longest(*rows, fillvalue="")]
    if all(used):
        return rows
    return [[cell for cell, is_used in zip(row, used, strict=False) if is_used] for row in rows]


def _captions(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows with one cell stand above the first that has more, if one has."""
    for number, row in enumerate(rows):
        if sum(map(bool, row)) > 1:
            return number
    return 0


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    header, body = rows[0], rows[1:_SAMPLE_ROWS]
    if len(header) < 2 or 2 * sum(len(row) > len(header) for row in body) > len(body):
        return False
    below = [[row[at] for row in body if at < len(row) and row[at]] for at in range(len(header))]
    # Names of rows have none of their own in many tables; a row of years is a header if amounts
    # stand below, and a lone one a row's date.
    series = {at for at, name in enumerate(header) if at and _YEAR_OR_DATE.match(name)}
    if len(series) < 2 or any(all(map(_YEAR_OR_DATE.match, below[at])) for at in series):
        series = set()
    names = [name for at, name in enumerate(header) if at not in series and (at or name)]
    if body and names and _stand_above_amounts(header, below, series):
        return True
    if not body or not _are_names(names):
        return False
    return len(header) > 2 or any(map(_differs, header, below))


def _stand_above_amounts(
    header: Sequence[str], below: Sequence[Sequence[str]], series: Collection[int]
) -> bool:
    """Return True if nothing but amounts is below some names, be they long or alike, of three."""
    amounts = [
        at
        for at, cells in enumerate(below)
        if len(cells) >= _LEAST_AMOUNTS and all(map(_VALUE.match, cells))
    ]
    return (
        len(header) > 2
        and bool(amounts)
        and all(header[at] and (at in series or not _VALUE.match(header[at])) for at in amounts)
        and not any(_VALUE.match(name) for at, name in enumerate(header) if at not in series)
    )


def _differs(name: str, below: Sequence[str]) -> bool:
    """Return True if a column's values are of another kind than its first cell."""
    if not name or not below:
        return False
    values = sum(_VALUE.match(cell) is not None for cell in below)
    is_longer = sum(map(len, below)) > _LONGER * len(below) * len(name)
    return values > len(below) / 2 or is_longer or 2 * len(set(below)) <= len(below)


def _markdown(table: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, or nothing for a longer one."""
    if sum(len(cell) for row in table[: _SHORT_BYTES // 4] for cell in row) > _SHORT_BYTES:
        return ""
    width = max(map(len, table))
    padded = [[*row, *[""] * (width - len(row))] for row in table]
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in padded]
    markdown = "\n".join([lines[0], "|" + "---|" * width, *lines[1:]])
    return markdown if len(markdown.encode()) <= _SHORT_BYTES else ""


def _records(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    names = [name.rstrip(" :") for name in header]
    for row in rows:
        pairs = [
            f"{name}: {cell}" if name else cell
            for name, cell in zip_longest(names, row, fillvalue="")
            if cell
        ]
        # A number alone says little.
        yield from _wrapped(pairs, 2 if _VALUE.match(row[0]) else 1)


def _wrapped(pairs: Sequence[str], names: int) -> Iterator[str]:
    """Begin each line by the first pairs, which say what the row is about."""
    line = list(pairs[:names])
    size = least = len("; ".join(line).encode())
    for pair in pairs[names:]:
        added = len(pair.encode()) + 2
        if size + added > _LINE_BYTES and len(line) > names:
            yield "; ".join(line)
            line, size = [*pairs[:names]], least
        line.append(pair)
        size += added
    yield "; ".join(line)
