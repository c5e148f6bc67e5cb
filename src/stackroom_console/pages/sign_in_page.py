"""Signing in at the provider, and signing out here or everywhere."""

import secrets
from contextlib import suppress
from datetime import timedelta

from starlette.responses import RedirectResponse, Response

from stackroom.errors import IssuerUnavailable, TokenRefused
from stackroom_console.authentication import HOME, SESSION, is_signed_out, own_path, signing_in
from stackroom_console.messages import N_, gettext
from stackroom_console.problems import Problem, Refused
from stackroom_console.rendering import redirect, render
from stackroom_console.request import Request
from stackroom_console.sealed_cookies import MAX_COOKIE, Session, SignInBegun

SIGNING_IN = "stackroom-sign-in"
_MINUTES = 10  # to sign in at the provider


def front(request: Request) -> Response:
    return redirect(request, HOME)


def page(request: Request) -> Response:
    """Return the page that leads to the provider. Whoever is signed in reads who they are."""
    return_to = own_path(request.query.get("return_to"))
    return render(
        request,
        "sign_in.html",
        begin=signing_in(return_to, begin=True),
        is_out="out" in request.query,
        elsewhere=_elsewhere(request) if "out" in request.query else None,
    )


def begin(request: Request) -> Response:
    console = request.console
    begun = console.issuer.begin(console.url, ask_again="ask_again" in request.query)
    kept = SignInBegun(
        state=begun.state,
        nonce=begun.nonce,
        code_verifier=begun.code_verifier,
        return_to=own_path(request.query.get("return_to")),
        expires_at=console.now() + timedelta(minutes=_MINUTES),
    )
    response = RedirectResponse(begun.url, status_code=303)
    console.keep_cookie(response, SIGNING_IN, console.seal.close(kept), seconds=_MINUTES * 60)
    return response


def end(request: Request) -> Response:
    """The provider's answer. A session begins only for the browser that asked for it."""
    console, query = request.console, request.query
    kept = console.seal.open(request.http.cookies.get(console.cookie(SIGNING_IN)), SignInBegun)
    if kept is None or kept.expires_at <= console.now():
        raise Refused(
            _failed(N_("Sign-in failed: it took too long, or it was started in another window."))
        )
    if not secrets.compare_digest(query.get("state", "").encode(), kept.state.encode()):
        raise Refused(_failed(N_("Sign-in failed: it was started again in another window.")))
    if query.get("error") == "access_denied":  # [RFC 6749, 4.1.2.1]
        raise Refused(_failed(N_("Sign-in failed: it was cancelled, or access was denied.")))
    if "error" in query or "code" not in query:
        raise Refused(_failed(N_("Sign-in failed: the sign-in service refused.")))
    token = console.issuer.access_token(
        console.url, query["code"], code_verifier=kept.code_verifier, nonce=kept.nonce
    )
    session = _session(request, token)
    if is_signed_out(console, session.user_id, session.begun_at):
        # The provider's own session is older than the wish to end all of them.
        again = signing_in(kept.return_to, begin=True, ask_again=True)
        return RedirectResponse(again, status_code=303)
    sealed = console.seal.close(session)
    if len(sealed) > MAX_COOKIE:
        # Leaving some groups out would hide documents without a word.
        raise Refused(_too_many(session.groups, len(sealed)))
    response = RedirectResponse(kept.return_to, status_code=303)
    seconds = round((session.expires_at - console.now()).total_seconds())
    # Kept beyond its end, so that the next sign-in can be silent.
    console.keep_cookie(response, SESSION, sealed, seconds=seconds + 24 * 3600)
    console.forget_cookie(response, SIGNING_IN)
    return response


def sign_out(request: Request) -> Response:
    response = redirect(request, "/sign-in?out=1")
    request.console.forget_cookie(response, SESSION)
    return response


def sign_out_everywhere(request: Request) -> Response:
    request.console.sign_outs.keep(request.user_id, request.console.now())
    return sign_out(request)


def _elsewhere(request: Request) -> str | None:
    """
    Return the address that ends the provider's own session. Users are signed out here even if the
    provider is down.
    """
    with suppress(IssuerUnavailable):
        return request.console.issuer.sign_out_url(request.console.url)
    return None


def _session(request: Request, token: str) -> Session:
    """Return the session of the provider's token. Raises Refused for a token that isn't for us."""
    console = request.console
    try:
        read = console.verifier.read(token)
    except TokenRefused as error:
        message = gettext("Sign-in failed: %(reason)s.") % {"reason": error}
        raise Refused(_failed(message)) from error
    earlier = console.seal.open(request.http.cookies.get(console.cookie(SESSION)), Session)
    csrf = secrets.token_urlsafe(24)
    if earlier is not None and earlier.user_id == read.caller.user_id:
        csrf = earlier.csrf  # pages that are still open here go on working
    return Session(
        id=secrets.token_urlsafe(24),
        user_id=read.caller.user_id,
        groups=read.caller.groups,
        session_id=read.caller.session_id,
        csrf=csrf,
        begun_at=read.signed_in_at or console.now(),
        expires_at=read.expires_at,
    )


def _failed(message: str) -> Problem:
    advice = N_("Sign in again.")
    return Problem(status=400, code="SIGN_IN_FAILED", message=message, advice=advice)


def _too_many(groups: tuple[str, ...], characters: int) -> Problem:
    return Problem(
        status=400,
        code="TOO_MANY_GROUPS",
        message=gettext(
            "Sign-in failed: you are in %(groups)s groups, and a session that names them all has"
            " %(characters)s characters. Allowed: %(most)s."
        )
        % {
            "groups": len(groups),
            "characters": f"{characters:,}",
            "most": f"{MAX_COOKIE:,}",
        },
        advice=N_("Ask an operator to remove you from some, or to shorten their names."),
    )
