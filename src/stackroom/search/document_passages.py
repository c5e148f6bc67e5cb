"""
The passages of one document as they lie in the index, for its owner to inspect.

No store can list the passages of a document. A search restricted to the document returns at most a
hundred; they are sorted here by their places in our text, or else by the store's page numbers.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Protocol

from stackroom.access.tenancy import DOCUMENT, in_use
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import DocumentNotFound
from stackroom.model.filters import Has
from stackroom.model.keys import TextName
from stackroom.model.passages import KnowledgeBase, OnlyPlaces, Passage
from stackroom.model.records import Catalog, Document
from stackroom.model.repositories import Catalogs, DocumentNotes, Documents
from stackroom.search.excerpts import Cited, Source, cited, estimated_tokens
from stackroom.search.search import ask_all, is_current, of_version, scope_of_catalog
from stackroom.text.place_map import PlaceMap

logger = logging.getLogger(__name__)

MOST = 100  # passages that Bedrock and S3 Vectors answer in one page


@dataclass(frozen=True, kw_only=True)
class CutPassage:
    """
    One indexed passage. `shown` is its text without context lines, which are indexed but not shown.

    `tokens` are estimated. `is_navigation` marks a table of contents or an index.
    """

    text: str
    source: Source
    tokens: int
    is_navigation: bool
    shown: str


@dataclass(frozen=True, kw_only=True)
class CutDocument:
    """
    A document's passages. `is_whole` is False if the index may hold more than were returned.

    If `is_ordered` is False, some passages are in no particular order. Of the `pages`, `blank` ones
    have no text at all, and `without_passage` ones have text of which no passage has any; both are
    known only for a whole document.
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


@dataclass(frozen=True, kw_only=True)
class DocumentPassages:
    pool: Mapping[str, KnowledgeBase]
    catalogs: Catalogs
    documents: Documents
    place_maps: Maps

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
        Return the passages of a document; if it has more than `MOST`, those nearest to `about`.

        Raises CatalogNotFound, CatalogDeleting, DocumentNotFound, Throttled or RetrievalFailed.
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
        placed = list(zip(found, cited(found, OnlyPlaces(places)), strict=True))
        ordered, is_ordered = _in_order(placed, places)
        is_whole = len(found) < MOST
        blank, without = ((), ()) if places is None else _pages(places, ordered)
        return CutDocument(
            document=document,
            passages=tuple(_cut(passage, each) for passage, each in ordered),
            is_whole=is_whole,
            is_ordered=is_ordered,
            pages=0 if places is None else len(places.pages),
            blank=blank,
            without_passage=without if is_whole else (),
        )

    def _places(self, catalog: Catalog, document_id: str, text_id: str | None) -> PlaceMap | None:
        """Return the place map of the indexed text, if there is one."""
        if text_id is None:
            return None
        name = TextName(catalog.user_id, catalog.catalog_id, document_id, text_id)
        try:
            return self.place_maps.get(name)
        except Exception:  # whatever ails an adapter, as in stackroom.search.excerpts
            logger.warning("place map unreadable", exc_info=True)
            return None


_Placed = tuple[Passage, Cited]


def _cut(passage: Passage, found: Cited) -> CutPassage:
    return CutPassage(
        text=passage.raw_text,
        source=found.source,
        tokens=estimated_tokens(passage.raw_text),
        is_navigation=found.place.is_navigation,
        shown=passage.text,
    )


def lines_shown(text: str, shown: str) -> Iterator[tuple[str, bool]]:
    """Yield each line of a passage, and whether it is one of the lines shown."""
    kept = iter(shown.splitlines())
    expected = next(kept, None)
    for line in text.splitlines():
        is_shown = line == expected
        yield line, is_shown
        if is_shown:
            expected = next(kept, None)


def _in_order(found: Sequence[_Placed], places: PlaceMap | None) -> tuple[Sequence[_Placed], bool]:
    """Return the passages, in the order of the document if it is known, and whether it is."""
    spans = [None if places is None else places.place_of(each.raw_text).span for each, _ in found]
    if None not in spans:
        in_text = sorted(zip(spans, found, strict=True), key=itemgetter(0))
        return [each for _, each in in_text], True
    pages = [each.source.page for _, each in found]
    if None not in pages and len(set(pages)) == len(pages):
        return sorted(found, key=lambda pair: pair[1].source.page or 0), True
    return found, len(found) <= 1


def _pages(places: PlaceMap, found: Sequence[_Placed]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """
    Return the pages without text, and those whose text is in no passage if every passage has a
    place.
    """
    blank = tuple(page for page, letters in places.pages if not letters)
    covered = set[int]()
    for _, each in found:
        first, last = each.place.page_first, each.place.page_last
        if first is None or last is None:
            return blank, ()
        covered.update(range(first, last + 1))
    return blank, tuple(page for page, letters in places.pages if letters and page not in covered)
