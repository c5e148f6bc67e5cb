"""
HTTP API: the console in the browser, the same app as in the local mode.

Mangum makes ASGI of API Gateway's events. It is kept by the maintainer of Starlette and Uvicorn
(MIT; 0.22 of August 2026), it is 45 KB of Python without dependencies, and it calls the app within
the handler. The other way, AWS's Lambda Web Adapter, runs Uvicorn beside the runtime and speaks
HTTP to it: a layer of a binary that the lock file doesn't know, and another process to start cold;
it is worth that for streams, which an HTTP API doesn't pass on.
"""

from functools import cache
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext
from mangum import Mangum

from functions import audit_line
from functions.telemetry import logger_for
from stackroom.access.access_log import Access
from stackroom.aws.session import client
from stackroom_console.app import console_app
from stackroom_console.wiring import ConsoleSettings, console_of

logger = logger_for("console")


@cache
def served() -> Mangum:
    console = console_of(ConsoleSettings.from_env(), client, log=report_access)
    return Mangum(console_app(console), lifespan="off")


def report_access(access: Access) -> None:
    audit_line.report(access, logger=logger)


@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    # Mangum describes what Lambda passes as writable, Powertools as read-only; neither writes.
    return served()(event, context)  # type: ignore[arg-type]
