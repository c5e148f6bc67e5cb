"""
Where a passage stands, when the knowledge base doesn't say: on which pages, below which heading.

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
from typing import Any, Self

from pydantic import NonNegativeInt, PositiveInt, model_validator

from stackroom.inspection.alignment import Alignable, Alignment, Stretch
from stackroom.inspection.extraction.page import Page
from stackroom.model import Record
from stackroom.ports.retrieval import Place

# A passage may begin or end with as many letters that are not in our text, and its neighbour still
# touches it.
_RAGGED = 40
_NOWHERE = Place()
_NOT_BARE = re.compile(r"[\W_]+")


def normalise(text: str) -> str:
    """Letters and digits alone, in one case, ligatures and full-width forms resolved."""
    return _NOT_BARE.sub("", unicodedata.normalize("NFKC", text).casefold())


class Piece(Record):
    """One page, or what is from one heading to the next; neither of both above the first one."""

    page: PositiveInt | None = None
    section: str | None = None
    at: NonNegativeInt  # where in the text it begins; a blank one begins, and ends, with the next


class PlaceMap(Record):
    """The normalised text of one version of a document, and where in it each piece begins."""

    etag: str
    text: str
    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, etag: str, pages: Iterable[Page]) -> Self | None:
        """None where nothing would be told: no page has a number, and none a heading."""
        parts = [part for page in pages for part in _parts(page)]
        return cls.model_validate({"etag": etag, "pieces": parts}) if parts else None

    @model_validator(mode="before")
    @classmethod
    def _with_one_text(cls, told: Any) -> Any:
        """As it is made, and as maps were kept once: a text in each piece, or in each page."""
        if not isinstance(told, dict) or "text" in told:
            return told
        kept = {name: value for name, value in told.items() if name != "pages"}
        parts = told.get("pieces", told.get("pages"))
        texts = [part["text"] for part in parts]
        starts = [0, *accumulate(map(len, texts))]
        pieces = [
            {"page": part.get("page", part.get("number")), "section": part.get("section"), "at": at}
            for part, at in zip(parts, starts, strict=False)
        ]
        return {**kept, "text": "".join(texts), "pieces": pieces}

    def place_of(self, passage: str) -> Place:
        """
        Where the passage stands; nowhere if it isn't here, or could stand at several places.

        Looked up as a whole first, then piece by piece.
        """
        text = normalise(passage)
        if not text:
            return _NOWHERE
        whole = self._as_a_whole(text)
        places = [self._place(each) for each in whole or self._alignable.alignments(text)]
        told = {(place.page, place.section) for place in places}
        return places[0] if len(told) == 1 else _NOWHERE

    def shown(self, passage: str) -> str:
        return passage

    def _as_a_whole(self, text: str) -> list[Alignment]:
        """Where the text stands letter by letter: nowhere, once, or at two places that differ."""
        found: list[Alignment] = []
        position = self.text.find(text)
        while position >= 0 and len(found) < 2:
            number = self._number_at(position)
            if not found or self._told(self._number_at(found[0].stretches[0][0])) != self._told(
                number
            ):
                found.append(Alignment(stretches=((position, position + len(text)),)))
            # The next piece at the earliest: more in this one would tell nothing new.
            after = self._starts[number + 1] if number + 1 < len(self._starts) else len(self.text)
            position = self.text.find(text, after)
        return found

    def _place(self, found: Alignment) -> Place:
        begin, end = found.stretches[0][0], found.stretches[-1][1]
        # What the passage begins with, and our text has not, may still be of the piece above.
        begins = begin if not found.before else max(0, begin - found.before)
        section = self.pieces[self._number_at(begin)].section
        if self.pieces[self._number_at(begins)].section != section:
            section = None
        letters = self._letters_by_page(found.stretches)
        return Place(
            page=max(letters, key=lambda page: (letters[page], -page), default=None),
            page_first=min(letters, default=None),
            page_last=max(letters, default=None),
            section=section,
            span=(
                begin - min(found.before, _RAGGED, begin),
                min(len(self.text), end + min(found.after, _RAGGED)),
            ),
        )

    def _letters_by_page(self, stretches: Iterable[Stretch]) -> dict[int, int]:
        letters: dict[int, int] = {}
        for begin, end in stretches:
            position = begin
            for number in range(self._number_at(begin), len(self.pieces)):
                if position >= end:
                    break
                after = self._starts[number + 1] if number + 1 < len(self._starts) else end
                page = self.pieces[number].page
                if page is not None and min(after, end) > position:
                    letters[page] = letters.get(page, 0) + min(after, end) - position
                position = max(position, after)
        return letters

    def _told(self, number: int) -> tuple[int | None, str | None]:
        return self.pieces[number].page, self.pieces[number].section

    def _number_at(self, position: int) -> int:
        return bisect_right(self._starts, position) - 1

    @cached_property
    def _starts(self) -> list[int]:
        return [piece.at for piece in self.pieces]

    @cached_property
    def _alignable(self) -> Alignable:
        return Alignable(self.text)


def _parts(page: Page) -> Iterator[dict[str, object]]:
    if page.number is not None:
        yield {"page": page.number, "text": normalise(page.text)}
        return
    if all(each.text is None for each in page.headings):
        return
    starts = [0, *(heading.at for heading in page.headings), len(page.text)]
    sections = [None, *(heading.text for heading in page.headings)]
    for (start, end), section in zip(pairwise(starts), sections, strict=True):
        yield {"section": section, "text": normalise(page.text[start:end])}
