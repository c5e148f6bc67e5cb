"""
Orders for the simulator itself, which are no calls of AWS: GET shows what was ordered, POST orders
more, DELETE takes all back and shows what it was.
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
Answer = Callable[[Message, bytes], Response]  # to a request and its body


def served(
    scope: Message,
    body: bytes,
    *,
    report: Callable[[], Mapping[str, Any]],
    clear: Callable[[], None],
    take: Callable[[bytes], None],
) -> Response:
    """`take` reads an order from a request's body, and raises pydantic's ValidationError."""
    status, told = 200, report()
    match scope["method"]:
        case "GET":
            pass
        case "DELETE":
            clear()
        case "POST":
            try:
                take(body)
                told = report()
            except ValidationError as error:
                problems = error.errors(include_url=False, include_context=False)
                status, told = 400, {"message": "invalid order", "problems": problems}
        case _:
            status, told = 405, {"message": "GET, POST or DELETE"}
    return status, {"Content-Type": "application/json"}, json.dumps(told).encode()


def send(url: str, order: Mapping[str, Any], key: AccessKey | None = None) -> None:
    """Signed with the key, if any. Raises urllib.error.HTTPError for what is no order."""
    ask("POST", url, json.dumps(order).encode(), key)


def ask(method: str, url: str, body: bytes = b"", key: AccessKey | None = None) -> bytes:
    """What is ordered, as JSON."""
    made = AWSRequest(method, url, data=body)
    if key is not None:
        signer = Credentials(key.access_key_id, key.secret_access_key)
        SigV4Auth(signer, "bedrock", "us-east-1").add_auth(made)
    request = urllib.request.Request(  # noqa: S310 - our own server
        url, body or None, dict(made.headers), method=method
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - as above
        report: bytes = answer.read()
    return report
