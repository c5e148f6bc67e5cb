"""The console put together: its routes, its files, and what stands around all of them."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from stackroom_console.console import Console
from stackroom_console.headers import SecurityHeaders
from stackroom_console.rendering import STATIC
from stackroom_console.routes import ROUTES
from stackroom_console.serving import Served, Unserved

_KEPT = "public, max-age=31536000, immutable"  # the address changes with the contents


class _Files(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        if scope["query_string"]:
            response.headers["Cache-Control"] = _KEPT
        return response


def console_app(console: Console) -> Starlette:
    routes: list[BaseRoute] = [
        Route(each.path, Served(console, each).answer, methods=[each.method]) for each in ROUTES
    ]
    # Files alone are compressed: in a page, what a request says stands beside secrets [BREACH].
    files = GZipMiddleware(_Files(directory=STATIC), minimum_size=1024)
    return Starlette(
        routes=[*routes, Mount("/static", files)],
        middleware=[Middleware(SecurityHeaders, console=console)],
        exception_handlers={HTTPException: Unserved(console)},
    )
