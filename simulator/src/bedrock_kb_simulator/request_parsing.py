"""
The operation and parameters of a request, by the botocore service models.

Requests in JSON 1.1 (json_protocol) name the service and the operation. In others the SigV4
credential scope names the service; services that share a signing name (`bedrock`) differ by path,
or by the ARN in it.
"""

import re
from typing import Any

from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import Request
from moto.core.routing import get_service_router
from werkzeug.exceptions import NotFound

from bedrock_kb_simulator import json_protocol
from bedrock_kb_simulator.orders import Message

_SCOPE = re.compile(r"Credential=[^/]+/\d{8}/[^/]+/(?P<signing_name>[^/]+)/aws4_request")
_SERVICES = {
    "s3vectors": ("s3vectors",),
    "bedrock": ("bedrock-agent-runtime", "bedrock-agent", "bedrock-runtime", "bedrock"),
}
# Several services have the path `/tags/{arn}`; these take only such ARNs [TaggableResourcesArn,
# ResourceARN].
_TAGGED = {"bedrock-agent-runtime": ":session/", "s3vectors": ":s3vectors:"}
_ANY_SERVICE = (*_SERVICES["s3vectors"], *_SERVICES["bedrock"])  # distinguished by their paths


def parse_request(scope: Message, body: bytes) -> tuple[Any, dict[str, Any]]:
    """
    Return the operation of a request and its parameters.

    Raises NotFound for an unknown operation, or whatever moto's parsers raise.
    """
    request = http_request(scope, body)
    if (operation := json_protocol.operation_of(request)) is not None:
        return operation, json_protocol.parameters_of(operation, request, body)
    name = signing_name(request.headers.get("Authorization", ""))
    services = _SERVICES.get(name, ()) if name else _ANY_SERVICE
    for service in services:
        try:
            operation, labels = get_service_router(service).match(request)
        except NotFound:
            continue
        arn = labels.get("resourceArn")
        if arn is not None and len(services) > 1 and _TAGGED.get(service, "") not in arn:
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


def signing_name(authorization: str) -> str | None:
    """Return the signing name in an Authorization header, or None if unsigned."""
    signed = _SCOPE.search(authorization)
    return signed["signing_name"] if signed else None


def http_request(scope: Message, body: bytes) -> Request:
    """Return the request in moto's form."""
    headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
    query = scope["query_string"].decode()
    path = scope["raw_path"].decode()
    request = Request.from_primitives(
        scope["method"], f"http://{headers.get('host', 'localhost')}/?{query}", headers, body
    )
    request.environ["RAW_URI"] = path  # labels keep their percent-encoding until they are matched
    return request
