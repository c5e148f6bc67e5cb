"""
Whether a passage answers a question, and on which page most of it stands.

Neither asks the product: the quote of a question decides the first, the documents' own pages the
second. Text is compared by its letters and digits alone.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

from benchmarks.answers.corpus import Document, pages_of
from benchmarks.answers.questions import Question
from stackroom.inspection.running_lines import normalise

_ENOUGH = 0.8  # of a quote's words, in their order: a passage may end inside it
_PIECE, _STEP = 24, 6  # letters and digits
_OFTEN = 20  # pages with the same piece, a running header: it decides nothing
_NEARLY = 0.95  # a page that has so much of what the best has is as good: a passage may be halved


@lru_cache(maxsize=200_000)
def is_right(text: str, document: str | None, question: Question) -> bool:
    """Whether the text, of that document, is a passage that answers."""
    found = normalise(text)
    return any(
        document == spot.document
        and (normalise(spot.quote) in found or _words_in_order(spot.quote, text) >= _ENOUGH)
        for spot in question.spots
    )


def _words_in_order(quote: str, text: str) -> float:
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
    return tuple(word for word in map(normalise, text.split()) if word)


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


@dataclass(frozen=True, eq=False)
class Pages:
    """Where pieces of a document's text stand; the pages are those of our own extraction."""

    document: Document

    def most_of(self, text: str) -> frozenset[int]:
        """
        The page with most of the text, or two with as much; none if the text is not there at all,
        or the document has no pages.
        """
        found = normalise(text)
        counted = Counter[int]()
        for start in range(0, max(1, len(found) - _PIECE + 1), _STEP):
            counted.update(self._standing(found[start : start + _PIECE]))
        if not counted:
            return frozenset()
        most = max(counted.values())
        return frozenset(page for page, count in counted.items() if count >= _NEARLY * most)

    def _standing(self, piece: str) -> set[int]:
        """Every page on which the piece begins."""
        text, starts = self._text
        pages, at = set[int](), text.find(piece) if starts else -1
        while at >= 0 and len(pages) < _OFTEN:
            pages.add(bisect_right(starts, at))
            at = text.find(piece, at + 1)
        return pages

    @cached_property
    def _text(self) -> tuple[str, list[int]]:
        """All pages in one, and where each begins: the page's number is how many have begun."""
        pages = [normalise(page.text) for page in pages_of(self.document) if page.number]
        return "".join(pages), [0, *accumulate(map(len, pages[:-1]))] if pages else []
