"""Questions to begin with, made of the headings in a user's own documents."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import PurePosixPath
from urllib.parse import urlencode

from starlette.responses import Response

from stackroom.errors import Unavailable, ValidationError
from stackroom.model.keys import TextName
from stackroom.model.records import Catalog, Document, DocumentStatus
from stackroom.text.place_map import Piece, PlaceMap
from stackroom_console.asked_question import SearchChoice, choice_of
from stackroom_console.messages import gettext
from stackroom_console.pages.ask_page import catalogs_of
from stackroom_console.pages.sample_catalog import questions_of
from stackroom_console.rendering import plain, render
from stackroom_console.request import Request

_MOST = 4
_OF_ONE = 2  # document
# Read for them: the first catalogs, and of each the first documents as the store has them.
_CATALOGS, _DOCUMENTS = 3, 4
_NUMBERING = re.compile(r"^[\W\d_]+|[\W_]+$")
_SHORTEST, _LONGEST = 4, 60  # characters of a heading
_SAYS_NOTHING = re.compile(
    r"(table of )?contents|introduction|overview|summary|conclusions?|preface|foreword|index"
    r"|appendix.{0,3}|references|notes?|page \d+",
    re.IGNORECASE,
)


def part(request: Request) -> Response:
    """A question and the address that asks it, each; none where nothing is searchable."""
    mine = catalogs_of(request)
    choice = SearchChoice()
    with suppress(ValidationError):
        choice = choice_of(request.query)
    chosen = [mine[each] for each in choice.catalog_ids if each in mine] or list(mine.values())
    examples: dict[str, str] = {}
    with suppress(Unavailable):
        for catalog in chosen[:_CATALOGS]:
            for each in _of_catalog(request, catalog):
                query = {"q": each, "catalog": ",".join(choice.catalog_ids)}
                given = {name: value for name, value in query.items() if value}
                examples.setdefault(each, f"/ask?{urlencode(given)}")
    shown = list(examples.items())[:_MOST]
    return render(request, "parts/example_questions.html", examples=shown)


def _of_catalog(request: Request, catalog: Catalog) -> Iterator[str]:
    if questions := questions_of(catalog):
        yield from questions
        return
    documents = request.services.listing.pages
    page = documents.page(catalog.catalog_id, after=None, limit=_DOCUMENTS)
    for each in page.documents:
        if each.status is DocumentStatus.INDEXED:
            yield from _of_document(request, catalog, each)


def _of_document(request: Request, catalog: Catalog, document: Document) -> Iterator[str]:
    text_id = document.indexed_text_id or document.text_id
    stem = plain(PurePosixPath(document.filename).stem)[:_LONGEST]
    places = None
    if text_id is not None:
        name = TextName(catalog.user_id, catalog.catalog_id, document.document_id, text_id)
        places = request.services.retrieval.place_maps.get(name)
    headings = _headings(places.pieces if isinstance(places, PlaceMap) else (), stem)
    questions = list(islice(headings, _OF_ONE))
    yield from questions or [gettext("What is %(name)s about?") % {"name": stem}]


def _headings(pieces: Iterable[Piece], stem: str) -> Iterator[str]:
    sections = dict.fromkeys(each.section or "" for each in pieces)
    for section in sections:
        line = " ".join(plain(section).split())
        if line.endswith("?") and len(line) <= 2 * _LONGEST:
            yield line
            continue
        heading = _NUMBERING.sub("", line)
        says = _SHORTEST <= len(heading) <= _LONGEST and not _SAYS_NOTHING.fullmatch(heading)
        if says and heading.casefold() != stem.casefold():
            fields = {"name": stem, "heading": _within(heading)}
            yield gettext("What does %(name)s say about %(heading)s?") % fields


def _within(heading: str) -> str:
    """
    Return the heading as it reads within a sentence: "Annual leave" in lower case, "GDPR"
    unchanged.
    """
    return heading[0].lower() + heading[1:] if heading[1:2].islower() else heading
