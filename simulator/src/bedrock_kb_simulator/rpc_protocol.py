"""
The wire of a service that is called by procedures: Smithy's RPC with CBOR, which boto3 speaks, and
JSON 1.1, which older clients do.

https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html
moto has no CBOR, and botocore reads it of answers and writes it of requests only; both do here what
the other side does.
"""

import json
import re
from typing import Any

from botocore.model import DenormalizedStructureBuilder
from botocore.parsers import create_parser
from botocore.serialize import RpcV2CBORSerializer
from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import Request
from moto.core.serialize import SerializationContext, get_serializer_class
from moto.core.utils import get_service_model
from werkzeug.exceptions import NotFound

from bedrock_kb_simulator.orders import Message, Response
from bedrock_kb_simulator.service_errors import ServiceError

_SERVICES = {"Textract": "textract"}  # by the targetPrefix of their models
_PATH = re.compile(r"/service/(\w+)/operation/(\w+)")
_TARGET = b"x-amz-target"
_HEADERS = {"Content-Type": "application/cbor", "smithy-protocol": "rpc-v2-cbor"}
_ERROR = (
    DenormalizedStructureBuilder()
    .with_members({"__type": {"type": "string"}, "message": {"type": "string"}})
    .build_model()
)


def operation_of(request: Request) -> Any:
    """Return None for another protocol; raises NotFound for an operation that no service has."""
    target, _, name = request.headers.get("X-Amz-Target", "").partition(".")
    if found := _PATH.fullmatch(request.raw_path):
        target, name = found.groups()
    if target not in _SERVICES:
        return None
    model = get_service_model(_SERVICES[target])
    if name not in model.operation_names:
        raise NotFound
    return model.operation_model(name)


def is_meant(scope: Message) -> bool:
    """Return True for a call of such a service, in either wire."""
    targets = [value.decode("latin-1") for name, value in scope["headers"] if name == _TARGET]
    found = _PATH.fullmatch(scope["path"])
    return any(each.partition(".")[0] in _SERVICES for each in targets) or (
        found is not None and found[1] in _SERVICES
    )


def is_of(operation: Any) -> bool:
    return operation.service_model.service_name in _SERVICES.values()


def is_cbor(scope: Message) -> bool:
    return (b"smithy-protocol", b"rpc-v2-cbor") in scope["headers"]


def parameters_of(operation: Any, request: Request, body: bytes, *, cbor: bool) -> dict[str, Any]:
    if not cbor:
        asked: Any = {"body": body, "headers": request.headers, "url_params": {}}
        parsed: dict[str, Any] = PROTOCOL_PARSERS["json"](operation).parse(asked)
        return parsed
    response: Any = {"body": body, "headers": {}, "status_code": 200}
    read: dict[str, Any] = create_parser("smithy-rpc-v2-cbor").parse(
        response, operation.input_shape
    )
    return {name: value for name, value in read.items() if name != "ResponseMetadata"}


def written(operation: Any, result: Any, *, cbor: bool) -> Response:
    """A result, or a ServiceError of the model's, or of none."""
    service = operation.service_model
    if isinstance(result, ServiceError):
        modelled = {shape.name for shape in service.error_shapes}
        failed = 500 if result.code in modelled else 503
        is_own = result.code not in modelled or result.code.startswith("Internal")
        return refused(failed if is_own else 400, result, cbor=cbor)
    if cbor:
        return 200, _HEADERS, _Writer().written(result, operation.output_shape)
    serializer = get_serializer_class(service.service_name, "json")
    made: Any = serializer(operation, context=SerializationContext()).serialize(result)
    return 200, made["headers"], made["body"].encode()


def refused(status: int, error: ServiceError, *, cbor: bool) -> Response:
    """The models tell no statuses of errors: whose fault it is tells them."""
    value = {"__type": error.code, "message": error.message}
    if cbor:
        return status, _HEADERS, _Writer().written(value, _ERROR)
    return status, {"Content-Type": "application/x-amz-json-1.1"}, json.dumps(value).encode()


class _Writer(RpcV2CBORSerializer):
    def written(self, value: Any, shape: Any) -> bytes:
        writer: Any = self  # its base has the method, and its type says nothing of it
        body: bytes = writer._serialize_body_params(value, shape)
        return body
