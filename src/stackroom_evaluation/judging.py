"""
Judges whether a passage answers a question, and whether the cited page is right.

The words of a question's answer decide the first, or, without words, the file and page. Texts are
compared by letters and digits only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from stackroom.search.question_words import spaced
from stackroom.text.running_lines import normalise

_ENOUGH = 0.8  # the share of words, in order: a passage may end within them


@dataclass(frozen=True)
class Spot:
    """The place of an answer: a file, any of its `pages` if there are some, and the words there."""

    file: str
    words: str | None = None
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A shown passage with its citation; `others` are files with the same text."""

    text: str
    file: str
    page: int | None = None
    page_first: int | None = None
    page_last: int | None = None
    section: str | None = None
    score: float = 0.0
    others: tuple[str, ...] = ()


def first_right(spots: Sequence[Spot], shown: Sequence[Shown]) -> int | None:
    """Return the rank of the first right passage, from 1."""
    return next((rank for rank, each in enumerate(shown, 1) if is_right(each, spots)), None)


def is_right(shown: Shown, spots: Sequence[Spot]) -> bool:
    """Return True if the passage answers like any of the spots."""
    return any(_answers(shown, spot) for spot in spots)


def is_page_right(shown: Shown, spots: Sequence[Spot]) -> bool | None:
    """
    Return True if a right passage is cited with a page of its words.

    Return None if no page is known, or if only the page could show that the passage is right.
    """
    known = [each for each in spots if each.file == shown.file and each.words and each.pages]
    matching = [each for each in known if _answers(shown, each)]
    return any(_reaches(shown, each.pages) for each in matching) if matching else None


def _answers(shown: Shown, spot: Spot) -> bool:
    if spot.file not in (shown.file, *shown.others):
        return False
    if spot.words is not None:
        return has_words(shown.text, spot.words)
    # Pages of other files with the same text are unknown.
    return not spot.pages or (spot.file == shown.file and _reaches(shown, spot.pages))


def _reaches(shown: Shown, pages: Sequence[int]) -> bool:
    if shown.page is None:
        return False
    first, last = shown.page_first or shown.page, shown.page_last or shown.page
    return any(first <= page <= last for page in pages)


@lru_cache(maxsize=200_000)
def has_words(text: str, words: str) -> bool:
    return normalise(words) in normalise(text) or _ordered_share(words, text) >= _ENOUGH


def _ordered_share(quote: str, text: str) -> float:
    """Return the share of the quote's words that the text has in this order, and close together."""
    expected, words = _words(quote), _words(text)
    width = 2 * len(expected)
    best = max(
        (
            _common(expected, words[start : start + width])
            for start in range(0, max(1, len(words) - len(expected)), max(1, len(expected) // 2))
        ),
        default=0,
    )
    return best / len(expected)


@lru_cache(maxsize=20_000)
def _words(text: str) -> tuple[str, ...]:
    """Return the words, or pairs of letters in scripts without spaces."""
    return tuple(word for word in map(normalise, spaced(text).split()) if word)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the number of words in the longest common subsequence."""
    lengths = [0] * (len(other) + 1)
    for word in one:
        diagonal = 0
        for at, candidate in enumerate(other, start=1):
            above = lengths[at]
            lengths[at] = diagonal + 1 if word == candidate else max(above, lengths[at - 1])
            diagonal = above
    return lengths[-1]
