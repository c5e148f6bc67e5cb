"""
The built-in S3: moto's, in memory, in the same process and at the same port.

It checks no keys, policies or signatures.
"""

import sys
import threading
from typing import Any
from urllib.parse import parse_qs

from bedrock_kb_simulator.orders import Message, Response
from bedrock_kb_simulator.request_parsing import http_request, signing_name

KEY = "test"  # any key works

_lock = threading.Lock()  # moto's buckets are plain dicts


def forget() -> None:
    """Remove all buckets."""
    if "moto.s3.models" in sys.modules:
        with _lock:
            for of_account in sys.modules["moto.s3.models"].s3_backends.values():
                of_account.reset()


def is_s3_request(scope: Message) -> bool:
    """Return True for a request signed for S3, in a header or as a presigned URL."""
    headers = dict(scope["headers"])
    if signing_name(headers.get(b"authorization", b"").decode("latin-1")) == "s3":
        return True
    query = parse_qs(scope["query_string"].decode("latin-1"))
    if "AWSAccessKeyId" in query:  # signature version 2, which boto3 uses for presigned URLs
        return True
    return bool(query.get("X-Amz-Credential", [""])[0].endswith("/s3/aws4_request"))


def answer(scope: Message, body: bytes) -> Response:
    from moto.s3.responses import S3Response  # noqa: PLC0415 - importing it takes a second

    request = http_request(scope, body)
    path = request.raw_path.strip("/")
    if not path:
        dispatch: Any = S3Response.bucket_dispatch
    else:
        dispatch = S3Response.key_dispatch if "/" in path else S3Response.ambiguous_dispatch
    with _lock:
        status, headers, content = dispatch(request, request.raw_url, dict(request.headers))
    sent = {name.title(): str(value) for name, value in headers.items()}
    if request.method != "HEAD":
        sent.pop("Content-Length", None)  # the sender sets it
    return status, sent, content if isinstance(content, bytes) else content.encode()
