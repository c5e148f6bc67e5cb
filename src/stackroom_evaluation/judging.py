"""
Whether a passage answers a question, and whether the page that is cited is right.

The words that a question names decide the first, or, where it names none, its file and page. Text
is compared by its letters and digits alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from stackroom.search.question_words import spaced
from stackroom.text.running_lines import normalise

_ENOUGH = 0.8  # of the words, in their order: a passage may end inside them


@dataclass(frozen=True)
class Spot:
    """Where an answer stands: in a file, on any of its `pages` if some are named, in such words."""

    file: str
    words: str | None = None
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A passage that was shown, and what is cited of it; `others` are files that say the same."""

    text: str
    file: str
    page: int | None = None
    page_first: int | None = None
    page_last: int | None = None
    section: str | None = None
    score: float = 0.0
    others: tuple[str, ...] = ()


def first_right(spots: Sequence[Spot], shown: Sequence[Shown]) -> int | None:
    """Counted from 1."""
    return next((rank for rank, each in enumerate(shown, 1) if is_right(each, spots)), None)


def is_right(shown: Shown, spots: Sequence[Spot]) -> bool:
    """Whether it answers as any of the spots does."""
    return any(_answers(shown, spot) for spot in spots)


def is_page_right(shown: Shown, spots: Sequence[Spot]) -> bool | None:
    """Of one that is right: whether it is cited by a page that its words are on; None if no page
    is named, or nothing but the page could tell that it is right."""
    named = [each for each in spots if each.file == shown.file and each.words and each.pages]
    there = [each for each in named if _answers(shown, each)]
    return any(_reaches(shown, each.pages) for each in there) if there else None


def _answers(shown: Shown, spot: Spot) -> bool:
    if spot.file not in (shown.file, *shown.others):
        return False
    if spot.words is not None:
        return has_words(shown.text, spot.words)
    # The pages of a file that says the same are not told.
    return not spot.pages or (spot.file == shown.file and _reaches(shown, spot.pages))


def _reaches(shown: Shown, pages: Sequence[int]) -> bool:
    if shown.page is None:
        return False
    first, last = shown.page_first or shown.page, shown.page_last or shown.page
    return any(first <= page <= last for page in pages)


@lru_cache(maxsize=200_000)
def has_words(text: str, words: str) -> bool:
    return normalise(words) in normalise(text) or _in_order(words, text) >= _ENOUGH


def _in_order(quote: str, text: str) -> float:
    """The share of the quote's words that stand in the text in this order, and close together."""
    wanted, words = _words(quote), _words(text)
    width = 2 * len(wanted)
    best = max(
        (
            _common(wanted, words[start : start + width])
            for start in range(0, max(1, len(words) - len(wanted)), max(1, len(wanted) // 2))
        ),
        default=0,
    )
    return best / len(wanted)


@lru_cache(maxsize=20_000)
def _words(text: str) -> tuple[str, ...]:
    """Pairs of letters, where words have no spaces between them."""
    return tuple(word for word in map(normalise, spaced(text).split()) if word)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words the longest common subsequence has."""
    lengths = [0] * (len(other) + 1)
    for word in one:
        diagonal = 0
        for at, candidate in enumerate(other, start=1):
            above = lengths[at]
            lengths[at] = diagonal + 1 if word == candidate else max(above, lengths[at - 1])
            diagonal = above
    return lengths[-1]
