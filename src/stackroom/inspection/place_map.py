"""
Where a passage stands, when the knowledge base doesn't say: on which page, below which heading.

Two programs never extract quite the same text from a file: they differ in white space, in words
broken at a line's end, in ligatures and quotes. So both sides are reduced to bare letters and
digits, and looked up there.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Self

from pydantic import AliasChoices, Field, PositiveInt

from stackroom.inspection.extraction.page import Page
from stackroom.model import Record
from stackroom.ports.retrieval import Place

# Long enough to stand once in a book, short enough to lie between two differences.
_PROBE = 40
_PROBES = 30  # 30 x 40 letters and digits: about 250 words, most of a passage of 300 tokens
_NOWHERE = Place()
_NOT_BARE = re.compile(r"[\W_]+")


def normalise(text: str) -> str:
    """Letters and digits alone, in one case, ligatures and full-width forms resolved."""
    return _NOT_BARE.sub("", unicodedata.normalize("NFKC", text).casefold())


class Piece(Record):
    """Text of one page, or from one heading to the next; without either above the first heading."""

    # Maps that were made when only PDFs had some say `number`.
    page: PositiveInt | None = Field(default=None, validation_alias=AliasChoices("page", "number"))
    section: str | None = None
    text: str  # normalised


class PlaceMap(Record):
    """The normalised text of one version of a document, piece by piece."""

    etag: str
    pieces: tuple[Piece, ...] = Field(validation_alias=AliasChoices("pieces", "pages"))

    @classmethod
    def of(cls, etag: str, pages: Iterable[Page]) -> Self | None:
        """None where nothing would be told: no page has a number, and none a heading."""
        pieces = tuple(piece for page in pages for piece in _pieces(page))
        return cls(etag=etag, pieces=pieces) if pieces else None

    def place_of(self, passage: str) -> Place:
        """
        Where the passage begins; nowhere if it isn't here, or could begin at several places.

        Where the passage as a whole is not found, its first piece that stands at one place alone
        decides.
        """
        text = normalise(passage)
        if not text:
            return _NOWHERE
        found = self._first_at_places(text)
        if found:
            return self._place_at(found[0]) if len(found) == 1 else _NOWHERE
        for start in range(0, len(text) - _PROBE + 1, _PROBE)[:_PROBES]:
            found = self._first_at_places(text[start : start + _PROBE])
            if len(found) == 1:
                return self._place_before(found[0], start)
        return _NOWHERE

    def shown(self, passage: str) -> str:
        return passage

    def _place_before(self, position: int, distance: int) -> Place:
        """
        Of a passage that begins so far before the position.

        Its beginning differs from ours, else it would have been found. Most pages hold several
        passages, and a page is where most of the passage is. Sections are short: unless all of
        the beginning lies in the same one, nothing is told.
        """
        place = self._place_at(position)
        if place.page is None and self._place_at(max(0, position - distance)) != place:
            return _NOWHERE
        return place

    def _first_at_places(self, text: str) -> list[int]:
        """Positions at which the text begins: none, one, or two at places that differ."""
        positions: list[int] = []
        position = self._text.find(text)
        while position >= 0 and len(positions) < 2:
            number = self._number_at(position)
            if not positions or self._place_at(positions[0]) != self._places[number]:
                positions.append(position)
            # The next piece at the earliest: more in this one would tell nothing new.
            after = self._starts[number + 1] if number + 1 < len(self._starts) else len(self._text)
            position = self._text.find(text, after)
        return positions

    def _place_at(self, position: int) -> Place:
        return self._places[self._number_at(position)]

    def _number_at(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1

    @cached_property
    def _places(self) -> list[Place]:
        return [Place(page=piece.page, section=piece.section) for piece in self.pieces]

    @cached_property
    def _text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @cached_property
    def _starts(self) -> list[int]:
        """Where each piece begins in `_text`; a blank one begins, and ends, with the next."""
        return [0, *accumulate(len(piece.text) for piece in self.pieces[:-1])]


def _pieces(page: Page) -> Iterator[Piece]:
    if page.number is not None:
        yield Piece(page=page.number, text=normalise(page.text))
        return
    if all(each.text is None for each in page.headings):
        return
    starts = [0, *(heading.at for heading in page.headings), len(page.text)]
    sections = [None, *(heading.text for heading in page.headings)]
    for (start, end), section in zip(pairwise(starts), sections, strict=True):
        yield Piece(section=section, text=normalise(page.text[start:end]))
