"""
The page on which a person says which user they are: a form without a password or a script.

A site elsewhere can neither read it (no CORS, and the app refuses foreign Host names) nor frame it,
nor send its form: that takes the request's name, known to this browser alone, and a cookie equal to
a field of the form.
"""

import base64
import hashlib
import hmac
import itertools
import re
import secrets
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from stackroom.keys import is_user_id
from stackroom_local.gateway.authorization import Asked, AuthorizationServer

_COOKIE = "stackroom-sign-in"
_MAX_KNOWN = 10
_MAX_GROUPS = 20  # they travel in each request's Authorization header
# https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_GroupType.html
_GROUP = re.compile(r"[^\s,\x00-\x1f\x7f]{1,128}")

_STYLE = Markup("""
body { font: 16px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 3rem auto; padding: 0 1rem }
label { display: block; margin: 1rem 0 .25rem }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .4rem }
button { font: inherit; padding: .4rem 1rem; margin: 1rem .5rem 0 0 }
code { overflow-wrap: anywhere }
.problem { border-left: .3rem solid #b00; padding-left: .7rem }
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
<main>
<h1>Sign in to Stackroom</h1>
{content}
</main>
</body>
</html>
""")
_ASKED = Markup("""{problem}
<p>This is the local mode: be any user, there are no passwords. You then go back to
<code>{back}</code> which may read and change that user's documents here.</p>
{known}
<form method="post" autocomplete="off">
{hidden}
<label for="user">User</label>
<input id="user" name="user" value="{user}" maxlength="128" required autofocus>
<label for="groups">Groups, if any, with commas between</label>
<input id="groups" name="groups" value="{groups}" maxlength="2600">
<button>Sign in</button>
<button name="cancel" value="yes" formnovalidate>Cancel</button>
</form>
""")
_HIDDEN = Markup("""<input type="hidden" name="request" value="{request}">
<input type="hidden" name="form" value="{form}">""")
_KNOWN = Markup("""<form method="post">
{hidden}
<p>As before:</p>
{users}
</form>
""")
_USER = Markup('<button name="known" value="{user}">{user}{groups}</button>')
_PROBLEM = Markup('<p class="problem" role="alert">{text}</p>')
_CLOSED = Markup(
    "<p>This sign-in is no longer open: it was answered, took longer than ten minutes, or the "
    "local mode was started anew. Start it again where you came from: your client, or the "
    "console.</p>"
)
_FOREIGN = Markup(
    "<p>This form was not sent by the page that was shown in this browser. Start the sign-in again "
    "in your client, with cookies allowed for this address.</p>"
)


class SignInPage:
    def __init__(self, server: AuthorizationServer) -> None:
        self._server = server

    async def show(self, request: Request) -> Response:
        name = request.query_params.get("request", "")
        asked = self._server.asked(name)
        if asked is None:
            return _page(_CLOSED, HTTPStatus.BAD_REQUEST)
        return self._form(request, name, asked, {})

    async def answer(self, request: Request) -> Response:
        async with request.form(max_files=0) as form:
            given = {key: value for key, value in form.items() if isinstance(value, str)}
        cookie = request.cookies.get(_COOKIE, "")
        if not cookie or not hmac.compare_digest(cookie.encode(), given.get("form", "").encode()):
            return _page(_FOREIGN, HTTPStatus.FORBIDDEN)
        name = given.get("request", "")
        asked = self._server.asked(name)
        if asked is None:
            return _page(_CLOSED, HTTPStatus.BAD_REQUEST)
        if "cancel" in given:
            return _sent_back(self._server.decline(name))
        user, groups = self._picked(given)
        if problem := _problem(user, groups):
            return self._form(request, name, asked, given, problem)
        return _sent_back(self._server.grant(name, user, groups))

    def _picked(self, given: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
        known = given.get("known", "")
        if known in (users := self._known()):
            return known, users[known]
        groups = (group.strip() for group in given.get("groups", "").split(","))
        return given.get("user", "").strip(), tuple(group for group in groups if group)

    def _known(self) -> dict[str, tuple[str, ...]]:
        return dict(itertools.islice(self._server.sign_ins.users(), _MAX_KNOWN))

    def _form(
        self,
        request: Request,
        name: str,
        asked: Asked,
        given: Mapping[str, str],
        problem: str = "",
    ) -> Response:
        form = request.cookies.get(_COOKIE) or secrets.token_urlsafe(32)
        hidden = _HIDDEN.format(request=name, form=form)
        content = _ASKED.format(
            problem=_PROBLEM.format(text=problem) if problem else "",
            back=str(asked.params.redirect_uri),
            known=_buttons(self._known(), hidden),
            hidden=hidden,
            user=given.get("user", ""),
            groups=given.get("groups", ""),
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
