"""
Authentication of a request, by a bearer token or the console's own session, and its CSRF check.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from urllib.parse import urlencode, urlsplit

from starlette.requests import Request as HttpRequest

from stackroom.access.identity import Caller
from stackroom.access.tokens import bearer_token
from stackroom_console.console import Console
from stackroom_console.sealed_cookies import Session

SESSION = "stackroom"  # the cookie's name, before `Console.cookie`
CSRF_FIELD = "csrf_token"
CSRF_HEADER = "x-csrf-token"


class SessionStanding(Enum):
    """The validity of a browser's session."""

    NONE = "none"
    EXPIRED = "expired"  # the issuer may know the user still, and ask nothing
    SIGNED_OUT = "signed out everywhere"
    VALID = "valid"


@dataclass(frozen=True, kw_only=True)
class Authenticated:
    """The result of authentication. A session without a `caller` has expired."""

    caller: Caller | None = None
    session: Session | None = None
    standing: SessionStanding = SessionStanding.NONE


def authenticated(console: Console, http: HttpRequest, *, with_token: bool) -> Authenticated:
    """
    A token, where one is taken and given, is all that counts.

    Raises TokenRefused, IssuerUnavailable, or StoreUnavailable: who can't be told is nobody.
    """
    if with_token and "authorization" in http.headers:
        token = bearer_token(http.headers.getlist("authorization"))
        caller = console.verifier.read(token).caller
        return Authenticated(caller=caller, standing=SessionStanding.VALID)
    session = console.seal.open(http.cookies.get(console.cookie(SESSION)), Session)
    if session is None:
        return Authenticated()
    if session.expires_at <= console.now():
        return Authenticated(session=session, standing=SessionStanding.EXPIRED)
    if is_signed_out(console, session.user_id, session.begun_at):
        return Authenticated(standing=SessionStanding.SIGNED_OUT)
    caller = Caller(user_id=session.user_id, groups=session.groups, session_id=session.session_id)
    return Authenticated(caller=caller, session=session, standing=SessionStanding.VALID)


def is_signed_out(console: Console, user_id: str, begun_at: datetime) -> bool:
    moment = console.sign_outs.get(user_id)
    return moment is not None and begun_at <= moment


def is_own_change(session: Session, given: str | None) -> bool:
    """Return True if a page of ours made the request: only these know the session's secret."""
    return given is not None and secrets.compare_digest(given.encode(), session.csrf.encode())


# Where a sign-in may lead: to a page of ours, and nowhere else.

HOME = "/catalogs"
SIGN_IN = "/sign-in"
LONGEST = 400  # characters: ours are shorter, and it travels in an address and in a cookie


def own_path(text: str | None) -> str:
    """
    The path and query, if they are ours; else home. Browsers read `\\` as `/`, drop tabs and line
    breaks, and take `//host` for another host [WHATWG URL, relative slash state].
    """
    if not text or len(text) > LONGEST or not text.isascii() or not text.isprintable():
        return HOME
    if not text.startswith("/") or text[1:2] in ("/", "\\") or "\\" in text or " " in text:
        return HOME
    try:
        parts = urlsplit(text)
    except ValueError:
        return HOME
    is_ours = not parts.scheme and not parts.netloc and not parts.path.startswith(SIGN_IN)
    return text if is_ours else HOME


def signing_in(return_to: str, *, begin: bool, ask_again: bool = False) -> str:
    """`begin` leads to the provider at once, which may know the user; else a page says so first."""
    query = {"return_to": own_path(return_to), **({"ask_again": "1"} if ask_again else {})}
    return f"{SIGN_IN}{'/begin' if begin else ''}?{urlencode(query)}"
