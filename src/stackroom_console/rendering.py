"""
The rendering of templates. Jinja2 escapes everything that isn't in a template; only the output of
`markdown` is marked safe.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from stackroom.access.tool import is_plain
from stackroom.tools.texts import dollars, figure, iso, minute, size
from stackroom_agents.user_agents.agents import mark_of
from stackroom_agents.user_agents.assistant import ASSISTANT
from stackroom_console.console import OPERATORS
from stackroom_console.messages import N_, gettext, ngettext
from stackroom_console.safe_markdown import markdown
from stackroom_console.text_blocks import plain_blocks

if TYPE_CHECKING:
    from stackroom_console.problems import Problem
    from stackroom_console.request import Request

HERE = Path(__file__).parent
STATIC = HERE / "static"
_CENT = Decimal("0.01")

# What every page links to: its name, its path, and whether only operators see it.
NAVIGATION: tuple[tuple[str, str, bool], ...] = (
    (N_("Catalogs"), "/catalogs", False),
    (N_("Ask"), "/ask", False),
    (N_("Chat"), "/chat", False),
    (N_("Agents"), "/agents", False),
    (N_("Connect"), "/connect", False),
    (N_("Operations"), "/operations", True),
)

# What somebody has chosen; the first is what they haven't. The cookie is no secret.
SYSTEM = "system"
THEMES = (SYSTEM, "light", "dark")
THEME = "stackroom-theme"  # the cookie's name, before `Console.cookie`


def render(request: Request, template: str, *, status: int = 200, **values: object) -> HTMLResponse:
    """A page, or the part of one that htmx asks for, by the file's name in templates/."""
    text = (
        _environment()
        .get_template(template)
        .render(
            request=request,
            caller=request.known,
            csrf="" if request.session is None else request.session.csrf,
            navigation=_navigation(request),
            themes=THEMES,
            theme=_theme(request),
            **values,
        )
    )
    return HTMLResponse(text, status_code=status)


def redirect(request: Request, path: str) -> Response:
    """Redirect a form or htmx to a page of ours, which the browser then gets with GET."""
    if request.is_htmx:
        return Response(status_code=204, headers={"HX-Redirect": path})
    return RedirectResponse(path, status_code=303)


def done(request: Request, path: str) -> Response:
    """Return the answer to a change: htmx polls its page, and a form comes back to `path`."""
    if request.is_htmx:
        return Response(status_code=204, headers={"HX-Trigger": "changed"})
    return RedirectResponse(path, status_code=303)


def problem_page(request: Request, problem: Problem) -> Response:
    """Return the problem for a person: a page, or the part alone that htmx asked for."""
    template = "parts/problem.html" if request.is_htmx else "problem.html"
    response = render(request, template, status=problem.status, problem=problem)
    return _later(response, problem)


def problem_json(problem: Problem) -> Response:
    error = {"code": problem.code, "message": problem.message}
    if problem.advice:
        error["advice"] = problem.advice  # apart: some messages are exact, by contract
    response = JSONResponse({"success": False, "error": error}, status_code=problem.status)
    if problem.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return _later(response, problem)


def plain(text: str) -> str:
    """
    Return the text on one line, with U+FFFD for invisible characters and those that reverse a line.
    """
    return "".join(each if is_plain(each) else "\N{REPLACEMENT CHARACTER}" for each in text)


def plain_text(text: str) -> str:
    """The same of a text that may have several lines."""
    return "\n".join(map(plain, text.splitlines()))


def _later(response: Response, problem: Problem) -> Response:
    if problem.retry_after is not None:
        response.headers["Retry-After"] = str(problem.retry_after)
    return response


def _navigation(request: Request) -> list[tuple[str, str, bool]]:
    """Return the name and path of each place, and whether the page is there."""
    known = request.known
    if known is None:
        return []
    at = request.http.url.path.replace(f"/agents/{ASSISTANT}/chat", "/chat")
    return [
        (name, path, at == path or at.startswith(f"{path}/"))
        for name, path, for_operators in NAVIGATION
        if not for_operators or OPERATORS in known.groups
    ]


def _theme(request: Request) -> str:
    kept = request.http.cookies.get(request.console.cookie(THEME))
    return kept if kept in THEMES else SYSTEM


@cache
def static(name: str) -> str:
    """The address of a file of static/; another one with other contents, so that it can be kept."""
    digest = hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
    return f"/static/{name}?v={digest}"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    environment.policies["ext.i18n.trimmed"] = True
    # With `newstyle`, what stands in a text's fields is escaped.
    environment.install_gettext_callables(  # type: ignore[attr-defined]  # the extension adds it
        gettext, ngettext, newstyle=True
    )
    environment.globals["static"] = static
    environment.filters |= {
        "blocks": plain_blocks,
        "figure": figure,
        "gettext": gettext,  # of a text that was marked by `N_`
        "iso": iso,
        "mark": mark_of,
        "markdown": markdown,
        "minute": minute,
        "money": money,
        "plain": plain,
        "plain_text": plain_text,
        "size": size,
    }
    return environment


def money(value: float | Decimal) -> str:
    """Return dollars as a person reads an estimate."""
    return gettext("less than $0.01") if 0 < value < _CENT else f"${dollars(value)}"


# What a page shows as it comes: asked for again and again, the more seldom the less happens.
#
# The page says with each question what it shows (`seen`) and how often in a row nothing had
# changed (`quiet`); an answer without a change holds nothing but when to ask next.

_GROWTH = 1.5
_UNDER_WAY = (2.0, 15.0)  # seconds between two questions: the first, and the longest
_AT_REST = (10.0, 60.0)
_MOST_QUIET = 20
_WATCHED = ("seen", "quiet")  # what else the address says, it goes on saying


@dataclass(frozen=True, kw_only=True)
class Watch:
    """The next poll of a page: of `path`, `seconds` from now."""

    path: str
    seconds: float
    is_changed: bool


def watch(request: Request, path: str, shown: object, *, is_under_way: bool) -> Watch:
    """
    Return the next poll. `shown` is everything that the page's part is made of; its `repr` tells
    two of them apart.
    """
    digest = hashlib.sha256(repr(shown).encode(errors="replace")).hexdigest()[:16]
    is_changed = request.query.get("seen") != digest
    quiet = 0 if is_changed else min(polls_without_change(request) + 1, _MOST_QUIET)
    first, longest = _UNDER_WAY if is_under_way else _AT_REST
    kept = {name: value for name, value in request.query.items() if name not in _WATCHED}
    query = urlencode({**kept, "seen": digest, "quiet": quiet})
    return Watch(
        path=f"{path}?{query}",
        seconds=round(min(first * _GROWTH**quiet, longest), 1),
        is_changed=is_changed,
    )


def polls_without_change(request: Request) -> int:
    """Return the number of polls in a row without a change, as the address states it."""
    given = request.query.get("quiet", "")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 4 else 0
