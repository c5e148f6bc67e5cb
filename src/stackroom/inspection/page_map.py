"""
On which page a passage stands, when the knowledge base doesn't say.

Two programs never extract quite the same text from a PDF: they differ in white space, in words
broken at a line's end, in ligatures and quotes. So both sides are reduced to bare letters and
digits, and looked up there.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate
from typing import Self

from pydantic import PositiveInt

from stackroom.inspection.extraction.page import Page
from stackroom.model import Record

# Long enough to stand once in a book, short enough to lie between two differences.
_PROBE = 40
_PROBES = 30  # 30 x 40 letters and digits: about 250 words, most of a passage of 300 tokens
_NOT_BARE = re.compile(r"[\W_]+")


def normalise(text: str) -> str:
    """Letters and digits alone, in one case, ligatures and full-width forms resolved."""
    return _NOT_BARE.sub("", unicodedata.normalize("NFKC", text).casefold())


class PageText(Record):
    number: PositiveInt
    text: str  # normalised


class PageMap(Record):
    """The normalised text of each page of one version of a document."""

    etag: str
    pages: tuple[PageText, ...]

    @classmethod
    def of(cls, etag: str, pages: Iterable[Page]) -> Self | None:
        """The map of pages that have numbers; None in a format that has none."""
        numbered = tuple(
            PageText(number=page.number, text=normalise(page.text))
            for page in pages
            if page.number is not None
        )
        return cls(etag=etag, pages=numbered) if numbered else None

    def page_of(self, passage: str) -> int | None:
        """
        The page on which the passage begins; None if it isn't here, or could be on several.

        Where the passage as a whole is not found, its first piece that stands on one page alone
        decides.
        """
        text = normalise(passage)
        if not text:
            return None
        pages = self._pages_with(text)
        if not pages:
            pages = next((found for found in self._pieces_found(text) if len(found) == 1), set())
        return pages.pop() if len(pages) == 1 else None

    def _pieces_found(self, text: str) -> Iterator[set[int]]:
        starts = range(0, len(text) - _PROBE + 1, _PROBE)
        return (self._pages_with(text[start : start + _PROBE]) for start in starts[:_PROBES])

    def _pages_with(self, text: str) -> set[int]:
        """Pages on which the text begins: none, the one, or two of several."""
        pages: set[int] = set()
        position = self._text.find(text)
        while position >= 0 and len(pages) < 2:
            page = bisect_right(self._starts, position) - 1
            pages.add(self.pages[page].number)
            # The next page at the earliest: more on this one would tell nothing new.
            after = self._starts[page + 1] if page + 1 < len(self._starts) else len(self._text)
            position = self._text.find(text, after)
        return pages

    @cached_property
    def _text(self) -> str:
        return "".join(page.text for page in self.pages)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each page begins in `_text`; a blank page begins, and ends, with the next."""
        return [0, *accumulate(len(page.text) for page in self.pages[:-1])]
