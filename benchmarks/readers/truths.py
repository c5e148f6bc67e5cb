"""Compares a file's text with its truth, a Markdown file next to it."""

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

FORMATS = ("pdf", "docx", "html", "xlsx", "csv")
_LISTED = 8  # missing words

# Figures apart from letters, since a truth has "H 2 O" where another text has "H2O".
_WORD = re.compile(r"\d+|[^\W\d_]+")
# What a truth has beside the text that a person sees: images, boxes, what docling makes of charts
# and comments, targets of links, and the signs of formulas and of HTML.
_SIGNS = re.compile(
    r"<!--.*?-->|\[[x ]\]|\w+ chart\n\n(\|.*\n?)+|^\[author: .*$|!\[[^\]]*\]\S*"
    r"|\]\((?:[^()\s]|\([^()\s]*\))*\)|\\[A-Za-z]+|&(?:amp|lt|gt|quot|#\d+);",
    re.MULTILINE,
)
_HEADING = re.compile(r"^ {0,3}#{1,6} +(.+)$", re.MULTILINE)
_ROW = re.compile(r"^\|(.+)\|\s*$", re.MULTILINE)
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[\s|:-]*")


@dataclass(frozen=True, kw_only=True)
class Shares:
    """Shares from 0 to 1, None if the truth has none; `missing` words, the most frequent first."""

    words: float | None
    headings: float | None
    cells: float | None
    missing: Sequence[str]


def files_of(folder: Path) -> list[Path]:
    """Return the files with a truth next to them."""
    return [
        file
        for format_ in FORMATS
        for file in sorted((folder / format_).glob(f"*.{format_}"))
        if truth_of(file).is_file()
    ]


def truth_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.md")


def shares(text: str, truth: str, *, is_sheet: bool) -> Shares:
    """
    Compare a file's text with its truth: words and headings in their order, cells anywhere.

    Words of a sheet may have any order: tables side by side have none, and a row that names its
    columns has the names between its values.
    """
    truth = _SIGNS.sub(" ", truth)
    wanted, found = words(_once_a_row(truth)), words(text)
    lacking = Counter(wanted) - Counter(found)
    headings, read = _headings(truth), _headings(text)
    cells = [each for each in map(words, _cells(truth)) if each]
    whole = f" {' '.join(found)} "
    return Shares(
        words=_share(
            len(wanted) - lacking.total() if is_sheet else in_order(wanted, found), wanted
        ),
        headings=_share(in_order(headings, read), headings),
        cells=_share(sum(f" {' '.join(cell)} " in whole for cell in cells), cells),
        missing=[word for word, _ in lacking.most_common(_LISTED)],
    )


def words(text: str) -> list[str]:
    """Return the words in lower case, without Markdown."""
    return _WORD.findall(_SIGNS.sub(" ", text).lower())


def in_order(wanted: Sequence[Hashable], found: Sequence[Hashable]) -> int:
    """
    Return the length of the longest common subsequence.

    Works on bits, a row of the table at a time (Hyyrö 2004, "Bit-parallel LCS-length computation
    revisited").
    """
    places: dict[Hashable, int] = {}
    for at, each in enumerate(wanted):
        places[each] = places.get(each, 0) | 1 << at
    every = rest = (1 << len(wanted)) - 1
    for each in found:
        matched = rest & places.get(each, 0)
        rest = (rest + matched | rest - matched) & every
    return len(wanted) - rest.bit_count()


def _share(count: int, wanted: Sequence[object]) -> float | None:
    return count / len(wanted) if wanted else None


def _headings(text: str) -> list[str]:
    named = (" ".join(words(heading)) for heading in _HEADING.findall(text))
    return [each for each in named if each]


def _once_a_row(text: str) -> str:
    """Return the cells with each merged one once, as docling repeats it in each column."""
    return _ROW.sub(lambda row: " | ".join(cell for cell, _ in groupby(_split(row[1]))), text)


def _cells(text: str) -> list[str]:
    return [cell for row in _ROW.findall(text) if not _RULE.fullmatch(row) for cell in _split(row)]


def _split(row: str) -> list[str]:
    return [cell.strip() for cell in _BETWEEN_CELLS.split(row)]
