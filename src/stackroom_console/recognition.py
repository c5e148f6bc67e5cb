"""Who asks: by a bearer token, or by the console's own session; and whether a change is theirs."""

import secrets
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from starlette.requests import Request as HttpRequest

from stackroom.gateway.tokens import bearer_token
from stackroom.identity import Caller
from stackroom_console.console import Console
from stackroom_console.sealing import Session

SESSION = "stackroom"  # the cookie's name, before `Console.cookie`
CSRF_FIELD = "csrf_token"
CSRF_HEADER = "x-csrf-token"


class Standing(Enum):
    """Of a browser's session."""

    NONE = "none"
    EXPIRED = "expired"  # the issuer may know the user still, and ask nothing
    SIGNED_OUT = "signed out everywhere"
    VALID = "valid"


@dataclass(frozen=True, kw_only=True)
class Recognised:
    caller: Caller | None = None
    session: Session | None = None
    standing: Standing = Standing.NONE


def recognised(console: Console, http: HttpRequest, *, with_token: bool) -> Recognised:
    """
    A token, where one is taken and given, is all that counts.

    Raises TokenRefused, IssuerUnavailable, or StoreUnavailable: who can't be told is nobody.
    """
    if with_token and "authorization" in http.headers:
        token = bearer_token(http.headers.getlist("authorization"))
        caller = console.verifier.verify(token)
        return Recognised(caller=caller, standing=Standing.VALID)
    session = console.seal.open(http.cookies.get(console.cookie(SESSION)), Session)
    if session is None:
        return Recognised()
    if session.expires_at <= console.now():
        return Recognised(standing=Standing.EXPIRED)
    if is_signed_out(console, session.user_id, session.begun_at):
        return Recognised(standing=Standing.SIGNED_OUT)
    caller = Caller(user_id=session.user_id, groups=session.groups, session_id=session.session_id)
    return Recognised(caller=caller, session=session, standing=Standing.VALID)


def is_signed_out(console: Console, user_id: str, begun_at: datetime) -> bool:
    moment = console.sign_outs.get(user_id)
    return moment is not None and begun_at <= moment


def is_own_change(session: Session, given: str | None) -> bool:
    """Whether a request was made by a page of ours: only these know the session's secret."""
    return given is not None and secrets.compare_digest(given.encode(), session.csrf.encode())
