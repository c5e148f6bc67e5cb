"""
The control endpoints of the simulator itself, at paths that no AWS service has: GET reports what is
ordered, POST adds orders, DELETE removes all and reports what they were.
"""

import json
import urllib.request
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from pydantic import ValidationError

from bedrock_kb_simulator.access_keys import AccessKey

Message = MutableMapping[str, Any]  # ASGI's
Response = tuple[int, dict[str, str], bytes]  # HTTP status, headers and body
Answer = Callable[[Message, bytes], Response]  # handles a request with its body


def respond(
    scope: Message,
    body: bytes,
    *,
    report: Callable[[], Mapping[str, Any]],
    clear: Callable[[], None],
    take: Callable[[bytes], None],
) -> Response:
    """
    Return the response to a control request.

    `take` applies an order from the body; it raises pydantic's ValidationError for an invalid one.
    """
    status, content = 200, report()
    match scope["method"]:
        case "GET":
            pass
        case "DELETE":
            clear()
        case "POST":
            try:
                take(body)
                content = report()
            except ValidationError as error:
                problems = error.errors(include_url=False, include_context=False)
                status, content = 400, {"message": "invalid order", "problems": problems}
        case _:
            status, content = 405, {"message": "GET, POST or DELETE"}
    return status, {"Content-Type": "application/json"}, json.dumps(content).encode()


def send(url: str, order: Mapping[str, Any], key: AccessKey | None = None) -> None:
    """Post an order, signed if a key is given. Raises HTTPError for an invalid one."""
    ask("POST", url, json.dumps(order).encode(), key)


def ask(method: str, url: str, body: bytes = b"", key: AccessKey | None = None) -> bytes:
    """Return the response body of a control endpoint: JSON with what is ordered."""
    signed = AWSRequest(method, url, data=body)
    if key is not None:
        signer = Credentials(key.access_key_id, key.secret_access_key)
        SigV4Auth(signer, "bedrock", "us-east-1").add_auth(signed)
    request = urllib.request.Request(  # noqa: S310 - our own server
        url, body or None, dict(signed.headers), method=method
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - as above
        report: bytes = answer.read()
    return report
