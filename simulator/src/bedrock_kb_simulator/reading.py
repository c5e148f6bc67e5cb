"""
Which operation a request means, and its parameters, by the botocore service models.

Of services called by procedures (rpc_protocol) the request names both. Of all others
the SigV4 credential scope names the service, or the path does where several share a signing name
(`bedrock`), or the ARN in it.
"""

import re
from typing import Any

from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import Request
from moto.core.routing import get_service_router
from werkzeug.exceptions import NotFound

from bedrock_kb_simulator import rpc_protocol
from bedrock_kb_simulator.orders import Message

_SCOPE = re.compile(r"Credential=[^/]+/\d{8}/[^/]+/(?P<signing_name>[^/]+)/aws4_request")
_SERVICES = {
    "s3vectors": ("s3vectors",),
    "bedrock": ("bedrock-agent-runtime", "bedrock-agent", "bedrock-runtime", "bedrock"),
}
# `/tags/{arn}` is a path of several; these take no other ARNs [TaggableResourcesArn, ResourceARN].
_TAGGED = {"bedrock-agent-runtime": ":session/", "s3vectors": ":s3vectors:"}
_ANY_SERVICE = (*_SERVICES["s3vectors"], *_SERVICES["bedrock"])  # whose paths tell them apart


def read(scope: Message, body: bytes) -> tuple[Any, dict[str, Any]]:
    """
    The operation that a request of ASGI's means, and its parameters; raises NotFound if it means
    none, or whatever moto's parsers stumble over.
    """
    request = http_request(scope, body)
    if (operation := rpc_protocol.operation_of(request)) is not None:
        return operation, rpc_protocol.parameters_of(operation, request, body)
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
    """Of the service that a request is signed for; None of one that is not signed."""
    signed = _SCOPE.search(authorization)
    return signed["signing_name"] if signed else None


def http_request(scope: Message, body: bytes) -> Request:
    """As moto takes it."""
    headers = {name.decode(): value.decode("latin-1") for name, value in scope["headers"]}
    query = scope["query_string"].decode()
    path = scope["raw_path"].decode()
    request = Request.from_primitives(
        scope["method"], f"http://{headers.get('host', 'localhost')}/?{query}", headers, body
    )
    request.environ["RAW_URI"] = path  # labels keep their percent-encoding until they are matched
    return request
