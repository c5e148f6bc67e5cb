"""
A document's text on a page of ours, part by part, with the passage marked that an address names. A
PDF has its page beside the text, which the browser draws (static/pdf_pages.js).

It is shown escaped, whatever the file is: no file of a user runs where the console's cookies are.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from starlette.responses import Response

from stackroom.catalogs.reading import DocumentPages, Span, located
from stackroom.model.formats import extension_of
from stackroom.text.extraction.page import Page
from stackroom_console import ids
from stackroom_console.console import FOR_A_PAGE
from stackroom_console.rendering import render
from stackroom_console.request import Request, number

# Characters of a document that a page shows; of a longer one there are several such parts.
_PART = 60_000
_MOST_PARTS = 100_000
_MOST_PAGES = 1_000_000
_LONGEST_WORDS = 300  # characters of a passage's first and last words; citations send fewer


@dataclass(frozen=True, kw_only=True)
class TextPiece:
    """A piece of the text. `page` is set where one begins, and `is_passage` marks it."""

    text: str
    page: int | None = None
    is_passage: bool = False


@dataclass(frozen=True, kw_only=True)
class TextPart:
    """
    A part of a text, `number` of `count`. `is_found` is None if no passage was asked for. The
    passage, or else the part, begins on `page`.
    """

    pieces: tuple[TextPiece, ...]
    number: int
    count: int
    is_found: bool | None
    page: int | None


def page(request: Request) -> Response:
    catalog_id, document_id = ids.catalog_id(request), ids.document_id(request)
    seconds = request.deadline.sooner(FOR_A_PAGE).left()
    cited = request.query.get("version")
    read = request.services.reading.text(
        request.user_id, catalog_id, document_id, seconds=min(seconds, 15.0), cited=cited
    )
    request.handed_out.append(document_id)
    part = None if read.unread else _part_asked(request, read)
    cited_on = number(request.query, "page", least=0, most=_MOST_PAGES, default=0)
    return render(
        request,
        "document_text.html",
        catalog_name=_catalog_name(request, catalog_id),
        document=read.document,
        is_pdf=extension_of(read.document.filename) == "pdf",
        unread=read.unread,
        version=cited if read.is_earlier else None,
        part=part,
        page=cited_on or (part and part.page) or 1,
    )


def part_of(
    pages: Sequence[Page], *, first: str = "", last: str = "", wanted: int | None = None
) -> TextPart:
    """Return the part of that number, counted from 1, or else the one with the passage."""
    text = "".join(_lined(each.text) for each in pages)
    passage = located(text, first, last) if first else None
    bounds, starts = list(_bounds(text)), _starts(pages)
    at = wanted - 1 if wanted else (bisect_right(bounds, passage[0]) - 1 if passage else 0)
    at = min(max(0, at), len(bounds) - 2)
    begin, end = bounds[at], bounds[at + 1]
    if passage is not None and begin <= passage[0] < end:
        end = max(end, passage[1])
    return TextPart(
        pieces=tuple(_pieces(text, (begin, end), starts, passage)),
        number=at + 1,
        count=len(bounds) - 1,
        is_found=passage is not None if first else None,
        page=_page_at(starts, begin if passage is None else passage[0]),
    )


def _part_asked(request: Request, read: DocumentPages) -> TextPart:
    first, last = (request.query.get(each, "")[:_LONGEST_WORDS] for each in ("from", "to"))
    wanted = number(request.query, "part", least=0, most=_MOST_PARTS, default=0)
    return part_of(read.pages, first=first, last=last, wanted=wanted or None)


def _catalog_name(request: Request, catalog_id: str) -> str:
    found = request.services.catalogs.get(catalog_id)
    return catalog_id if found is None else found.name


def _lined(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _bounds(text: str) -> Iterator[int]:
    """
    Yield the beginning of each part, at lines as far as there are any, and the end of the last one.
    """
    at = 0
    while at < len(text):
        yield at
        line = text.rfind("\n", at, at + _PART) + 1
        at = line if line > at and at + _PART < len(text) else at + _PART
    yield len(text)


def _starts(pages: Sequence[Page]) -> list[tuple[int, int | None]]:
    """Return the beginning of each page in the text, and its number."""
    starts, at = [], 0
    for each in pages:
        starts.append((at, each.number))
        at += len(_lined(each.text))
    return starts


def _page_at(starts: Sequence[tuple[int, int | None]], position: int) -> int | None:
    return starts[bisect_right(starts, position, key=lambda each: each[0]) - 1][1]


def _pieces(
    text: str, within: Span, starts: Sequence[tuple[int, int | None]], passage: Span | None
) -> Iterator[TextPiece]:
    begin, end = within
    pages = {at: page for at, page in starts if begin <= at < end and page is not None}
    cuts = {begin, end, *pages, *(at for at in passage or () if begin < at < end)}
    for first, last in pairwise(sorted(cuts)):
        yield TextPiece(
            text=text[first:last],
            page=pages.get(first),
            is_passage=passage is not None and passage[0] <= first < passage[1],
        )
