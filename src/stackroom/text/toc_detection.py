"""
Detect text that only says where something stands: tables of contents, lists of figures, indexes.

It has the words of many questions and the answer to none. It is known by its lines: dotted leaders,
links into the same document, page numbers at the end that rise, or that follow entries in the order
of the alphabet.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

_NUMBER = r"(?:\d{1,4}|[ivxlc]{1,7})"
_NUMBERS = rf"{_NUMBER}(?:\s*[-–]\s*{_NUMBER})?"
# "Travel . . . . . 12", "Travel......12, 14"; in the midst of a line that is one of two columns.
_LEADER = re.compile(rf"(?:[.·…]\s?){{5,}}\s*(?:{_NUMBERS}(?:\s*,\s*{_NUMBERS})*)?(?:\s|$)")
_LINK = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+\[[^\[\]]+\]\(#[^()]*\)\s*$")
# The ends of "Travel 12", "2.1 Travel\t12", and of "travel, 12, 14-16"; not of "profit 6,609".
_NUMBERED = re.compile(r"(?<!\d)\s(\d{1,4})\s*$")
_INDEXED = re.compile(r"(?<!\d),\s*(?:\d{1,4}\s*[-–,]\s*)*(\d{1,4}),?\s*$")
_BARE = re.compile(rf"[\W_]*(?:{_NUMBER}|\w)?(?:\s*,\s*{_NUMBERS})*[\W_]*$")
_LETTERS = re.compile(r"[^\W_]")
_WORD = re.compile(r"[^\W\d_]{2}")

_MAX_LINE = 200  # characters; a longer one is a paragraph
_GAP = 2  # lines in a row that may be something else: a long title goes over two
_LEAST_LEADERS = 3
_LEAST_RISING = 8
_LEAST_INDEXED = 8
_YEARS = range(1900, 2101)


def looks_like_navigation(text: str) -> bool:
    """
    Return True if most of the text is a table of contents or an index, as far as its lines tell.
    """
    lines = text.splitlines()
    listed = listed_lines(lines)
    if not listed:
        return False
    letters = [len(_LETTERS.findall(line)) for line in lines]
    return 2 * sum(letters[number] for number in listed) > sum(letters)


def listed_lines(lines: Sequence[str]) -> set[int]:
    """
    Return the numbers of the lines that belong to a table of contents or an index, counted from 0.
    """
    listed: set[int] = set()
    for is_entry, is_list in (
        (_is_led, _is_led_list),
        (_is_numbered, _is_rising),
        (_is_indexed, _is_alphabetical),
    ):
        for first, last in _runs([is_entry(line) for line in lines], lines):
            if is_list(lines[first : last + 1]):
                listed.update(range(first, last + 1))
    return listed


def _runs(entries: Sequence[bool], lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Return the first and the last entry of each run of entries with little between them."""
    first = last = -1
    others = 0
    for number, is_entry in enumerate(entries):
        if is_entry:
            if first < 0 or others > _GAP:
                if first >= 0:
                    yield first, last
                first = number
            last, others = number, 0
        elif not _BARE.match(lines[number]):
            others += 1
    if first >= 0:
        yield first, last


def _is_led(line: str) -> bool:
    return len(line) <= _MAX_LINE and bool(_LEADER.search(line) or _LINK.match(line))


def _is_led_list(lines: Sequence[str]) -> bool:
    return sum(map(_is_led, lines)) >= _LEAST_LEADERS


def _is_numbered(line: str) -> bool:
    return _number_after_words(line, _NUMBERED) is not None


def _number_after_words(line: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    if len(line) > _MAX_LINE:
        return None
    found = pattern.search(line)
    return found if found and _WORD.search(line, 0, found.start()) else None


def _is_rising(lines: Sequence[str]) -> bool:
    """Return True if the numbers at the lines' ends are those of pages, one after another."""
    found = [_number_after_words(line, _NUMBERED) for line in lines]
    numbers = [int(each[1]) for each in found if each]
    if len(numbers) < max(_LEAST_RISING, 0.7 * _count(lines)):
        return False
    if _are_years(numbers):
        return False
    steps = [after - before for before, after in pairwise(numbers)]
    # Error codes and prices may rise by more. What counts its lines is no table of contents, nor is
    # what has one number only.
    rising = sum(0 <= step <= 40 for step in steps)
    return rising >= 0.9 * len(steps) and max(map(steps.count, {0, 1})) < 0.8 * len(steps)


def _is_indexed(line: str) -> bool:
    return _number_after_words(line, _INDEXED) is not None


def _is_alphabetical(lines: Sequence[str]) -> bool:
    """Return True if enough of the lines are entries in the order of the alphabet."""
    found = [each for line in lines if (each := _number_after_words(line, _INDEXED))]
    if len(found) < max(_LEAST_INDEXED, 0.4 * _count(lines)):
        return False
    if _are_years([int(each[1]) for each in found]):  # of dates, as in release notes
        return False
    initials = [_LETTERS.search(each.string.casefold()) for each in found]
    letters = [each[0] for each in initials if each]
    in_order = sum(before <= after for before, after in pairwise(letters))
    return in_order >= 0.8 * (len(letters) - 1)


def _are_years(numbers: Sequence[int]) -> bool:
    return sum(number in _YEARS for number in numbers) > 0.5 * len(numbers)


def _count(lines: Sequence[str]) -> int:
    return sum(not _BARE.match(line) for line in lines)
