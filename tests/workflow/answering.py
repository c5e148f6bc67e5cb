"""
Answering boto3's own clients without a wire: below their parameter validation, above their
transport.

So what a caller sends and catches is AWS's. boto3's retries lie below, too: whatever is refused is
the caller's to deal with.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ConnectionClosedError

from bedrock_kb_simulator.service_errors import ConnectionDropped, ServiceError

Members = dict[str, Any]
Call = Callable[[Any, Members], Members]  # an operation of the service model, and its parameters

_UNMODELLED = 503  # as simulator.wire has it


@contextmanager
def answered(call: Call, *clients: Any) -> Iterator[None]:
    """These clients' calls are answered by `call`, which raises ServiceError where AWS refuses."""

    def answer(model: Any, context: Members, **_: Any) -> tuple[Any, Members]:
        try:
            return _response(200), call(model, context["asked"])
        except ServiceError as error:
            status = _status(model, error.code)
            told = {"Error": {"Code": error.code, "Message": error.message}}
            metadata = {"HTTPStatusCode": status, "RequestId": "none"}
            return _response(status), {**told, "ResponseMetadata": metadata}
        except ConnectionDropped as error:
            raise ConnectionClosedError(endpoint_url=model.service_model.service_name) from error

    handlers: dict[str, Callable[..., Any]] = {
        "before-parameter-build": _note,
        "before-call": answer,
    }
    places = [
        (client.meta.events, f"{event}.{client.meta.service_model.service_name}", handler)
        for client in clients
        for event, handler in handlers.items()
    ]
    for events, event, handler in places:
        events.register(event, handler)
    try:
        yield
    finally:
        for events, event, handler in places:
            events.unregister(event, handler)


def _note(params: Members, context: Members, **_: Any) -> None:
    context["asked"] = params


def _response(status: int) -> SimpleNamespace:
    return SimpleNamespace(status_code=status)


def _status(model: Any, code: str) -> int:
    shape = model.service_model.shape_for_error_code(code)
    if shape is None:
        return _UNMODELLED
    # Smithy's RPC models tell no statuses; of what a test answers by them, all are the caller's.
    return int(shape.metadata.get("error", {}).get("httpStatusCode", 400))
