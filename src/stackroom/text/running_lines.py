"""
Running headers and footers, and page numbers: lines at the edges of pages, but none of the text.

They are known by what pages nearby have at the same edge: the same line, or a number that counts
the pages. They are looked for from the edge inwards: text begins where they end.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

# Text as it is compared.

_NOT_BARE = re.compile(r"[\W_]+")


def normalise(text: str) -> str:
    """
    Return the letters and digits alone, in one case, with ligatures and full-width forms resolved.
    Lines can be normalised one by one: together they are the whole normalised text.
    """
    return _NOT_BARE.sub("", unicodedata.normalize("NFKC", text).casefold())


_DEPTH = 3  # lines from an edge
_MAX_LINE = 100  # characters; a longer one is text
_LEAST_LINES = 4  # of a page that says what comes back: on one with fewer, all is at an edge
_NEARBY = 6  # pages before and after: left and right ones differ, and so do those of chapters
_LEAST = 2  # of the pages nearby, that count as this one does
_LEAST_SHARE = 1 / 3  # where the line says more than a number
_LEAST_SAME = 3  # of the pages nearby, that have the same line at the very edge
_LEAST_SAME_SHARE = 1 / 2  # and further in, where headings come back as well
_LEAST_LETTERS = 3
_WORD = re.compile(r"[^\W_]+")
_ROMAN = re.compile(r"(?=[ivxlc])c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_MAX_BARE = 2  # numbers in a line that has nothing else: "12", "3-12", "12 / 233"

# A number less that of its page, roman ones apart: where that is the same, they count the pages.
Count = tuple[bool, int]


@dataclass(frozen=True, kw_only=True)
class _Line:
    number: int  # on its page, from 0
    words: str
    is_bare: bool  # a page number and nothing else
    counts: frozenset[Count]


@dataclass(frozen=True, kw_only=True)
class _Edge:
    """The lines at one edge of a page, the outermost first; what they have to say to others."""

    lines: tuple[_Line, ...]
    words: frozenset[str]
    counts: frozenset[Count]


def running_lines(pages: Sequence[Sequence[str]]) -> list[set[int]]:
    """Return, for each page, the numbers of its running lines, counted from 0."""
    running: list[set[int]] = [set() for _ in pages]
    for is_top in (True, False):
        edges = [_edge(lines, page, is_top=is_top) for page, lines in enumerate(pages)]
        long_enough = {
            page: edge
            for page, edge in enumerate(edges)
            if sum(bool(line.strip()) for line in pages[page]) >= _LEAST_LINES
        }
        for page, edge in enumerate(edges):
            near = range(page - _NEARBY, page + _NEARBY + 1)
            nearby = {at - page: long_enough[at] for at in near if at != page and at in long_enough}
            running[page].update(_running(edge, nearby))
    return running


def _running(edge: _Edge, nearby: Mapping[int, _Edge]) -> Iterator[int]:
    for depth, line in enumerate(edge.lines):
        if not (_counts_pages(line, nearby, depth) or _comes_back(line, nearby, depth)):
            return
        yield line.number


def _counts_pages(line: _Line, nearby: Mapping[int, _Edge], depth: int) -> bool:
    if depth and not line.is_bare:
        return False
    least = _LEAST if line.is_bare else max(_LEAST, _LEAST_SHARE * len(nearby))
    return any(
        sum(count in other.counts for other in nearby.values()) >= least for count in line.counts
    )


def _comes_back(line: _Line, nearby: Mapping[int, _Edge], depth: int) -> bool:
    if sum(map(str.isalpha, line.words)) < _LEAST_LETTERS:
        return False
    same = {at for at, other in nearby.items() if line.words in other.words}
    # On this side and the next ones, or on every other: headings come back here and there.
    in_a_row = any(
        {step * each for each in row} <= same
        for row in ((-2, -1), (-1, 1), (1, 2))
        for step in (1, 2)
    )
    share = _LEAST_SAME_SHARE if depth else 0
    return in_a_row and len(same) >= max(min(_LEAST_SAME, len(nearby)), share * len(nearby))


def _edge(lines: Sequence[str], page: int, *, is_top: bool) -> _Edge:
    found: list[_Line] = []
    for number in range(len(lines)) if is_top else reversed(range(len(lines))):
        if len(found) == _DEPTH or len(lines[number]) > _MAX_LINE:
            break
        words = _WORD.findall(lines[number].casefold())
        if words:
            found.append(_line(words, number, page))
    counting = [each.counts for at, each in enumerate(found) if at == 0 or each.is_bare]
    return _Edge(
        lines=tuple(found),
        words=frozenset(each.words for each in found),
        counts=frozenset(count for counts in counting for count in counts),
    )


def _line(words: Sequence[str], number: int, page: int) -> _Line:
    values = [_value(word) for word in words]
    ends = {0, len(words) - 1}
    if values[-1] is not None:
        # "Page 2 of 233" and "2 / 233", too.
        ends |= {at for at in range(max(0, len(words) - 3), len(words)) if values[at] is not None}
    found = [(words[at].isdecimal(), value) for at in ends if (value := values[at]) is not None]
    return _Line(
        number=number,
        words=" ".join(words),
        is_bare=len(words) <= _MAX_BARE and None not in values,
        counts=frozenset((is_decimal, value - page) for is_decimal, value in found),
    )


def _value(word: str) -> int | None:
    """Return the value of a page number, which may be roman."""
    if word.isdecimal():
        return int(word) if len(word) <= 4 else None
    if not _ROMAN.fullmatch(word):
        return None
    values = [_VALUES[letter] for letter in word]
    after = [*values[1:], 0]
    return sum(-one if one < other else one for one, other in zip(values, after, strict=True))
