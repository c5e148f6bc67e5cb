"""
Tables as text in which every passage names its columns, wherever a chunker cuts.

A short table is a Markdown table: a passage that has a row of it has its header, too. A longer
one has a line a row, with the name of its column before each value.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import Final

# Of a Markdown table: hardly more tokens than two passages share where Bedrock cuts by default, 60
# of 300, be it in Latin letters or Chinese.
_SHORT_BYTES = 200
_LINE_BYTES = 200  # of a row; a longer one goes on in another line that begins like the first
_SAMPLE_ROWS = 200  # enough to tell by whether the first row is a header
_LONGEST_NAME = 100  # characters, of a column that a table does not mark as such
_LEAST_NAMED = 2 / 3  # of the columns, where nothing else says that a row is a header
_LEAST_COUNT = 5  # columns that are counted, from 0 or 1 on
_LEAST_AMOUNTS = 5  # below a name that may be long, or one of two that are alike
_SPACES = re.compile(r"[^\S ]|\s\s|^\s|\s$")
_LONGER = 2  # times as long as a header's cell: what stands below a name rather than beside it
_MOST = 3 / 4  # of a column's cells
# What stands in rows and not above them: amounts, dates, times, booleans, errors, addresses.
_VALUE = re.compile(
    r"[-+(~<>≤≥±]*\s?(?:[A-Z]{3}\s?|\w{0,3}[$€£¥₩₹]\s?)?[-+.]?\d(?!\d*(?:st|nd|rd|th)\b)"
    r"|(?i:true|false|yes|no|n/a|null|none|nan|-+|—|–)$|#\w+[/!?]|\S+@\S+\.\S+$|[a-z]+://"
)
# A header has these in columns of amounts: "Region, 2024, 2025", or a date a month.
_YEAR_OR_DATE = re.compile(r"(?:19|20)\d\d(?:[-/.]\d{1,2}){0,2}$|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}$")


class _Part(str):
    """An empty cell that is part of another one."""

    __slots__ = ()


BESIDE: Final = _Part()  # of the one at its left, which spans several columns
ABOVE: Final = _Part()  # of the one above, which spans several rows


def table_lines(
    rows: Sequence[Sequence[str]], *, headers: int | None = None, is_named: bool = False
) -> str:
    """
    Return the rows, texts of cells as people see them, as Markdown without a line end at its end.

    `headers` says how many of the first rows name the columns; None finds that out, in favour of
    names where tables like this one have them more often than not (`is_named`), and takes rows with
    few cells above them for notes. Empty rows and columns are left out, and a header that comes
    again. Without a header a row is its cells, parted by tabs, also those that are empty. A cell
    that spans others is followed by `BESIDE`, and has `ABOVE` below it.
    """
    cells = _filled([[_on_one_line(cell) for cell in row] for row in rows])
    if headers:  # none, where all that is there for names is blank
        headers = sum(any(map(str.strip, row)) for row in rows[:headers]) or None
    notes = _notes(cells) if headers is None else _titles(cells[:headers])
    lines = ["\t".join(filter(None, row)) for row in cells[:notes]]
    table = _filled(cells[notes:])
    if headers is None:
        headers = _headers(table, is_named=is_named)
    else:
        headers = _levels(table, headers - notes)
    if not 0 < headers < len(table):
        return "\n".join([*lines, *("\t".join(row).rstrip("\t") for row in _continued(table))])
    names, above = _names(table[:headers]), table[:headers]
    body = [row for row in table[headers:] if row not in above] or table[headers:]
    has_notes = any(_is_spanned(row) for row in body)
    short = "" if has_notes else _markdown([names, *body])
    return "\n".join([*lines, *([short] if short else _records(names, body))])


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


def _titles(headers: Sequence[Sequence[str]]) -> int:
    """Return how many rows with one cell, the first one, stand above those that name columns."""
    last = headers[-1] if headers else ()
    return sum(
        _is_spanned(row) or (row is not last and bool(row[0]) and not any(row[1:]))
        for row in headers
    )


def _notes(rows: Sequence[Sequence[str]]) -> int:
    """Return how many rows with fewer cells than a table has stand above it."""
    widths = sorted(sum(map(bool, row)) for row in rows[:_SAMPLE_ROWS])
    titles = next((at for at, row in enumerate(rows) if not _is_title(row)), 0)
    notes = titles
    for at, (row, below) in enumerate(pairwise(rows[titles:]), titles):
        is_note = _is_note(row, below, widths[len(widths) // 2]) or _is_above_names(rows[at:])
        if not (_is_title(row) or is_note):
            break
        notes += 1
    return notes if _headers(rows[notes:], is_named=False) else titles


def _is_title(row: Sequence[str]) -> bool:
    """Return True for one cell, unless it spans some columns and leaves out the first one."""
    return sum(map(bool, row)) == 1 and (bool(row[0]) or not _has(BESIDE, row))


def _is_note(row: Sequence[str], below: Sequence[str], width: int) -> bool:
    """Return True for cells at the left that say something of a table, and name no columns."""
    cells = sum(map(bool, row))
    if _has(BESIDE, row):
        return _is_spanned(row)
    return (
        cells < width
        and all(row[:cells])
        and bool(below[0])
        and (
            2 * cells < width
            or len(row) < width
            or any(cell.endswith(":") or _VALUE.match(cell) for cell in row)
        )
    )


def _is_above_names(table: Sequence[Sequence[str]]) -> bool:
    """Return True if a row has blanks, and the one below it names all columns without it."""
    row, names = table[:2]
    return (
        not all(row) and not _has(BESIDE, row) and names_columns(names) and _is_second_header(table)
    )


def _headers(table: Sequence[Sequence[str]], *, is_named: bool) -> int:
    """Return how many rows name the columns."""
    if _is_second_header(table) or (len(table) > 1 and _goes_on_naming(table[:1], table[1])):
        return _levels(table, 2)
    if len(table) > 1 and _has(ABOVE, table[1]):
        return 0  # the first row's value is that of several rows
    return int(bool(table) and (_is_header(table) or (is_named and _has_names(table))))


def _levels(table: Sequence[Sequence[str]], headers: int) -> int:
    """Return how many rows name the columns, if these do."""
    while 0 < headers < len(table) and (
        _goes_on_naming(table[:headers], table[headers])
        or (
            (headers == 1 or _has(BESIDE, table[headers - 1]))
            and _is_second_header(table[headers - 1 :])
        )
    ):
        headers += 1
    return headers


def _goes_on_naming(headers: Sequence[Sequence[str]], row: Sequence[str]) -> bool:
    """Return True if a name of several columns has others below it, beside one of several rows."""
    return (
        _has(ABOVE, row)
        and any(_has(BESIDE, each) for each in headers)
        and not any(
            _VALUE.match(cell) and not _YEAR_OR_DATE.match(cell)
            for each in (*headers, row)
            for cell in each
        )
    )


def _has(part: str, row: Sequence[str]) -> bool:
    return any(cell is part for cell in row)


def _has_names(table: Sequence[Sequence[str]]) -> bool:
    """Return True if all columns have names, but for the last ones."""
    filled = [at for at, cell in enumerate(table[0], start=1) if cell]
    row, body = table[0][: filled[-1]], [each for each in table[1:_SAMPLE_ROWS] if each != table[0]]
    return names_columns(row) and not any(map(_is_value, row, _below(row, body)))


def _is_value(cell: str, below: Sequence[str]) -> bool:
    """Return True for the first cell of a column that has it again, as it has few others."""
    return cell in below and 2 * len(set(below)) <= len(below)


def _is_second_header(table: Sequence[Sequence[str]]) -> bool:
    """
    Return True if the second row goes on naming columns: units below names, quarters below years.

    It stands above amounts and has none, or has the same names below several others.
    """
    if len(table) < 2 + _LEAST_AMOUNTS:
        return False
    above, names = table[:2]
    if names[0] and names_columns(above) and not _has(BESIDE, above):
        return False  # where each column has its name, what is below is a row's
    below = _below(names, table[2:_SAMPLE_ROWS])
    series = _series(names, below) if len(set(filter(None, above))) < len(names) else set()
    if any(_VALUE.match(cell) and not _YEAR_OR_DATE.match(cell) for cell in above) or any(
        (at not in series and _VALUE.match(cell)) or cell in below[at]
        for at, cell in enumerate(names)
        if cell
    ):
        return False
    if amounts := _amounts(below):
        return 2 * sum(bool(names[at]) for at in amounts) >= len(amounts)
    said = list(filter(None, names))
    if len(set(said)) < len(said):
        is_alike = _are_alike(names, table[2:_SAMPLE_ROWS])
        return not is_alike and len(set(filter(None, above))) < len(said)
    differing = sum(map(_differs, names, below))
    return _has(BESIDE, above) and 0 < len(said) <= 2 * differing


def _are_alike(row: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Return True if two cells are the same in most of the rows, as in this one."""
    pairs = [(row.index(cell), at) for at, cell in enumerate(row) if cell in row[:at] and cell]
    return any(
        2 * sum(each[one : one + 1] == each[other : other + 1] for each in others) > len(others)
        for one, other in pairs
    )


def _names(rows: Sequence[Sequence[str]]) -> list[str]:
    """
    Return a name for each column; what stands above several columns is in the names of all. Where
    the cells don't say what they span, blanks are part of the cell before them if names need that.
    """
    width = max(map(len, rows))
    *above, last = ([*row, *[""] * (width - len(row))] for row in rows)
    is_guessed = not any(_has(BESIDE, row) for row in rows) and not names_columns(last)
    for row in (*above, last):
        for at in range(1, width):
            if row[at] is BESIDE or (
                is_guessed and row is not last and last[at - 1] and last[at] and not row[at]
            ):
                row[at] = row[at - 1]
    return [" ".join(dict.fromkeys(filter(None, each))) for each in zip(*above, last, strict=True)]


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    header, body = rows[0], [row for row in rows[1:_SAMPLE_ROWS] if row != rows[0]]
    if len(header) < 2 or 2 * sum(len(row) > len(header) for row in body) > len(body):
        return False
    below = _below(header, body)
    series = _series(header, below)
    names = [
        name
        for at, name in enumerate(header)
        if at not in series and (at or name) and name is not BESIDE
    ]
    if body and names and _stand_above_amounts(header, below, series):
        return True
    said = list(filter(None, names))
    if not body or not _are_names(said) or any(map(_is_value, header, below)):
        return False
    if len(said) < _LEAST_NAMED * len(names):
        differing = sum(map(_differs, header, below))
        is_half = len(said) > 1 and 2 * len(said) >= len(names)
        return is_half and len(said) <= 2 * differing and not _is_header(rows[1:])
    is_wide = _has(BESIDE, header) and not _has(BESIDE, body[0])
    return len(said) > 2 or bool(series) or is_wide or any(map(_differs, header, below))


def _below(header: Sequence[str], body: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[row[at] for row in body if at < len(row) and row[at]] for at in range(len(header))]


def _series(header: Sequence[str], below: Sequence[Sequence[str]]) -> set[int]:
    """
    Return which cells are numbers that name columns: years, dates, or hours of a day and the like.

    Amounts stand below such years; a lone one, or one beside names, is a row's date.
    """
    numbers = {0} if header[0].lower() == "no" else set[int]()
    if len(header) > _LEAST_COUNT and header[1:] in _counts(len(header) - 1):
        return numbers | set(range(1, len(header)))
    series = {at for at, name in enumerate(header) if _YEAR_OR_DATE.match(name)}
    if len(series) < len(header):
        series.discard(0)
    if len(series) < 2 or any(all(map(_YEAR_OR_DATE.match, below[at])) for at in series):
        return numbers
    return numbers | series


def _counts(length: int) -> list[list[str]]:
    return [list(map(str, range(first, first + length))) for first in (0, 1)]


def _amounts(below: Sequence[Sequence[str]]) -> list[int]:
    """Return the columns that have nothing but amounts."""
    return [
        at
        for at, cells in enumerate(below)
        if len(cells) >= _LEAST_AMOUNTS and all(map(_VALUE.match, cells))
    ]


def _stand_above_amounts(
    header: Sequence[str], below: Sequence[Sequence[str]], series: Collection[int]
) -> bool:
    """Return True if nothing but amounts is below some names, be they long or alike, of three."""
    amounts = _amounts(below)
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
    is_longer = sum(len(cell) > _LONGER * len(name) for cell in below) > _MOST * len(below)
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


def _records(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a line or several for each row, below the names of columns that have no cells."""
    names, used, lines = [name.rstrip(" :") for name in header], set[int](), list[str]()
    for row in _continued(rows):
        if _is_spanned(row) or (row[0] and not any(row[1:])):
            # A note, or the title of the rows below.
            lines.append("\t".join(filter(None, row)))
        else:
            used.update(at for at, cell in enumerate(row) if cell or cell is BESIDE)
            # A number alone says little.
            lines += _wrapped(list(_pairs(names, row)), 2 if _VALUE.match(row[0]) else 1)
    unused = [name for at, name in enumerate(names) if name and at not in used]
    return ["\t".join(unused), *lines] if unused else lines


def _continued(rows: Sequence[Sequence[str]]) -> Iterator[Sequence[str]]:
    """Yield the rows with the cells of others that go on in them: a passage may have any row."""
    above: Sequence[str] = ()
    for row in rows:
        above = [
            above[at] if cell is ABOVE and at < len(above) else cell for at, cell in enumerate(row)
        ]
        yield above


def _pairs(names: Sequence[str], row: Sequence[str]) -> Iterator[str]:
    """
    Yield the cells with the names of their columns, of several for a wide cell; at the left of a
    row such a cell is a label, as that of a total.
    """
    for at, cell in enumerate(row):
        end = at + 1
        while end < len(row) and row[end] is BESIDE:
            end += 1
        if cell:
            own = names[at:end] if at or end == 1 or not names[1:] else ()
            name = ", ".join(dict.fromkeys(filter(None, own)))
            yield f"{name}: {cell}" if name else cell


def _is_spanned(row: Sequence[str]) -> bool:
    """Return True for a note: one cell over all columns, or one that ends in a colon before it."""
    cells = [(at, cell) for at, cell in enumerate(row) if cell]
    last = cells[-1][0]
    is_wide = last + 1 < len(row) and all(cell is BESIDE for cell in row[last + 1 :])
    return is_wide and (not last or (len(cells) == 2 and cells[0][1].endswith(":")))


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
