"""
On which page most of a passage stands, by the documents' own pages: the product isn't asked.

Whether it answers is judged as anybody's questions are (stackroom_evaluation.judging).
"""

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from benchmarks.answers.corpus import Document, pages_of
from stackroom.inspection.running_lines import normalise

_PIECE, _STEP = 24, 6  # letters and digits
_OFTEN = 20  # pages with the same piece, a running header: it decides nothing
_NEARLY = 0.95  # a page that has so much of what the best has is as good: a passage may be halved


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
