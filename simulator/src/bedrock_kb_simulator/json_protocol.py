"""AWS's JSON 1.1 protocol, which boto3 speaks to Textract: a header names the operation."""

import json
from collections.abc import Iterable
from typing import Any

from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import Request
from moto.core.serialize import SerializationContext, get_serializer_class
from moto.core.utils import get_service_model
from werkzeug.exceptions import NotFound

from bedrock_kb_simulator.orders import Response
from bedrock_kb_simulator.service_errors import ServiceError

_SERVICES = {"Textract": "textract"}  # by the targetPrefix of their models


def operation_of(request: Request) -> Any:
    """Return a request's operation, or None for another protocol. Raises NotFound if unknown."""
    target, _, name = request.headers.get("X-Amz-Target", "").partition(".")
    if target not in _SERVICES:
        return None
    model = get_service_model(_SERVICES[target])
    if name not in model.operation_names:
        raise NotFound
    return model.operation_model(name)


def is_json_request(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return True if a request's headers name an operation of such a service."""
    targets = [value.decode("latin-1") for name, value in headers if name == b"x-amz-target"]
    return any(each.partition(".")[0] in _SERVICES for each in targets)


def is_spoken_to(operation: Any) -> bool:
    """Return True for an operation of a service with this protocol."""
    return operation.service_model.service_name in _SERVICES.values()


def parameters_of(operation: Any, request: Request, body: bytes) -> dict[str, Any]:
    """Return the parameters in a request's body."""
    values: Any = {"body": body, "headers": request.headers, "url_params": {}}
    parsed: dict[str, Any] = PROTOCOL_PARSERS["json"](operation).parse(values)
    return parsed


def serialize(operation: Any, result: Any) -> Response:
    """Return the response for a result or a ServiceError."""
    service = operation.service_model
    if isinstance(result, ServiceError):
        # The models have no HTTP statuses of errors.
        modelled = {shape.name for shape in service.error_shapes}
        failed = 500 if result.code in modelled else 503
        is_own = result.code not in modelled or result.code.startswith("Internal")
        value = {"__type": result.code, "message": result.message}
        headers = {"Content-Type": "application/x-amz-json-1.1"}
        return failed if is_own else 400, headers, json.dumps(value).encode()
    serializer = get_serializer_class(service.service_name, "json")
    made: Any = serializer(operation, context=SerializationContext()).serialize(result)
    return 200, made["headers"], made["body"].encode()
