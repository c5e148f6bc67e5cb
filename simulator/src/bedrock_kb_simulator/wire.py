"""
AWS's wire protocols over ASGI: read a request, call the operation, write the response.

Parsing and serialising use the botocore service models through moto's core, so names and shapes are
AWS's. One port serves all services.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from uuid import uuid4

from moto.core.serialize import SerializationContext, get_serializer_class
from werkzeug.exceptions import NotFound

from bedrock_kb_simulator import builtin_s3, json_protocol
from bedrock_kb_simulator.dispatcher import Dispatcher
from bedrock_kb_simulator.orders import Answer, Message, Response
from bedrock_kb_simulator.request_parsing import parse_request
from bedrock_kb_simulator.service_errors import ConnectionDropped, ServiceError
from bedrock_kb_simulator.signatures import Signatures
from bedrock_kb_simulator.vector_bucket_policies import CallersRights

Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_Streamed = tuple[int, dict[str, str], Iterator[bytes]]

logger = logging.getLogger(__name__)


class Application:
    """
    The ASGI application.

    `GET /health` answers 200 as soon as it serves. `mounted` handles paths that aren't AWS's, by
    their prefixes. With `signatures`, every request but health must be signed; with `rights`, the
    signer's rights are checked. With `has_s3` it also serves S3.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        *,
        mounted: Mapping[str, Answer],
        signatures: Signatures | None,
        rights: CallersRights | None = None,
        close: Callable[[], None],
        has_s3: bool = False,
    ) -> None:
        self._dispatcher = dispatcher
        self._mounted = mounted
        self._signatures = signatures
        self._rights = rights
        self.close = close
        self._has_s3 = has_s3
        # OCR takes seconds for each of its one picture at a time: in the threads of other calls,
        # pictures that wait would leave none of them.
        self._pictures = ThreadPoolExecutor(1)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await run_lifespan(receive, send, self.close)
            return
        assert scope["type"] == "http", "uvicorn is configured for HTTP only"
        body = await _body(receive)
        if body is None:
            return
        try:
            await _send(send, await self._response(scope, body))
        except ConnectionDropped:
            await _drop(send)

    async def _response(self, scope: Message, body: bytes) -> Response | _Streamed:
        if self._has_s3 and builtin_s3.is_s3_request(scope):
            return await asyncio.to_thread(builtin_s3.answer, scope, body)
        if scope["path"] == "/health":
            return 200, {"Content-Type": "text/plain"}, b"ok"
        signer = ""
        if self._signatures is not None:
            try:
                signer = self._signatures.check(scope, body)
            except ServiceError as error:
                return _serialize_unmodelled(403, error, str(uuid4()))
        answers = (each for start, each in self._mounted.items() if scope["path"].startswith(start))
        answer = next(answers, partial(self._answer, signer))
        if json_protocol.is_json_request(scope["headers"]):  # Textract, of all that are simulated
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pictures, answer, scope, body)
        return await asyncio.to_thread(answer, scope, body)

    def _answer(self, signer: str, scope: Message, body: bytes) -> Response | _Streamed:
        request_id = str(uuid4())
        try:
            operation, parameters = parse_request(scope, body)
        except NotFound:
            return 404, {"x-amzn-RequestId": request_id}, b'{"message":"no such operation"}'
        except Exception:  # moto's parsers failed on what the client sent
            error = ServiceError("SerializationException", "The request could not be read.")
            return _serialize_unmodelled(400, error, request_id)
        result: Any
        try:
            if self._rights is not None:
                self._rights.check(signer, operation, parameters)
            result = self._dispatcher.call(operation, parameters)
        except ServiceError as error:
            result = error
        except ConnectionDropped:
            raise
        except Exception:
            logger.exception("operation failed", extra={"operation": operation.name})
            result = ServiceError("InternalServerException", "The simulator failed; see its log.")
        if json_protocol.is_spoken_to(operation):
            status, headers, answer = json_protocol.serialize(operation, result)
            return status, {**headers, "x-amzn-RequestId": request_id}, answer
        return _serialize(operation, result, request_id)


async def run_lifespan(receive: Receive, send: Send, close: Callable[[], None]) -> None:
    """Run ASGI's lifespan protocol, and call `close` before the server ends."""
    while (await receive())["type"] != "lifespan.shutdown":
        await send({"type": "lifespan.startup.complete"})
    await asyncio.to_thread(close)
    await send({"type": "lifespan.shutdown.complete"})


async def _send(send: Send, response: Response | _Streamed) -> None:
    """Send a response; a stream is sent event by event."""
    status, headers, answer = response
    if isinstance(answer, bytes):
        headers = {"Content-Length": str(len(answer)), **headers}
    raw_headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw_headers})
    if isinstance(answer, bytes):
        await send({"type": "http.response.body", "body": answer})
        return
    while (event := await asyncio.to_thread(next, answer, None)) is not None:
        await send({"type": "http.response.body", "body": event, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


async def _drop(send: Send) -> None:
    """
    Drop the connection by beginning a response that never ends.

    It has no length, so it is chunked: botocore accepts a body shorter than its Content-Length.
    """
    await send({"type": "http.response.start", "status": 200, "headers": []})


async def _body(receive: Receive) -> bytes | None:
    """Return the request body, or None if the client left."""
    parts, more = [], True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


def _serialize(operation: Any, result: Any, request_id: str) -> Response | _Streamed:
    service = operation.service_model
    modelled = {shape.name for shape in service.error_shapes}
    if isinstance(result, ServiceError) and result.code not in modelled:
        # Bedrock's unmodelled errors are all failures of its own.
        return _serialize_unmodelled(503, result, request_id)
    serializer = get_serializer_class(service.service_name, service.protocol)(
        operation, context=SerializationContext(request_id=request_id)
    )
    events = None
    if operation.has_event_stream_output and not isinstance(result, ServiceError):
        name = operation.output_shape.event_stream_name
        events, result = result[name], {**result, name: []}
    response = serializer.serialize(result)
    headers = {**response["headers"], "x-amzn-RequestId": request_id}
    if events is not None:
        written = (_encode(serializer.serialize({name: [each]})) for each in events)
        return response["status_code"], headers, written
    return response["status_code"], headers, _encode(response)


def _encode(response: Any) -> bytes:
    body = response["body"]
    return body if isinstance(body, bytes) else str(body).encode()


def _serialize_unmodelled(status: int, error: ServiceError, request_id: str) -> Response:
    """Return the response for an error that no service model has."""
    headers = {
        "Content-Type": "application/json",
        "X-Amzn-Errortype": error.code,
        "x-amzn-RequestId": request_id,
    }
    return status, headers, json.dumps({"message": error.message}).encode()
