"""
Where in a document's text a passage stands: on which pages, below which heading.

Both are reduced to bare letters and digits, and looked up there. Of a passage that stands at
several places, its own context lines tell at which.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate, islice, pairwise
from typing import Self

from pydantic import AliasChoices, BaseModel, Field, NonNegativeInt, PositiveInt, model_validator

from stackroom.documents.model import Record
from stackroom.documents.passages import Place
from stackroom.inspection.alignment import Alignable, Alignment, Stretch, Stretches
from stackroom.inspection.context_lines import may_be_of, split_at_context, without_context
from stackroom.inspection.extraction.page import Page
from stackroom.inspection.running_lines import normalise, running_lines, without_running_lines
from stackroom.inspection.toc_detection import listed_lines

# A passage may begin or end with as many letters that are not in our text, and its neighbour still
# touches it.
_RAGGED = 40
_MOST_REPEATS = 10_000  # of a passage; one that stands more often has no place
_KEPT = 128  # passages whose place is kept: whoever asks for it asks for their text next
_NOWHERE = Place()


class Piece(Record):
    """One page, or what is from one heading to the next; neither of both above the first one."""

    page: PositiveInt | None = None
    section: str | None = None
    at: NonNegativeInt  # where in the text it begins; a blank one begins, and ends, with the next


class PlaceMap(Record):
    """
    The normalised text of one version of a document, and where in it each piece begins.

    `running` and `listed` are the beginnings and ends, in turn, of the lines that are running
    headers, footers or page numbers, and of those of tables of contents and indexes.
    """

    text_id: str = ""
    text: str
    pieces: tuple[Piece, ...]
    running: tuple[NonNegativeInt, ...] = ()
    listed: tuple[NonNegativeInt, ...] = ()

    @classmethod
    def of(cls, text_id: str, pages: Sequence[Page]) -> Self | None:
        """None where nothing would be told: no page has a number, and none a heading."""
        parts = _parts_of(pages)
        if not parts:
            return None
        starts = list(accumulate((len(part.text) for part in parts), initial=0))
        return cls(
            text_id=text_id,
            text="".join(part.text for part in parts),
            pieces=tuple(
                Piece(page=part.page, section=part.section, at=at)
                for part, at in zip(parts, starts, strict=False)
            ),
            running=tuple(_moved((part.running for part in parts), starts)),
            listed=tuple(_moved((part.listed for part in parts), starts)),
        )

    @model_validator(mode="before")
    @classmethod
    def _as_kept_now(cls, told: object) -> object:
        """One text, and where in it each piece begins, of a map that was kept otherwise once."""
        if not isinstance(told, dict) or "etag" not in told:
            return told
        if "text" in told:
            return {"text_id" if key == "etag" else key: value for key, value in told.items()}
        once = _PlaceMap.model_validate(told)
        starts = accumulate((len(piece.text) for piece in once.pieces), initial=0)
        return {
            "text_id": once.etag,
            "text": "".join(piece.text for piece in once.pieces),
            "pieces": [
                {"page": piece.page, "section": piece.section, "at": at}
                for piece, at in zip(once.pieces, starts, strict=False)
            ],
        }

    def place_of(self, passage: str) -> Place:
        """
        Where the passage stands; nowhere if it isn't here, or could stand at several places.

        Looked up as a whole first, then piece by piece.
        """
        return self._located(passage)[0]

    def shown(self, passage: str) -> str:
        """
        Without its context lines, and those that are running headers, footers or page numbers.

        The latter stay if nothing else is in it, and where its place is not known.
        """
        text, found = without_context(passage), self._located(passage)[1]
        if found is None or not self.running:
            return text
        return without_running_lines(text, found, self.text, self._running)

    @property
    def pages(self) -> tuple[tuple[int, int], ...]:
        """Each page that has a number, and how many letters and digits it has."""
        ends = [*self._starts[1:], len(self.text)]
        letters: dict[int, int] = {}
        for piece, end in zip(self.pieces, ends, strict=True):
            if piece.page is not None:
                letters[piece.page] = letters.get(piece.page, 0) + end - piece.at
        return tuple(letters.items())

    @cached_property
    def _located(self) -> Callable[[str], tuple[Place, Alignment | None]]:
        return lru_cache(_KEPT)(self._locate)

    def _locate(self, passage: str) -> tuple[Place, Alignment | None]:
        texts, lines = split_at_context(passage)
        letters = [normalise(text) for text in texts]
        text = "".join(letters)
        if not text:
            return _NOWHERE, None
        repeats = list(islice(self._positions(text), _MOST_REPEATS))
        if len(repeats) == _MOST_REPEATS:
            return _NOWHERE, None
        if repeats[1:] and lines:
            named = dict(zip(accumulate(map(len, letters)), lines, strict=False))
            repeats = [at for at in repeats if self._is_named(at, len(text), named)] or repeats
        found = [
            Alignment(stretches=((at, at + len(text)),), letters=len(text), is_whole=True)
            for at in repeats
        ] or self._alignable.alignments(text)
        places = [self._place(each) for each in found]
        told = {(place.page, place.section) for place in places}
        return (places[0], found[0]) if len(told) == 1 else (_NOWHERE, None)

    def _positions(self, text: str) -> Iterator[int]:
        position = self.text.find(text)
        while position >= 0:
            yield position
            position = self.text.find(text, position + 1)

    def _is_named(self, begin: int, length: int, named: Mapping[int, str]) -> bool:
        """Whether a passage that begins there has its context lines where this text has them."""
        first = bisect_right(self._page_starts, begin)
        beyond = bisect_left(self._page_starts, begin + length)
        if any(at - begin not in named for at in self._page_starts[first:beyond]):
            return False
        pieces = ((self.pieces[self._number_at(begin + at)], named[at]) for at in named)
        return all(may_be_of(line, piece.section, piece.page) for piece, line in pieces)

    def _place(self, found: Alignment) -> Place:
        begin, end = found.stretches[0][0], found.stretches[-1][1]
        # What the passage begins with, and our text has not, may still be of the piece above.
        above = self._number_at(max(0, begin - found.before))
        section = self.pieces[self._number_at(begin)].section
        letters, listed = self._letters(found.stretches)
        by_page = {page: count for page, count in letters.items() if page is not None}
        return Place(
            page=max(by_page, key=lambda page: (by_page[page], -page), default=None),
            page_first=min(by_page, default=None),
            page_last=max(by_page, default=None),
            section=section if self.pieces[above].section == section else None,
            span=(
                begin - min(found.before, _RAGGED, begin),
                min(len(self.text), end + min(found.after, _RAGGED)),
            ),
            is_navigation=2 * listed > sum(letters.values()),
        )

    def _letters(self, stretches: Sequence[Stretch]) -> tuple[dict[int | None, int], int]:
        """By page, running lines left out unless there is nothing else; and how many are listed."""
        parts = [part for stretch in stretches for part in self._by_piece(*stretch)]
        running = [self._running.letters_in(begin, end) for _, begin, end in parts]
        is_all = sum(running) == sum(end - begin for _, begin, end in parts)
        letters: dict[int | None, int] = {}
        for (page, begin, end), out in zip(parts, running, strict=True):
            count = end - begin - (0 if is_all else out)
            if count:
                letters[page] = letters.get(page, 0) + count
        return letters, sum(self._listed.letters_in(begin, end) for _, begin, end in parts)

    def _by_piece(self, begin: int, end: int) -> list[tuple[int | None, int, int]]:
        first, last = self._number_at(begin), self._number_at(end - 1)
        bounds = [begin, *self._starts[first + 1 : last + 1], end]
        pages = [piece.page for piece in self.pieces[first : last + 1]]
        return [(page, *bound) for page, bound in zip(pages, pairwise(bounds), strict=True)]

    def _number_at(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1

    @cached_property
    def _starts(self) -> list[int]:
        return [piece.at for piece in self.pieces]

    @cached_property
    def _page_starts(self) -> list[int]:
        """Where a page begins, and with it a context line."""
        return [two.at for one, two in pairwise(self.pieces) if one.page != two.page]

    @cached_property
    def _alignable(self) -> Alignable:
        return Alignable(self.text)

    @cached_property
    def _running(self) -> Stretches:
        return Stretches(self.running)

    @cached_property
    def _listed(self) -> Stretches:
        return Stretches(self.listed)


def _moved(bounds: Iterable[Sequence[int]], starts: Sequence[int]) -> list[int]:
    """From positions in each part to those in the whole text."""
    return [at + start for each, start in zip(bounds, starts, strict=False) for at in each]


# Place maps as they were kept once: a text in each piece; when only PDFs had one, in each page.


class _Piece(BaseModel):
    page: int | None = Field(default=None, validation_alias=AliasChoices("page", "number"))
    section: str | None = None
    text: str


class _PlaceMap(BaseModel):
    etag: str
    pieces: tuple[_Piece, ...] = Field(validation_alias=AliasChoices("pieces", "pages"))


# What a place map says of a document, made of the pages that were read from it.


@dataclass(frozen=True, kw_only=True)
class _Part:
    """As `Piece`, with its normalised text; `running` and `listed` as a `PlaceMap` has them."""

    text: str
    page: int | None = None
    section: str | None = None
    running: tuple[int, ...] = ()
    listed: tuple[int, ...] = ()


def _parts_of(pages: Sequence[Page]) -> list[_Part]:
    numbered = [page for page in pages if page.number is not None]
    lines = [page.text.split("\n") for page in numbered]
    parts = [
        _part(each, running, page=page.number)
        for page, each, running in zip(numbered, lines, running_lines(lines), strict=True)
    ]
    for page in pages:
        if page.number is None and any(each.text is not None for each in page.headings):
            parts += _sections(page)
    return parts


def _sections(page: Page) -> Iterator[_Part]:
    starts = [0, *(heading.at for heading in page.headings), len(page.text)]
    sections = [None, *(heading.text for heading in page.headings)]
    for (start, end), section in zip(pairwise(starts), sections, strict=True):
        yield _part(page.text[start:end].split("\n"), set(), section=section)


def _part(
    lines: Sequence[str],
    running: Collection[int],
    *,
    page: int | None = None,
    section: str | None = None,
) -> _Part:
    rest = [number for number in range(len(lines)) if number not in running]
    listed = listed_lines([lines[number] for number in rest])
    texts = [normalise(line) for line in lines]
    return _Part(
        text="".join(texts),
        page=page,
        section=section,
        running=_bounds(texts, running),
        listed=_bounds(texts, {rest[number] for number in listed}),
    )


def _bounds(texts: Sequence[str], chosen: Collection[int]) -> tuple[int, ...]:
    """Where each of the chosen lines begins and ends; those without a letter have no place."""
    bounds: list[int] = []
    position = 0
    for number, text in enumerate(texts):
        if text and number in chosen:
            bounds += [position, position + len(text)]
        position += len(text)
    return tuple(bounds)
