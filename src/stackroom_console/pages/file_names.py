"""Names of files that begin or contain what somebody types into the field Files."""

from contextlib import suppress

from starlette.responses import Response

from stackroom.catalogs.browsing import Order, Wanted
from stackroom.errors import Unavailable, ValidationError
from stackroom_console.asked_question import SearchChoice, choice_of, file_names, quoted_name
from stackroom_console.pages.ask_page import catalogs_of
from stackroom_console.rendering import render
from stackroom_console.request import Request

_MOST = 10
_CATALOGS = 5  # that are looked through, where none is chosen


def part(request: Request) -> Response:
    """Return options for the field, each with the names before the one that is typed."""
    choice = SearchChoice()
    with suppress(ValidationError):
        choice = choice_of(request.query)
    *_, (words, begin) = file_names(choice.files)
    before = choice.files[:begin].strip()
    found: list[str] = []
    if words:
        mine = catalogs_of(request)
        chosen = [each for each in choice.catalog_ids if each in mine] or list(mine)[:_CATALOGS]
        wanted = Wanted(words=words, order=Order.NAME)
        with suppress(Unavailable):
            for each in chosen:
                browsed = request.services.browsing.browse(request.user_id, each, wanted)
                found += [document.filename for document in browsed.documents[:_MOST]]
    names = list(dict.fromkeys(found))[:_MOST]
    started = f"{before} " if before else ""
    offered = [started + quoted_name(each) for each in names]
    return render(request, "parts/file_names.html", names=offered)
