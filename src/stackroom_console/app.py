"""The console put together: its routes, its files, and what stands around all of them."""

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stackroom_console.console import Console
from stackroom_console.rendering import STATIC
from stackroom_console.routes import ROUTES
from stackroom_console.serving import EndpointHandler, HttpErrorHandler

# What every answer tells a browser, and the one host that the console answers to.

# https://owasp.org/www-project-secure-headers/
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With "no-referrer" a form of our own would come from the origin "null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_STRICT_TRANSPORT = "max-age=31536000"


def content_security_policy(uploads: str) -> str:
    """
    Return the policy of every page. Scripts post files to the bucket and read PDFs from there, a
    frame shows them, and the style sheet has its icons within it (data:).
    """
    return "; ".join(
        (
            "default-src 'self'",
            f"connect-src 'self' {uploads}",
            f"frame-src 'self' {uploads}",
            "img-src 'self' data:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


class SecurityHeaders:
    """ASGI: around the whole app, so that no answer goes without."""

    def __init__(self, app: ASGIApp, *, console: Console) -> None:
        self._app = app
        self._console = console
        self._headers = {
            **_HEADERS,
            "Content-Security-Policy": content_security_policy(console.uploads),
        }
        if console.is_secure:
            self._headers["Strict-Transport-Security"] = _STRICT_TRANSPORT

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(self._headers)
                headers.setdefault("Cache-Control", "no-store")  # a page is its reader's alone
            await send(message)

        app = self._app if self._is_ours(scope) else self._elsewhere
        await app(scope, receive, secured)

    def _is_ours(self, scope: Scope) -> bool:
        """Under any other name a foreign page could read ours, by DNS rebinding."""
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        return hosts == [self._console.host.encode()]

    @property
    def _elsewhere(self) -> ASGIApp:
        return PlainTextResponse(f"The console is at {self._console.url}/\n", status_code=421)


_KEPT = "public, max-age=31536000, immutable"  # the address changes with the contents


class _Files(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        if scope["query_string"]:
            response.headers["Cache-Control"] = _KEPT
        return response


def console_app(console: Console) -> Starlette:
    routes: list[BaseRoute] = [
        Route(each.path, EndpointHandler(console, each).answer, methods=[each.method])
        for each in ROUTES
    ]
    # Files alone are compressed: in a page, what a request says stands beside secrets [BREACH].
    files = GZipMiddleware(_Files(directory=STATIC), minimum_size=1024)
    return Starlette(
        routes=[*routes, Mount("/static", files)],
        middleware=[Middleware(SecurityHeaders, console=console)],
        exception_handlers={HTTPException: HttpErrorHandler(console)},
    )
