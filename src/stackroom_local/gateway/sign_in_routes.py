"""
The routes of the local authorization server: the protocol's endpoints, the page, the metadata.

Metadata is served wherever a client may look: RFC 8414 (`oauth-authorization-server`) and OpenID
Connect Discovery (`openid-configuration`) put the name on different sides of the issuer's path.
"""

import base64
import hashlib
import hmac
import itertools
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup
from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.middleware.client_auth import AuthenticationError, ClientAuthenticator
from mcp.server.auth.routes import (
    AUTHORIZATION_PATH,
    REGISTRATION_PATH,
    REVOCATION_PATH,
    TOKEN_PATH,
    build_metadata,
)
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.shared.auth import ProtectedResourceMetadata
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route, request_response
from starlette.types import ASGIApp, Receive, Scope, Send

from stackroom.model.keys import is_user_id
from stackroom_local.gateway.authorization_server import (
    DEFAULT_SCOPES,
    PAGE_PATH,
    SCOPES,
    AuthorizationRequest,
    AuthorizationServer,
)
from stackroom_local.gateway.issuer import ALGORITHM, Issuer

# The page on which a person says which user they are: a form without a password or a script.
#
# A site elsewhere can neither read it (no CORS, and the app refuses foreign Host names) nor frame
# it, nor send its form: that takes the request's name, known to this browser alone, and a cookie
# equal to a field of the form.

_COOKIE = "stackroom-sign-in"
_MAX_KNOWN = 10
_MAX_GROUPS = 20  # they travel in each request's Authorization header
# https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_GroupType.html
_GROUP = re.compile(r"[^\s,\x00-\x1f\x7f]{1,128}")

_STYLE = Markup("""
:root { color-scheme: light dark; background: light-dark(#faf8f4, #15171a) }
body { margin: 0; color: light-dark(#24211d, #e7e5e1); font: 16px/1.55 system-ui, sans-serif }
header { padding: .6rem 1.25rem; border-bottom: 1px solid; font-weight: 700 }
header, main { border-color: light-dark(#e7e1d7, #343940); background: light-dark(#fff, #1d2024) }
main { box-sizing: border-box; width: min(30rem, calc(100% - 2rem)); margin: 4rem auto }
main { padding: 2rem }
main { border: 1px solid light-dark(#e7e1d7, #343940); border-radius: .75rem }
h1 { margin: 0 0 .75rem; font-size: 1.75rem; letter-spacing: -.015em; line-height: 1.25 }
p, small { color: light-dark(#655f56, #aaa79f) }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600 }
input, button { font: inherit; padding: .5rem .75rem }
input, button { border: 1px solid light-dark(#8f887c, #727a84); border-radius: .5rem }
input, button { background: light-dark(#fff, #1d2024); color: inherit }
input { width: 100%; box-sizing: border-box }
button { margin: 1rem .5rem 0 0; font-weight: 600 }
button[name=known] { margin-top: .5rem; overflow-wrap: anywhere }
button:not([name]) { border-color: #0b5f6b; background: #0b5f6b; color: #fff }
:focus-visible { outline: 2px solid light-dark(#0b5f6b, #7fd0db); outline-offset: 2px }
code { overflow-wrap: anywhere }
.problem { padding-left: .7rem; border-left: .3rem solid; color: light-dark(#a3241c, #ff9f96) }
""")
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    # No form-action: browsers hold the redirect that follows a form against it, too, and that one
    # goes to the client, and from there where the client likes.
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

# Whatever is put into these is escaped, unless it is Markup itself.
_PAGE = Markup("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Stackroom: sign in</title>
<style>{style}</style>
</head>
<body>
<header>Stackroom</header>
<main>
<h1>Sign in to Stackroom</h1>
{content}
</main>
</body>
</html>
""")
_ASKED = Markup("""{problem}
<p>Sign in with any name; no password needed.</p>
{known}
<form method="post" autocomplete="off">
{hidden}
<label for="user">User</label>
<input id="user" name="user" value="{user}" maxlength="128" required autofocus>
<label for="groups">Groups (optional)</label>
<input id="groups" name="groups" value="{groups}" maxlength="2600" aria-describedby="groups-help">
<small id="groups-help">Separate groups with commas. <code>operators</code> can see
Operations.</small>
<div>
<button>Sign in</button>
<button name="cancel" value="yes" formnovalidate>Cancel</button>
</div>
<p><small>You return to <code>{back}</code>, which can then read and change this user's documents.
</small></p>
</form>
""")
_HIDDEN = Markup("""<input type="hidden" name="request" value="{request}">
<input type="hidden" name="form" value="{form}">""")
_KNOWN = Markup("""<form method="post">
{hidden}
<p>Sign in again as</p>
{users}
</form>
""")
_USER = Markup('<button name="known" value="{user}">{user}{groups}</button>')
_PROBLEM = Markup('<p class="problem" role="alert">{text}</p>')
_CLOSED = Markup(
    "<p>This sign-in is no longer open: it was completed, took longer than ten minutes, or "
    "Stackroom was restarted. Start again from your client or the console.</p>"
)
_FOREIGN = Markup(
    "<p>This form was not sent from this browser's sign-in page. Allow cookies for this address, "
    "and start again from your client.</p>"
)


class SignInPage:
    def __init__(self, server: AuthorizationServer) -> None:
        self._server = server

    async def show(self, request: Request) -> Response:
        name = request.query_params.get("request", "")
        authorization = self._server.authorization(name)
        if authorization is None:
            return _page(_CLOSED, HTTPStatus.BAD_REQUEST)
        return self._form(request, name, authorization, {})

    async def answer(self, request: Request) -> Response:
        async with request.form(max_files=0) as form:
            fields = {key: value for key, value in form.items() if isinstance(value, str)}
        cookie = request.cookies.get(_COOKIE, "")
        if not cookie or not hmac.compare_digest(cookie.encode(), fields.get("form", "").encode()):
            return _page(_FOREIGN, HTTPStatus.FORBIDDEN)
        name = fields.get("request", "")
        authorization = self._server.authorization(name)
        if authorization is None:
            return _page(_CLOSED, HTTPStatus.BAD_REQUEST)
        if "cancel" in fields:
            return _sent_back(self._server.decline(name))
        user, groups = self._picked(fields)
        if problem := _problem(user, groups):
            return self._form(request, name, authorization, fields, problem)
        return _sent_back(self._server.grant(name, user, groups))

    def _picked(self, fields: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
        known = fields.get("known", "")
        if known in (users := self._known()):
            return known, users[known]
        groups = (group.strip() for group in fields.get("groups", "").split(","))
        return fields.get("user", "").strip(), tuple(group for group in groups if group)

    def _known(self) -> dict[str, tuple[str, ...]]:
        return dict(itertools.islice(self._server.sign_ins.users(), _MAX_KNOWN))

    def _form(
        self,
        request: Request,
        name: str,
        authorization: AuthorizationRequest,
        fields: Mapping[str, str],
        problem: str = "",
    ) -> Response:
        form = request.cookies.get(_COOKIE) or secrets.token_urlsafe(32)
        hidden = _HIDDEN.format(request=name, form=form)
        content = _ASKED.format(
            problem=_PROBLEM.format(text=problem) if problem else "",
            back=str(authorization.params.redirect_uri),
            known=_buttons(self._known(), hidden),
            hidden=hidden,
            user=fields.get("user", ""),
            groups=fields.get("groups", ""),
        )
        response = _page(content, HTTPStatus.BAD_REQUEST if problem else HTTPStatus.OK)
        response.set_cookie(_COOKIE, form, httponly=True, samesite="strict", path=request.url.path)
        return response


def _buttons(users: Mapping[str, Sequence[str]], hidden: Markup) -> Markup:
    if not users:
        return Markup()
    buttons = (
        _USER.format(user=user, groups=f" ({', '.join(groups)})" if groups else "")
        for user, groups in users.items()
    )
    return _KNOWN.format(hidden=hidden, users=Markup("\n").join(buttons))


def _problem(user: str, groups: Sequence[str]) -> str:
    if not is_user_id(user):
        return (
            f"{user!r} can't be a user: 1 to 128 of A-Z, a-z, 0-9, '.', '_', '@', '+' and '-', "
            "beginning with a letter or digit"
        )
    if wrong := [group for group in groups if not _GROUP.fullmatch(group)]:
        return f"{wrong[0]!r} can't be a group: at most 128 characters, no spaces"
    if len(groups) > _MAX_GROUPS:
        return f"{len(groups)} groups are too many: at most {_MAX_GROUPS}"
    return ""


def _page(content: Markup, status: HTTPStatus) -> Response:
    body = _PAGE.format(style=_STYLE, content=content)
    return HTMLResponse(body, status_code=status, headers=_HEADERS)


def _sent_back(url: str) -> Response:
    return RedirectResponse(url, status_code=HTTPStatus.SEE_OTHER, headers=_HEADERS)


RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource"
_UNKEPT = {"Cache-Control": "no-store"}
_MAX_BODY = 64 * 1024  # many times of what any of these requests needs
_FORM = "application/x-www-form-urlencoded"

_REGISTRATION = ClientRegistrationOptions(
    enabled=True, valid_scopes=list(SCOPES), default_scopes=list(DEFAULT_SCOPES)
)

# What is wrapped around an address that clients call, to let pages of other origins call it, too.
Shared = Callable[[ASGIApp], ASGIApp]


def browser_routes(server: AuthorizationServer) -> list[Route]:
    """
    Return the routes for a person's browser; other origins may send it there but read nothing.
    """
    path = urlsplit(server.issuer.url).path
    page = SignInPage(server)
    return [
        Route(
            path + AUTHORIZATION_PATH,
            _limited(_of_forms(AuthorizationHandler(server).handle)),
            methods=["GET", "POST"],
        ),
        Route(path + PAGE_PATH, page.show, methods=["GET"]),
        Route(path + PAGE_PATH, _limited(_of_forms(page.answer)), methods=["POST"]),
    ]


def client_routes(
    server: AuthorizationServer, *, resource_path: str, shared: Shared
) -> list[Route]:
    """Return the routes that clients call themselves; `resource_path` is the gateway's."""
    path = urlsplit(server.issuer.url).path
    posted = {
        TOKEN_PATH: _of_forms(TokenHandler(server, ClientAuthenticator(server)).handle),
        REGISTRATION_PATH: RegistrationHandler(server, _REGISTRATION).handle,
        REVOCATION_PATH: _of_forms(_Revocation(server).handle),
    }
    metadata = JSONResponse(_metadata(server.issuer))
    resource = _ProtectedResource(server.issuer, resource_path)
    got: dict[str, ASGIApp] = {
        f"/.well-known/oauth-authorization-server{path}": metadata,
        f"{path}/.well-known/oauth-authorization-server": metadata,
        f"/.well-known/openid-configuration{path}": metadata,
        f"{path}/.well-known/openid-configuration": metadata,
        f"{path}/.well-known/jwks.json": JSONResponse(server.issuer.jwks()),
        RESOURCE_METADATA_PATH: resource,
        RESOURCE_METADATA_PATH + resource_path: resource,
    }
    return [
        *(
            Route(path + where, shared(_limited(handle)), methods=["POST", "OPTIONS"])
            for where, handle in posted.items()
        ),
        *(Route(where, shared(app), methods=["GET", "OPTIONS"]) for where, app in got.items()),
    ]


@dataclass(frozen=True)
class _Revocation:
    """RFC 7009's endpoint. The SDK's handler requires `client_secret`, even of public clients."""

    server: AuthorizationServer

    async def handle(self, request: Request) -> Response:
        try:
            client = await ClientAuthenticator(self.server).authenticate_request(request)
        except AuthenticationError as error:
            problem = {"error": "invalid_client", "error_description": error.message}
            return JSONResponse(problem, status_code=HTTPStatus.UNAUTHORIZED, headers=_UNKEPT)
        refresh_token = (await request.form()).get("token")
        if not isinstance(refresh_token, str):
            problem = {"error": "invalid_request", "error_description": "token is missing"}
            return JSONResponse(problem, status_code=HTTPStatus.BAD_REQUEST, headers=_UNKEPT)
        if token := await self.server.load_refresh_token(client, refresh_token):
            await self.server.revoke_token(token)
        return Response(headers=_UNKEPT)  # the same for a token that nobody knows: section 2.2


Handle = Callable[[Request], Awaitable[Response]]


def _of_forms(handle: Handle) -> Handle:
    """
    Refuse forms in any but the one encoding of RFC 6749 (3.1, 3.2).

    The SDK and Starlette parse another, too, and report a broken one as their own fault.
    """

    async def checked(request: Request) -> Response:
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if request.method == "POST" and content_type != _FORM:
            problem = f"the request's Content-Type must be {_FORM}"
            answer = {"error": "invalid_request", "error_description": problem}
            return JSONResponse(answer, status_code=HTTPStatus.BAD_REQUEST, headers=_UNKEPT)
        return await handle(request)

    return checked


def _limited(handle: Handle) -> ASGIApp:
    return RequestBodyLimitMiddleware(request_response(handle), _MAX_BODY)


def _metadata(issuer: Issuer) -> dict[str, Any]:
    """Return RFC 8414's metadata, and what OpenID Connect Discovery requires beyond it."""
    revocation = RevocationOptions(enabled=True)
    metadata = build_metadata(AnyHttpUrl(issuer.url), None, _REGISTRATION, revocation)
    return {
        **metadata.model_dump(mode="json", exclude_none=True),
        "issuer": issuer.url,  # character by character: the model may add a slash
        "token_endpoint_auth_methods_supported": ["none"],  # every client is a public one
        "revocation_endpoint_auth_methods_supported": ["none"],
        "jwks_uri": f"{issuer.url}/.well-known/jwks.json",
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [ALGORITHM],
    }


@dataclass(frozen=True)
class _ProtectedResource:
    """
    ASGI app for the resource's metadata, under the name of the request, 127.0.0.1 or localhost.

    A client compares it with the name that it used (RFC 9728, 3.3).
    """

    issuer: Issuer
    path: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        resource = ProtectedResourceMetadata(
            resource=AnyHttpUrl(f"http://{Request(scope).url.netloc}{self.path}"),
            authorization_servers=[AnyHttpUrl(self.issuer.url)],
            scopes_supported=list(DEFAULT_SCOPES),
        )
        document = {
            **resource.model_dump(mode="json", exclude_none=True),
            "authorization_servers": [self.issuer.url],  # as in `_metadata`
        }
        await JSONResponse(document)(scope, receive, send)
