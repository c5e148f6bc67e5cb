"""
The places of passages in a document's text: their pages, and the heading above them.

Both are reduced to bare letters and digits, and looked up there. If a passage stands at several
places, its own context lines tell at which.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import accumulate, islice, pairwise

from pydantic import NonNegativeInt, PositiveInt

from stackroom.model.passages import Place
from stackroom.model.records import Record
from stackroom.text.context_lines import may_be_of, split_at_context
from stackroom.text.running_lines import normalise

_MOST_REPEATS = 10_000  # of a passage; one that stands more often has no place
_KEPT = 128  # passages whose place is kept: an answer asks for some again
_NOWHERE = Place()


class Piece(Record):
    """A page, or what of it is below one heading; neither of both above the first one."""

    page: PositiveInt | None = None
    section: str | None = None
    at: NonNegativeInt  # where in the text it begins; a blank one begins, and ends, with the next


class PlaceMap(Record):
    """
    The letters and digits of a document's text, context lines left out, and where in them each
    piece begins.

    Made by `stackroom.text.document_text.text_of`. A passage is found in it as long as the
    knowledge base keeps letters and digits as they are. [assumed: text.verbatim]
    """

    text: str
    pieces: tuple[Piece, ...]

    def place_of(self, passage: str) -> Place:
        """
        Return the place of the passage; an empty one if it isn't here, or could stand at several
        places.
        """
        return self._located(passage)

    def page_at(self, position: int) -> int | None:
        """Return the page that the letter or digit there is on, if pages have numbers."""
        return self.pieces[self._number_at(position)].page if self.pieces else None

    @property
    def pages(self) -> tuple[tuple[int, int], ...]:
        """Return each page that has a number, with its count of letters and digits."""
        ends = [*self._starts[1:], len(self.text)]
        letters: dict[int, int] = {}
        for piece, end in zip(self.pieces, ends, strict=True):
            if piece.page is not None:
                letters[piece.page] = letters.get(piece.page, 0) + end - piece.at
        return tuple(letters.items())

    @cached_property
    def _located(self) -> Callable[[str], Place]:
        return lru_cache(_KEPT)(self._locate)

    def _locate(self, passage: str) -> Place:
        texts, lines = split_at_context(passage)
        letters = [normalise(text) for text in texts]
        text = "".join(letters)
        repeats = list(islice(self._positions(text), _MOST_REPEATS)) if text else []
        if len(repeats) == _MOST_REPEATS:
            return _NOWHERE
        if repeats[1:] and lines:
            named = dict(zip(accumulate(map(len, letters)), lines, strict=False))
            repeats = [at for at in repeats if self._is_named(at, len(text), named)] or repeats
        places = [self._place(at, at + len(text)) for at in repeats]
        named_places = {(place.page, place.section) for place in places}
        return places[0] if len(named_places) == 1 else _NOWHERE

    def _positions(self, text: str) -> Iterator[int]:
        position = self.text.find(text)
        while position >= 0:
            yield position
            position = self.text.find(text, position + 1)

    def _is_named(self, begin: int, length: int, named: Mapping[int, str]) -> bool:
        """
        Return True if a passage that begins there has its context lines where this text has them.
        """
        first = bisect_right(self._page_starts, begin)
        beyond = bisect_left(self._page_starts, begin + length)
        if any(at - begin not in named for at in self._page_starts[first:beyond]):
            return False
        pieces = ((self.pieces[self._number_at(begin + at)], named[at]) for at in named)
        return all(may_be_of(line, piece.section, piece.page) for piece, line in pieces)

    def _place(self, begin: int, end: int) -> Place:
        first, last = self._number_at(begin), self._number_at(end - 1)
        bounds = [begin, *self._starts[first + 1 : last + 1], end]
        letters: dict[int, int] = {}
        for piece, (start, stop) in zip(self.pieces[first:], pairwise(bounds), strict=False):
            if piece.page is not None and start < stop:
                letters[piece.page] = letters.get(piece.page, 0) + stop - start
        return Place(
            page=max(letters, key=lambda page: (letters[page], -page), default=None),
            page_first=min(letters, default=None),
            page_last=max(letters, default=None),
            section=self.pieces[first].section,
            span=(begin, end),
        )

    def _number_at(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1

    @cached_property
    def _starts(self) -> list[int]:
        return [piece.at for piece in self.pieces]

    @cached_property
    def _page_starts(self) -> list[int]:
        """Return where pages begin, each with a context line."""
        return [two.at for one, two in pairwise(self.pieces) if one.page != two.page]
