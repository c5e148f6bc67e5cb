"""
An answer of the page Ask while it grows: an HTTP API can't stream a function's response, so the
page asks several times a second for what there is, as a conversation's page does.
"""

import re
import time
from contextlib import suppress

from starlette.responses import Response

from stackroom.errors import Unavailable
from stackroom.search.cited_answers import Hear
from stackroom_agents.user_agents.agent_repositories import AgentRunBook
from stackroom_agents.user_agents.agent_run import Draft
from stackroom_console.problems import NOT_FOUND, Refused
from stackroom_console.rendering import render
from stackroom_console.request import Request
from stackroom_console.safe_markdown import markdown

# Made by the page that asks, and known to nobody else.
_ID = re.compile(r"ask-[0-9a-f]{32}")
_SECONDS = 0.25
_BYTES = 4096  # and so often for each of them, so that a text costs 16 write units a second


class Growth:
    """A listener that saves the text so far; a store that refuses it does the answer no harm."""

    def __init__(self, book: AgentRunBook, user_id: str, growing_id: str) -> None:
        self._book, self._user_id, self._id = book, user_id, growing_id
        self._next = 0.0

    def __call__(self, text: str) -> None:
        if time.monotonic() < self._next:
            return
        with suppress(Unavailable):
            self._book.keep_draft(self._user_id, self._id, Draft(steps=0, text=text))
        self._next = time.monotonic() + _SECONDS * max(1.0, len(text.encode()) / _BYTES)


def growth_of(request: Request) -> Hear | None:
    """Return the listener that shows a growing answer, or None if nobody watches it."""
    given = request.form.get("growing", "")
    if not _ID.fullmatch(given):
        return None
    return Growth(request.services.agent_runs.book, request.user_id, given)


def part(request: Request) -> Response:
    """Return the text so far of the answer with that id."""
    given = request.query.get("id", "")
    if not _ID.fullmatch(given):
        raise Refused(NOT_FOUND)
    draft = request.services.agent_runs.book.draft(request.user_id, given)
    text = None if draft is None else markdown(draft.text)
    return render(request, "parts/ask_growing.html", text=text)
