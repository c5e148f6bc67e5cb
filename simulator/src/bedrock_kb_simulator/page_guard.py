"""
Protects local servers from web pages in the developer's browser.

Any page may send requests to 127.0.0.1, and read the responses through a domain of its own that
resolves there (DNS rebinding). Programs send no Origin and use a name of this machine; pages can do
neither. So requests of pages are refused, except from allowed origins, and except navigation to a
presigned URL, which carries its own permission and reads one object.
"""

from collections.abc import Collection
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
# Requests of a page on another site [W3C Fetch Metadata: Sec-Fetch-Site]; programs and browsers
# before 2023 don't send the header.
_ELSEWHERE = frozenset({"cross-site", "same-site"})


class PageGuard:
    """
    An ASGI application for programs and for pages of allowed origins only.

    Paths with a prefix in `inner` are refused, unless they have one in `allowed`.
    """

    def __init__(
        self,
        app: ASGIApp,
        origins: Collection[str] = (),
        *,
        inner: tuple[str, ...] = (),
        allowed: tuple[str, ...] = (),
    ) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._inner, self._allowed = inner, allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        why = self._refusal(scope) if scope["type"] in ("http", "websocket") else None
        if why is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": why})
        else:
            await PlainTextResponse(f"{why}\n", 403)(scope, receive, send)

    def _refusal(self, scope: Scope) -> str | None:
        path, headers = scope["path"], Headers(scope=scope)
        if not _is_here(headers.get("host", "")):
            return f"this server is 127.0.0.1 or localhost, not {headers.get('host', '')!a}"
        if path.startswith(self._inner) and not path.startswith(self._allowed):
            return f"{path!a} is not for use from outside"
        origin = headers.get("origin")
        if origin is not None:
            return None if origin in self._origins else f"pages of {origin!a} may not ask here"
        if headers.get("sec-fetch-site") in _ELSEWHERE and not _is_link(scope, headers):
            return "pages of other sites may not ask here"
        return None


def _is_here(host: str) -> bool:
    """Browsers resolve every name under localhost to this machine [RFC 6761, 6.3]."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    return name in _NAMES or name.endswith(".localhost")


def _is_link(scope: Scope, headers: Headers) -> bool:
    """Return True if a browser navigates to a presigned URL of an object."""
    query = parse_qs(scope["query_string"].decode("latin-1"))
    is_followed = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
    return is_followed and "X-Amz-Signature" in query and "Action" not in query
