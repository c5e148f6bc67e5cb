"""The handling of a request to an endpoint: every check, the answer, and the errors."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar

import anyio
from anyio import to_thread
from starlette.requests import Request as HttpRequest
from starlette.responses import RedirectResponse, Response

from stackroom.access.access_log import SUCCESS, access_of
from stackroom.access.identity import ToolCall
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom_console import rendering
from stackroom_console.authentication import (
    CSRF_FIELD,
    CSRF_HEADER,
    LONGEST,
    Authenticated,
    SessionStanding,
    authenticated,
    is_own_change,
    signing_in,
)
from stackroom_console.console import OPERATORS, Console
from stackroom_console.endpoint import Audience, Endpoint, EndpointKind
from stackroom_console.problems import (
    FOR_OPERATORS,
    NOT_OWN_CHANGE,
    NOT_SIGNED_IN,
    Problem,
    Refused,
    RefusedOnPage,
    problem_of,
    too_long,
)
from stackroom_console.request import Request
from stackroom_console.request_body import body_of, parsed

logger = logging.getLogger(__name__)
T = TypeVar("T")

NOTHING: Mapping[str, Any] = {}
_API = "/api/"
_OWN_SITES = ("same-origin", "none")  # "none": typed into the address bar


@dataclass(frozen=True)
class EndpointHandler:
    """An endpoint of the console, as Starlette is to call it."""

    console: Console
    endpoint: Endpoint

    async def answer(self, http: HttpRequest) -> Response:
        started, deadline = time.perf_counter(), Deadline.after(self.console.seconds)
        who, problem, response = Authenticated(), None, None
        request = self._request(http, who, deadline=deadline)
        with anyio.move_on_after(self.console.seconds) as scope:
            try:
                who = await _in_a_thread(partial(self._authenticated, http))
                request = self._request(http, who, deadline=deadline)
                self._require(who)
                request = self._request(http, who, await self._parsed(http, who), deadline)
                response = await _in_a_thread(partial(self.endpoint.answer, request))
            except RefusedOnPage as refused:
                problem, response = refused.problem, refused.page
            except Exception as error:  # whatever it is, the browser is told, and nothing of how
                problem = problem_of(error)
        if scope.cancelled_caught:
            logger.error("a request took too long", extra={"path": self.endpoint.path})
            problem = too_long(changes=self.endpoint.changes)
        if response is None:
            assert problem is not None, "without an answer there is a reason"
            response = self._problem_response(request, who, problem)
        leads_on = problem is None and response.status_code == HTTPStatus.SEE_OTHER
        if request.handed_out or not leads_on:  # else it is told of where it leads
            audit(self.endpoint, request, problem, seconds=time.perf_counter() - started)
        return response

    def _problem_response(self, request: Request, who: Authenticated, problem: Problem) -> Response:
        # A part of a page leads nowhere: something may be typed there (static/session.js).
        is_page = self.endpoint.kind is EndpointKind.PAGE and not request.is_htmx
        if problem is NOT_SIGNED_IN and is_page:
            return self._to_sign_in(request.http, who)
        return answer_to(request, problem, kind=self.endpoint.kind)

    def _authenticated(self, http: HttpRequest) -> Authenticated:
        return authenticated(self.console, http, with_token=self.endpoint.kind is EndpointKind.API)

    def _require(self, who: Authenticated) -> None:
        if self.endpoint.audience is Audience.ANYONE:
            return
        if who.caller is None:
            raise Refused(NOT_SIGNED_IN)
        if self.endpoint.audience is Audience.OPERATORS and OPERATORS not in who.caller.groups:
            raise Refused(FOR_OPERATORS)

    async def _parsed(self, http: HttpRequest, who: Authenticated) -> Mapping[str, Any]:
        """Raises Refused for a change that no page of ours has asked for."""
        if not self.endpoint.changes:
            return {}
        body = await body_of(http, self.endpoint.max_body)
        fields = dict(parsed(body, http, self.endpoint))
        in_form = fields.pop(CSRF_FIELD, None) if self.endpoint.kind is EndpointKind.PAGE else None
        self._require_own_change(http, who, http.headers.get(CSRF_HEADER) or in_form)
        return fields

    def _require_own_change(self, http: HttpRequest, who: Authenticated, given: str | None) -> None:
        if who.caller is not None and who.session is None:
            return  # no browser sends a bearer token of itself
        # Browsers say of each request where it comes from [W3C Fetch Metadata].
        is_foreign = http.headers.get("sec-fetch-site", "same-origin") not in _OWN_SITES
        if is_foreign or who.session is None or not is_own_change(who.session, given):
            raise Refused(NOT_OWN_CHANGE)

    def _request(
        self,
        http: HttpRequest,
        who: Authenticated,
        given: Mapping[str, Any] = NOTHING,
        deadline: Deadline = NO_DEADLINE,
    ) -> Request:
        is_page = self.endpoint.kind is EndpointKind.PAGE
        return Request(
            console=self.console,
            http=http,
            known=who.caller,
            session=who.session,
            form=given if is_page else NOTHING,
            json=NOTHING if is_page else given,
            deadline=deadline,
        )

    def _to_sign_in(self, http: HttpRequest, who: Authenticated) -> Response:
        """Redirect to the sign-in, silently if the session has merely expired."""
        whole = f"{http.url.path}?{http.url.query}" if http.url.query else http.url.path
        target = signing_in(
            whole if len(whole) <= LONGEST else http.url.path,
            begin=who.standing is not SessionStanding.NONE and not self.endpoint.changes,
            ask_again=who.standing is SessionStanding.SIGNED_OUT,
        )
        return RedirectResponse(target, status_code=303)


async def _in_a_thread(call: Callable[[], T]) -> T:
    """Run the call in a thread, abandoned at the deadline; its calls of AWS have their own."""
    return await to_thread.run_sync(call, abandon_on_cancel=True)


def answer_to(request: Request, problem: Problem, *, kind: EndpointKind) -> Response:
    """An error's answer, in the form that whoever asks can read."""
    if kind is EndpointKind.API:
        return rendering.problem_json(problem)
    return rendering.problem_page(request, problem)


@dataclass(frozen=True)
class HttpErrorHandler:
    """The answer to a path or a method that no endpoint has."""

    console: Console

    async def __call__(self, http: HttpRequest, error: Exception) -> Response:
        kind = EndpointKind.API if http.url.path.startswith(_API) else EndpointKind.PAGE
        # Whoever it is: a page that isn't there is the same for all, and asks no store.
        request = Request(console=self.console, http=http)
        response = answer_to(request, problem_of(error), kind=kind)
        response.headers.update(getattr(error, "headers", None) or {})  # Allow, with 405
        return response


# Who read what in the console: the audit line that tools leave, for what a page hands out.


def audit(endpoint: Endpoint, request: Request, problem: Problem | None, *, seconds: float) -> None:
    """
    A line for each call of an endpoint that `reads`, whoever asked and whatever was answered;
    never any text, as of tools.
    """
    if not endpoint.reads or not endpoint.reads_when(request):
        return
    catalog_id = request.form.get("catalog") or request.query.get("catalog")
    called = None if request.known is None else ToolCall(endpoint.reads, request.known)
    request.console.log(
        access_of(
            called,
            tools=(endpoint.reads,),
            outcome=SUCCESS if problem is None else problem.code,
            seconds=seconds,
            named_in=({"catalog_id": catalog_id or None}, request.path),
            shown=() if problem is not None else request.handed_out,
            otherwise=endpoint.reads,
        )
    )
