"""
The checks of every request before MCP: size limit, authorizer, REQUEST interceptor.

The interceptor runs for every method, as the real one does, and sees all headers
(`passRequestHeaders`). Its output replaces the body and overlays the client's headers; without an
interceptor, or without headers in its output, the client's own go on. AWS's documentation and its
samples disagree whether the client's headers can then reach a Lambda target: we assume the worse.
https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-interceptors-types.html
"""

import functools
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
import pydantic_core
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stackroom_local.gateway.authorizer import Authorizer, Unauthorized
from stackroom_local.gateway.lambda_functions import (
    MAX_CONCURRENT_INVOCATIONS,
    InvocationOutcome,
    LambdaFunction,
)

# https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-quotas.html
MAX_BODY = 6 * 1024 * 1024
# Of what the interceptor is handed and what it answers, "request and response combined":
# https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-interceptors-configuration.html
_MAX_INTERCEPTION = 6 * 1024 * 1024
INTERCEPTED_HEADERS = "stackroom.intercepted_headers"  # where the scope keeps the interceptor's
CLAIMS = "stackroom.claims"  # and those of the token that the authorizer checked

logger = logging.getLogger(__name__)


class RequestRefused(Exception):
    """Carries the response that ends a request early."""

    def __init__(self, response: Response) -> None:
        self.response = response


@dataclass(frozen=True)
class Intercepted:
    body: Any
    headers: Mapping[str, str]


@functools.cache
def _limiter() -> anyio.CapacityLimiter:
    return anyio.CapacityLimiter(MAX_CONCURRENT_INVOCATIONS)  # threads that wait


async def invoke(
    function: LambdaFunction, event: bytes, client_context: Mapping[str, Any] | None = None
) -> InvocationOutcome:
    """Invoke a function off the event loop. A server that stops does not wait for it."""
    # ASCII, because the context travels in a header.
    context = "" if client_context is None else json.dumps(client_context)
    call = functools.partial(function.invoke, event, client_context=context)
    return await anyio.to_thread.run_sync(call, limiter=_limiter(), abandon_on_cancel=True)


class GatewayMiddleware:
    """ASGI middleware that guards the MCP app behind it."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        authorizer: Authorizer,
        interceptor: LambdaFunction | None,
        metadata_path: str,
    ) -> None:
        self._app = app
        self._authorizer = authorizer
        self._interceptor = interceptor
        self._metadata_path = metadata_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            claims = self._authorizer.check(request.headers)
            raw = await _body(request)
            message = _parsed(raw)
            _require_id(message)
            intercepted = await self._intercept(request, raw, message)
        except Unauthorized as error:
            # By the name that the client came by: it compares the two.
            metadata_url = f"http://{request.url.netloc}{self._metadata_path}"
            await error.response(metadata_url)(scope, receive, send)
        except RequestRefused as error:
            await error.response(scope, receive, send)
        except ClientDisconnect:
            logger.warning("a client left before its request was complete")
        else:
            body = json.dumps(intercepted.body).encode()
            known = {INTERCEPTED_HEADERS: dict(intercepted.headers), CLAIMS: claims}
            await self._app(_with_body({**scope, **known}, body), _replay(body, receive), send)

    async def _intercept(self, request: Request, raw: bytes, message: Any) -> Intercepted:
        if self._interceptor is None:
            return Intercepted(message, {})
        event = json.dumps(_interceptor_input(request, raw, message)).encode()
        outcome = await invoke(self._interceptor, event)
        try:
            if len(event) + len(outcome.payload) > _MAX_INTERCEPTION:
                raise ValueError("too large: three copies of the body")
            return _intercepted(outcome)
        except (KeyError, TypeError, ValueError) as error:
            # Fail closed. What AWS answers to a failed interceptor is not documented; 500 is what
            # it lists for failures on its own side.
            raise RequestRefused(_jsonrpc_error(message, 500, -32603, "Internal error")) from error


def _intercepted(outcome: InvocationOutcome) -> Intercepted:
    """
    Parse an interceptor's output. Raises KeyError, TypeError or ValueError if it is malformed.
    """
    output = json.loads(outcome.payload)["mcp"]  # a failed function's error object has no such key
    if answer := output.get("transformedGatewayResponse"):
        raise RequestRefused(JSONResponse(answer["body"], status_code=answer["statusCode"]))
    transformed = output["transformedGatewayRequest"]
    return Intercepted(transformed["body"], transformed.get("headers") or {})


def _interceptor_input(request: Request, raw: bytes, message: Any) -> dict[str, Any]:
    return {
        "interceptorInputVersion": "1.0",
        "mcp": {
            "rawGatewayRequest": {"body": raw.decode()},
            "gatewayRequest": {
                "path": request.url.path,
                "httpMethod": request.method,
                "headers": combined(request),
                "body": message,
            },
        },
    }


def combined(request: Request) -> dict[str, str]:
    """Return headers by name; repeated ones are joined as a list (RFC 9110, 5.3)."""
    return {name: ", ".join(request.headers.getlist(name)) for name in request.headers}


async def _body(request: Request) -> bytes:
    if request.method != "POST":
        # No streams or sessions to open or end: both are opt-in at the gateway.
        raise RequestRefused(PlainTextResponse("", status_code=405, headers={"Allow": "POST"}))
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise RequestRefused(PlainTextResponse("Request body too large", status_code=413))
    return body


def _parsed(body: bytes) -> Any:
    """
    Parse the message as the MCP server does, and refuse what JSON can't express again.

    That is NaN, half of a surrogate pair, and more than 200 levels.
    """
    try:
        message = pydantic_core.from_json(body, allow_inf_nan=False)
        json.dumps(message, allow_nan=False)  # 1e999 is read as infinity
    except ValueError as error:
        raise RequestRefused(_jsonrpc_error(None, 400, -32700, f"Parse error: {error}")) from error
    return message


def _require_id(message: Any) -> None:
    """
    Refuse a request with an invalid id, which the MCP server would silently take for a
    notification.
    """
    if isinstance(message, dict) and "id" in message and not _is_id(message["id"]):
        text = "Invalid Request: the id must be a string or an integer"
        raise RequestRefused(_jsonrpc_error(None, 400, -32600, text))


def _is_id(given: object) -> bool:
    return isinstance(given, str | int) and not isinstance(given, bool)


def _jsonrpc_error(message: Any, status: int, code: int, text: str) -> Response:
    request_id = message.get("id") if isinstance(message, dict) else None
    error = {"code": code, "message": text}
    return JSONResponse({"jsonrpc": "2.0", "id": request_id, "error": error}, status_code=status)


def _with_body(scope: Scope, body: bytes) -> Scope:
    headers = [pair for pair in scope["headers"] if pair[0] != b"content-length"]
    headers.append((b"content-length", str(len(body)).encode()))
    return {**scope, "headers": headers}


def _replay(body: bytes, receive: Receive) -> Receive:
    """
    Return a `receive` that yields the new body first, and then the connection's further messages.
    """
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return messages.pop() if messages else await receive()

    return replayed
