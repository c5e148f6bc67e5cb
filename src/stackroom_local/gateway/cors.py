"""
Cross-origin requests (CORS): the web pages that may call the gateway and the issuer.

None may unless `stackroom up --allow-origin` names it. AgentCore's gateways have no documented
switch for it, so a page that works here may need a proxy there.
"""

from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

# What a page must read of an answer: how to sign in, and the session that some servers give.
_EXPOSED = ("WWW-Authenticate", "Mcp-Session-Id")


def checked_origin(text: str) -> str:
    """
    Return an origin as browsers send it (RFC 6454, 6.2). Raises ValueError if it could never match.
    """
    try:
        parts = urlsplit(text)
        port = "" if parts.port is None else f":{parts.port}"
    except ValueError as error:
        raise ValueError(_problem(text)) from error
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    if parts.scheme not in ("http", "https") or text != f"{parts.scheme}://{host}{port}":
        raise ValueError(_problem(text))
    if port == {"http": ":80", "https": ":443"}[parts.scheme]:
        raise ValueError(f"{text!r} never comes from a browser: it leaves out {port}, so do here")
    return text


def _problem(text: str) -> str:
    return (
        f"{text!r} is not an origin: use scheme, host and port as the browser shows them, in lower "
        "case and with nothing after, such as http://localhost:6274"
    )


def shared_with(origins: Sequence[str]) -> Callable[[ASGIApp], ASGIApp]:
    """
    Return a wrapper that lets pages of these origins call an app; without origins it changes
    nothing.
    """

    def shared(app: ASGIApp) -> ASGIApp:
        return CORSMiddleware(
            app,
            allow_origins=origins,
            allow_methods=("GET", "POST", "DELETE"),
            allow_headers="*",
            expose_headers=_EXPOSED,
        )

    return shared if origins else lambda app: app
