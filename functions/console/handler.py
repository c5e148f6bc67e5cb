"""
HTTP API: the console in the browser, the same app as in the local mode.

Mangum translates API Gateway's events to ASGI. The maintainer of Starlette and Uvicorn maintains it
(MIT; 0.22 of August 2026); it is 45 KB of Python without dependencies and calls the app in process.
The alternative, AWS's Lambda Web Adapter, runs Uvicorn next to the runtime and talks HTTP to it: a
layer with a binary that the lock file doesn't cover, and a second process at each cold start. That
pays for response streams, which an HTTP API doesn't pass on.
"""

from functools import cache, partial
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from mangum import Mangum

from functions.telemetry import count_call, logger_for
from stackroom.access.access_log import AccessWriter
from stackroom.aws.session import client
from stackroom_console.app import console_app
from stackroom_console.wiring import ConsoleSettings, console_of

logger = logger_for("console")


@cache
def asgi_handler() -> Mangum:
    log = AccessWriter(logger, count=partial(count_call, logger.service))
    console = console_of(ConsoleSettings.from_env(), client, log=log)
    return Mangum(console_app(console), lifespan="off")


@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    # Mangum types what Lambda passes as writable, Powertools as read-only; neither writes.
    return asgi_handler()(event, context)  # type: ignore[arg-type]
