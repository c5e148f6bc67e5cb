"""Templates to pages. Jinja2 escapes all that isn't in a template; nothing here is marked safe."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from stackroom.agents.agents import mark_of
from stackroom.catalog_tools.texts import counted, day, figure, iso, minute, size
from stackroom.gateway.plain_text import is_plain
from stackroom_console.console import OPERATORS

if TYPE_CHECKING:
    from stackroom_console.problems import Problem
    from stackroom_console.request import Request

HERE = Path(__file__).parent
STATIC = HERE / "static"

# What every page links to: its name, its path, and whether only operators see it.
NAVIGATION: tuple[tuple[str, str, bool], ...] = (
    ("Catalogs", "/catalogs", False),
    ("Ask", "/ask", False),
    ("Agents", "/agents", False),
    ("Operations", "/operations", True),
)


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
            **values,
        )
    )
    return HTMLResponse(text, status_code=status)


def redirect(request: Request, path: str) -> Response:
    """To a page of ours, asked for with GET, by a form as by htmx."""
    if request.is_htmx:
        return Response(status_code=204, headers={"HX-Redirect": path})
    return RedirectResponse(path, status_code=303)


def done(request: Request, path: str) -> Response:
    """Something was changed on the page that asked: htmx looks anew, a form comes back to it."""
    if request.is_htmx:
        return Response(status_code=204, headers={"HX-Trigger": "changed"})
    return RedirectResponse(path, status_code=303)


def told(request: Request, problem: Problem) -> Response:
    """For a person: a page, or where htmx asked for a part, that alone."""
    template = "parts/problem.html" if request.is_htmx else "problem.html"
    response = render(request, template, status=problem.status, problem=problem)
    return _later(response, problem)


def told_program(problem: Problem) -> Response:
    error = {"code": problem.code, "message": problem.message}
    if problem.advice:
        error["advice"] = problem.advice  # apart: some messages are exact, by contract
    response = JSONResponse({"success": False, "error": error}, status_code=problem.status)
    if problem.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return _later(response, problem)


def plain(text: str) -> str:
    """On one line, with U+FFFD for what nobody sees or what turns the line around."""
    return "".join(each if is_plain(each) else "\N{REPLACEMENT CHARACTER}" for each in text)


def plain_text(text: str) -> str:
    """The same of a text that may have several lines."""
    return "\n".join(map(plain, text.splitlines()))


def _later(response: Response, problem: Problem) -> Response:
    if problem.retry_after is not None:
        response.headers["Retry-After"] = str(problem.retry_after)
    return response


def _navigation(request: Request) -> list[tuple[str, str, bool]]:
    """Name, path, and whether that is where the page is."""
    known = request.known
    if known is None:
        return []
    at = request.http.url.path
    return [
        (name, path, at == path or at.startswith(f"{path}/"))
        for name, path, for_operators in NAVIGATION
        if not for_operators or OPERATORS in known.groups
    ]


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
    )
    environment.globals["static"] = static
    environment.filters |= {
        "counted": counted,
        "day": day,
        "figure": figure,
        "iso": iso,
        "mark": mark_of,
        "minute": minute,
        "plain": plain,
        "plain_text": plain_text,
        "size": size,
    }
    return environment
