"""
An S3 in the same process and at the same port, for whoever names no other: moto's, in memory. Its
keys, policies and signatures are looked at by nobody.
"""

import sys
import threading
from typing import Any
from urllib.parse import parse_qs

from bedrock_kb_simulator.orders import Message, Response
from bedrock_kb_simulator.reading import http_request, signing_name

KEY = "test"  # any would do

_lock = threading.Lock()  # moto's buckets are plain dicts


def forget() -> None:
    """All buckets are gone."""
    if "moto.s3.models" in sys.modules:
        with _lock:
            for of_account in sys.modules["moto.s3.models"].s3_backends.values():
                of_account.reset()


def is_meant(scope: Message) -> bool:
    """Whether a request of ASGI's is signed for S3, in a header or as a presigned link."""
    headers = dict(scope["headers"])
    if signing_name(headers.get(b"authorization", b"").decode("latin-1")) == "s3":
        return True
    query = parse_qs(scope["query_string"].decode("latin-1"))
    if "AWSAccessKeyId" in query:  # version 2 of signatures, which boto3 has for links
        return True
    return bool(query.get("X-Amz-Credential", [""])[0].endswith("/s3/aws4_request"))


def answer(scope: Message, body: bytes) -> Response:
    from moto.s3.responses import S3Response  # noqa: PLC0415 - a second, where it is used

    request = http_request(scope, body)
    path = request.raw_path.strip("/")
    if not path:
        dispatch: Any = S3Response.bucket_dispatch
    else:
        dispatch = S3Response.key_dispatch if "/" in path else S3Response.ambiguous_dispatch
    with _lock:
        status, headers, content = dispatch(request, request.raw_url, dict(request.headers))
    told = {name.title(): str(value) for name, value in headers.items()}
    if request.method != "HEAD":
        told.pop("Content-Length", None)  # of the body that is sent, which whoever sends it knows
    return status, told, content if isinstance(content, bytes) else content.encode()
