"""
One document's passages as they lie in the index, for its owner: what was read of the file, and how
it was cut.

No store lists a document's passages. They are asked for by a search that lets through no other
document's, which answers a hundred at most, and put in the document's order here: by where our own
map of the document has them, by the store's pages, by what neighbours have in common, or by where
they stand in the file, which is read for that alone.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Protocol

from stackroom.access.tenancy import DOCUMENT, in_use
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.documents.filters import Has
from stackroom.documents.keys import TextName
from stackroom.documents.model import Catalog, Document
from stackroom.documents.passages import KnowledgeBase, OnlyPlaces
from stackroom.documents.repositories import Catalogs, DocumentNotes, Documents
from stackroom.errors import DocumentNotFound
from stackroom.inspection.extraction.page import Page
from stackroom.inspection.place_map import PlaceMap
from stackroom.inspection.running_lines import normalise
from stackroom.search.citations import Cited, Source, cited
from stackroom.search.excerpts import estimated_tokens
from stackroom.search.fan_out import ask_all, is_current, of_version, scope_of_catalog

logger = logging.getLogger(__name__)

MOST = 100  # passages that Bedrock and S3 Vectors answer in one page
_LEAST_SHARED = 12  # letters and digits by which one passage is known to go on in another


@dataclass(frozen=True, kw_only=True)
class CutPassage:
    """
    `shown` is the text without its context lines, which are searched and left out of answers.
    `tokens` are estimated. `is_navigation` if it is a table of contents or an index.
    """

    text: str
    source: Source
    tokens: int
    is_navigation: bool
    shown: str


@dataclass(frozen=True, kw_only=True)
class CutDocument:
    """
    `is_whole` unless the index may hold more than were answered; without `is_ordered` some are in
    no particular order. Of the `pages`, those that are `blank` have no text at all, and of those
    `without_passage` there is some that is in no passage: told of a whole document alone.
    """

    document: Document
    passages: tuple[CutPassage, ...] = ()
    is_whole: bool = True
    is_ordered: bool = True
    pages: int = 0
    blank: tuple[int, ...] = ()
    without_passage: tuple[int, ...] = ()


class Maps(Protocol):
    def get(self, name: TextName) -> PlaceMap | None: ...


class Text(Protocol):
    @property
    def pages(self) -> Sequence[Page]: ...


class Texts(Protocol):
    def text(
        self,
        user_id: str,
        catalog_id: str,
        document_id: str,
        *,
        seconds: float,
        cited: str | None = None,
    ) -> Text:
        """That of the version of the file that is `cited`; no pages where it can't be read."""


@dataclass(frozen=True, kw_only=True)
class DocumentPassages:
    pool: Mapping[str, KnowledgeBase]
    catalogs: Catalogs
    documents: Documents
    place_maps: Maps
    texts: Texts

    def of(
        self,
        user_id: str,
        catalog_id: str,
        document_id: str,
        *,
        about: str = "",
        deadline: Deadline = NO_DEADLINE,
    ) -> CutDocument:
        """
        Of a document with more passages than `MOST` those nearest to what `about` says.

        Raises CatalogNotFound, CatalogDeleting or DocumentNotFound, and Throttled or
        RetrievalFailed by the deadline.
        """
        catalog = in_use(self.catalogs, user_id, catalog_id)
        document = self.documents.get(catalog_id, document_id)
        if document is None or not document.is_counted:
            raise DocumentNotFound(document_id)
        scope = scope_of_catalog(catalog)
        if not scope.queries or not document.may_be_indexed:
            return CutDocument(document=document)
        replies = ask_all(
            scope,
            about or PurePosixPath(document.filename).stem,
            pool=self.pool,
            conditions=(Has(DOCUMENT, document_id),),
            limits=dict.fromkeys(scope.targets, MOST),
            deadline=deadline,
        )
        notes, text_id = DocumentNotes.of(document), document.indexed_text_id or document.text_id
        found = [
            of_version(passage, notes)
            for reply in replies.given
            for passage in reply.passages
            if is_current(passage, notes)
        ]
        places = self._places(catalog, document.document_id, text_id)
        placed = zip((each.text for each in found), cited(found, OnlyPlaces(places)), strict=True)
        ordered, is_ordered = _in_order(list(placed))
        if not is_ordered:
            ordered, is_ordered = _in_text(ordered, self._text(document, catalog, deadline))
        is_whole = len(found) < MOST
        blank, without = ((), ()) if places is None else _pages(places, ordered)
        return CutDocument(
            document=document,
            passages=tuple(_cut(text, each) for text, each in ordered),
            is_whole=is_whole,
            is_ordered=is_ordered,
            pages=0 if places is None else len(places.pages),
            blank=blank,
            without_passage=without if is_whole else (),
        )

    def _places(self, catalog: Catalog, document_id: str, text_id: str | None) -> PlaceMap | None:
        """That of the text that is indexed; without it there are passages all the same."""
        if text_id is None:
            return None
        name = TextName(catalog.user_id, catalog.catalog_id, document_id, text_id)
        try:
            return self.place_maps.get(name)
        except Exception:  # whatever ails an adapter, as in stackroom.search.citations
            logger.warning("place map unreadable", exc_info=True)
            return None

    def _text(self, document: Document, catalog: Catalog, deadline: Deadline) -> str:
        ids = (catalog.user_id, catalog.catalog_id, document.document_id)
        try:
            version_id = document.indexed_version_id
            read = self.texts.text(*ids, seconds=deadline.left(), cited=version_id)
        except Exception:  # likewise: it is for their order alone
            logger.warning("text unreadable", exc_info=True)
            return ""
        return "".join(each.text for each in read.pages)


_Placed = tuple[str, Cited]  # a passage's text, whole, and where it stands


def _cut(text: str, found: Cited) -> CutPassage:
    return CutPassage(
        text=text,
        source=found.source,
        tokens=estimated_tokens(text),
        is_navigation=found.place.is_navigation,
        shown=found.shown,
    )


def told_apart(text: str, shown: str) -> Iterator[tuple[str, bool]]:
    """Each line of a passage, with whether it is among those shown, which are in its order."""
    kept = iter(shown.splitlines())
    expected = next(kept, None)
    for line in text.splitlines():
        is_shown = line == expected
        yield line, is_shown
        if is_shown:
            expected = next(kept, None)


def _in_order(found: Sequence[_Placed]) -> tuple[list[_Placed], bool]:
    """With whether that is the document's, as far as can be told."""
    if all(each.place.span is not None for _, each in found):
        return sorted(found, key=lambda pair: pair[1].place.span or (0, 0)), True
    if all(each.source.page is not None for _, each in found):
        by_page = sorted(found, key=lambda pair: pair[1].source.page or 0)
        pages = [each.source.page for _, each in by_page]
        return by_page, all(one != other for one, other in pairwise(pages))
    return _chained(found)


def _chained(found: Sequence[_Placed]) -> tuple[list[_Placed], bool]:
    """By what the end of one and the beginning of the next have in common."""
    texts = [normalise(text) for text, _ in found]
    follower = {
        at: max(shared, key=lambda other: shared[other])
        for at, text in enumerate(texts)
        if (shared := _shared(text, at, texts))
    }
    chains, seen = list[list[int]](), set[int]()
    firsts = [at for at in range(len(texts)) if at not in follower.values()]
    for first in (*firsts, *range(len(texts))):  # the second, for what goes round in a circle
        chain, at = list[int](), first
        while at >= 0 and at not in seen:
            seen.add(at)
            chain.append(at)
            at = follower.get(at, -1)
        if chain:
            chains.append(chain)
    return [found[at] for chain in chains for at in chain], len(chains) <= 1


def _shared(text: str, at: int, texts: Sequence[str]) -> dict[int, int]:
    """By the number of each that this one goes on in, how many letters they share."""
    shared: dict[int, int] = {}
    for other, begins in enumerate(texts):
        start = text.find(begins[:_LEAST_SHARED], 1) if other != at else -1
        while start >= 0:
            common = len(text) - start
            if _LEAST_SHARED <= common < len(begins) and begins.startswith(text[start:]):
                shared[other] = common
                break
            start = text.find(begins[:_LEAST_SHARED], start + 1)
    return shared


def _in_text(found: list[_Placed], text: str) -> tuple[list[_Placed], bool]:
    """By where each stands in the text; as they are, unless each stands there once."""
    whole = normalise(text)
    places = [_only_place(normalise(passage), whole) for passage, _ in found]
    if None in places:
        return found, False
    return [each for _, each in sorted(zip(places, found, strict=True), key=itemgetter(0))], True


def _only_place(text: str, whole: str) -> int | None:
    at = whole.find(text)
    return at if at >= 0 and whole.find(text, at + 1) < 0 else None


def _pages(places: PlaceMap, found: Sequence[_Placed]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Those without text; and those of whose text no passage has any, if all have a place."""
    blank = tuple(page for page, letters in places.pages if not letters)
    covered = set[int]()
    for _, each in found:
        first, last = each.place.page_first, each.place.page_last
        if first is None or last is None:
            return blank, ()
        covered.update(range(first, last + 1))
    return blank, tuple(page for page, letters in places.pages if letters and page not in covered)
