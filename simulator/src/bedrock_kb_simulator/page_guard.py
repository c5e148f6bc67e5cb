"""
Keeps the pages that a developer has open away from the local servers.

A page of any site may send requests to 127.0.0.1, and by a name of its own that resolves there (DNS
rebinding) read the answers, too. Programs send no Origin and ask by a name of this machine; a page
can do neither. So what a page sends is refused, but for pages of the origins that are named, and
for a presigned link that somebody follows: it carries its own right, and reads one object.
"""

from collections.abc import Collection
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
# Of a page elsewhere, on this machine or another [W3C Fetch Metadata: Sec-Fetch-Site]; a program
# sends none of it, nor does a browser that is older than 2023.
_ELSEWHERE = frozenset({"cross-site", "same-site"})


class PageGuard:
    """
    An ASGI application, for programs and for pages of these origins alone. Of its paths that begin
    with one of `inner` nobody asks for others than those of `asked`.
    """

    def __init__(
        self,
        app: ASGIApp,
        origins: Collection[str] = (),
        *,
        inner: tuple[str, ...] = (),
        asked: tuple[str, ...] = (),
    ) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._inner, self._asked = inner, asked

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
        if path.startswith(self._inner) and not path.startswith(self._asked):
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
    """Whether somebody follows a presigned link to an object."""
    query = parse_qs(scope["query_string"].decode("latin-1"))
    is_followed = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
    return is_followed and "X-Amz-Signature" in query and "Action" not in query
