"""
AWS's wire protocol over ASGI: which operation is meant, its parameters, its answer.

Routing, parsing and serialising follow the botocore service models through moto's core, so names
and shapes are AWS's by construction. One port serves all services: the SigV4 credential scope
names the service, or the path does where several share a signing name (`bedrock`).
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from uuid import uuid4

from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import Request
from moto.core.routing import get_service_router
from moto.core.serialize import SerializationContext, get_serializer_class
from werkzeug.exceptions import NotFound

from stackroom_local.simulator.dispatch import Dispatcher
from stackroom_local.simulator.errors import ServiceError

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

logger = logging.getLogger(__name__)

_SCOPE = re.compile(r"Credential=[^/]+/\d{8}/[^/]+/(?P<signing_name>[^/]+)/aws4_request")
_SERVICES = {
    "s3vectors": ("s3vectors",),
    "bedrock": ("bedrock-agent-runtime", "bedrock-agent", "bedrock-runtime"),
}
_ANY_SERVICE = tuple(service for services in _SERVICES.values() for service in services)


class Front:
    """The ASGI application. `GET /health` answers 200 as soon as it serves."""

    def __init__(self, dispatcher: Dispatcher, *, close: Callable[[], None]) -> None:
        self._dispatcher = dispatcher
        self._close = close

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        assert scope["type"] == "http", "uvicorn is told to speak HTTP only"
        body = await _body(receive)
        if scope["path"] == "/health":
            status, headers, answer = 200, {"Content-Type": "text/plain"}, b"ok"
        else:
            status, headers, answer = await asyncio.to_thread(self._answer, scope, body)
        headers = {**headers, "Content-Length": str(len(answer))}
        raw_headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw_headers})
        await send({"type": "http.response.body", "body": answer})

    async def _live(self, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await asyncio.to_thread(self._close)
        await send({"type": "lifespan.shutdown.complete"})

    def _answer(self, scope: Message, body: bytes) -> tuple[int, dict[str, str], bytes]:
        request_id = str(uuid4())
        try:
            operation, parameters = _read(_request(scope, body), body)
        except NotFound:
            return 404, {"x-amzn-RequestId": request_id}, b'{"message":"no such operation"}'
        result: Any
        try:
            result = self._dispatcher.call(operation, parameters)
        except ServiceError as error:
            result = error
        except Exception:
            logger.exception("operation failed", extra={"operation": operation.name})
            result = ServiceError("InternalServerException", "The simulator failed; see its log.")
        return _written(operation, result, request_id)


async def _body(receive: Receive) -> bytes:
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


def _request(scope: Message, body: bytes) -> Request:
    headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
    query = scope["query_string"].decode()
    path = scope["raw_path"].decode()
    request = Request.from_primitives(
        scope["method"], f"http://{headers.get('host', 'localhost')}/?{query}", headers, body
    )
    request.environ["RAW_URI"] = path  # labels keep their percent-encoding until they are matched
    return request


def _read(request: Request, body: bytes) -> tuple[Any, dict[str, Any]]:
    scope = _SCOPE.search(request.headers.get("Authorization", ""))
    services = _SERVICES.get(scope["signing_name"], ()) if scope else _ANY_SERVICE
    for service in services:
        try:
            operation, labels = get_service_router(service).match(request)
        except NotFound:
            continue
        parser = PROTOCOL_PARSERS[operation.service_model.protocol](operation)
        parameters = parser.parse(
            {
                "body": body,
                "headers": request.headers,
                "method": request.method,
                "url_params": labels,
                "url_path": request.path,
                "values": request.args,
            }
        )
        return operation, parameters
    raise NotFound


def _written(operation: Any, result: Any, request_id: str) -> tuple[int, dict[str, str], bytes]:
    service = operation.service_model
    serializer = get_serializer_class(service.service_name, service.protocol)(
        operation, context=SerializationContext(request_id=request_id)
    )
    response = serializer.serialize(result)
    body = response["body"]
    headers = {**response["headers"], "x-amzn-RequestId": request_id}
    return response["status_code"], headers, body if isinstance(body, bytes) else body.encode()
