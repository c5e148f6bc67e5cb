"""
A document's text for its owner: the kept text, or what our reader takes from the file. Also a
passage's place in it, though a knowledge base may have read the file slightly differently.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, islice
from operator import itemgetter
from typing import Protocol

from stackroom.access.tenancy import in_use
from stackroom.clock import utc_now
from stackroom.errors import DocumentNotFound, ObjectRefused, Unreadable
from stackroom.model.bucket import Files
from stackroom.model.keys import TextName
from stackroom.model.records import Document
from stackroom.model.repositories import Catalogs, Documents
from stackroom.text.context_lines import split_at_context
from stackroom.text.extraction.page import Page
from stackroom.text.place_map import PlaceMap
from stackroom.text.running_lines import normalise

# Bytes of a file that is read for somebody who waits, beside others who do.
LARGEST = 20 * 1024 * 1024
_TOO_LARGE = f"files of more than {LARGEST // 1024**2} MB aren't shown as text"
_TOO_LONG = "reading the file took too long"

Span = tuple[int, int]
# Given seconds and the rest, as `read_pages_apart` does it; None where it had to give up.
Extract = Callable[..., Sequence[Page] | None]


class StoredTexts(Protocol):
    def text(self, name: TextName) -> str | None: ...

    def get(self, name: TextName) -> PlaceMap | None:
        """Return the text and where its pages begin."""


@dataclass(frozen=True, kw_only=True)
class DocumentPages:
    """
    A document's pages. `unread` is why there are none, as the end of a sentence; `is_earlier` is
    True if a newer version of the file is stored.
    """

    document: Document
    pages: tuple[Page, ...] = ()
    unread: str = ""
    is_earlier: bool = False


@dataclass(frozen=True, kw_only=True)
class TextReading:
    """
    Reads texts. `extract` is `inspection.extraction.apart.read_pages_apart`: files are hostile
    until read.
    """

    catalogs: Catalogs
    documents: Documents
    files: Files
    texts: StoredTexts
    extract: Extract
    now: Callable[[], datetime] = utc_now

    def text(
        self,
        user_id: str,
        catalog_id: str,
        document_id: str,
        *,
        seconds: float,
        cited: str | None = None,
    ) -> DocumentPages:
        """
        Return the text in the version that an answer has `cited`, while answers are from it; else
        in the stored version. Raises CatalogNotFound, CatalogDeleting or DocumentNotFound.
        """
        catalog = in_use(self.catalogs, user_id, catalog_id)
        document = self.documents.get(catalog_id, document_id)
        if document is None or not document.is_counted:
            raise DocumentNotFound(document_id)
        answering = document.answering_version_id(self.now())
        version_id = answering if answering == cited else None
        is_earlier = version_id is not None
        text_id = document.indexed_text_id if is_earlier else document.text_id
        try:
            pages = self._kept(catalog.user_id, document, text_id)
            pages = pages or self._read(document, seconds, version_id)
        except Unreadable as defect:
            return DocumentPages(document=document, unread=defect.reason)
        except ObjectRefused as refused:
            return DocumentPages(document=document, unread=refused.reason)
        return DocumentPages(document=document, pages=pages, is_earlier=is_earlier)

    def _kept(self, user_id: str, document: Document, text_id: str | None) -> tuple[Page, ...]:
        """Return the pages of the kept text, which may come from OCR or an earlier reader."""
        if text_id is None:
            return ()
        name = TextName(user_id, document.catalog_id, document.document_id, text_id)
        text, places = self.texts.text(name), self.texts.get(name)
        return () if text is None or places is None else tuple(_pages(text, places))

    def _read(self, document: Document, seconds: float, version_id: str | None) -> tuple[Page, ...]:
        file = self.files.read(document.s3_key, limit=LARGEST, version_id=version_id)
        if file is None:
            raise DocumentNotFound(document.document_id)
        if file.body is None:
            raise Unreadable(_TOO_LARGE)
        # Pages of images alone are readable for people.
        pages = self.extract(file.body, document.filename, seconds=seconds, scans=True)
        if pages is None:
            raise Unreadable(_TOO_LONG)
        return tuple(pages)


def _pages(text: str, places: PlaceMap) -> Iterator[Page]:
    """Yield each page, without the context lines, below one of which it begins."""
    at, parts = 0, list[tuple[int | None, str]]()
    for part in split_at_context(text)[0]:
        parts.append((places.page_at(at), part))
        at += len(normalise(part))
    for number, of_page in groupby(parts, key=itemgetter(0)):
        yield Page(number, "".join(part for _, part in of_page))


# The place of a passage in a text, found by its first and its last words.

_WORD = re.compile(r"[^\W_]+")
_CLOSING = re.compile(r"[^\w\s]*")  # of a sentence
_BETWEEN = r"[\W_]*"  # white space, markup and hyphens may differ
_MOST_WORDS = 12
_LEAST_WORDS = 3
_MOST_PLACES = 50
_LONGEST = 20_000  # characters of a passage


def located(text: str, first: str, last: str = "") -> Span | None:
    """
    Return the passage's begin and end, or None if it isn't there. If the last words aren't found
    behind the first ones, the first alone count.
    """
    for words in _attempts(_WORD.findall(first)[:_MOST_WORDS]):
        places = [each.span() for each in islice(_found(words, text), _MOST_PLACES)]
        if places:
            ends = (_end(text, each, last) for each in places)
            begin, end = next((each for each in ends if each is not None), places[0])
            closing = _CLOSING.match(text, end)
            return _with_markup(text, begin), closing.end() if closing else end
    return None


def _with_markup(text: str, begin: int) -> int:
    """Return the line's beginning if no word stands between: a heading has its marks there."""
    line = text.rfind("\n", 0, begin) + 1
    return begin if _WORD.search(text, line, begin) else line


def _attempts(words: list[str]) -> Iterator[list[str]]:
    """
    Yield all words, then fewer from either end: a passage may begin with a heading from elsewhere.
    """
    if words:
        yield words
    for out in range(1, len(words) - _LEAST_WORDS + 1):
        yield words[out:]
        yield words[:-out]


def _found(words: Sequence[str], text: str) -> Iterator[re.Match[str]]:
    return re.finditer(_BETWEEN.join(map(re.escape, words)), text, re.IGNORECASE)


def _end(text: str, begins: Span, last: str) -> Span | None:
    words = _WORD.findall(last)
    if not words:
        return begins
    after = text[begins[1] : begins[0] + _LONGEST]
    found = next(_found(words, after), None)
    return None if found is None else (begins[0], begins[1] + found.end())
