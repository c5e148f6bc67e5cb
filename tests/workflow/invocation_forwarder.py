"""
A Lambda function that hands its events on to `answering_invocations`, for an engine that calls
functions of its own Lambda alone, as ministack does. It is a custom runtime:
https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
"""

import io
import json
import os
import sys
import urllib.error
import urllib.request
import zipfile
from typing import Any


def package() -> bytes:
    """What CreateFunction takes, for the Python of this process."""
    entry = zipfile.ZipInfo("bootstrap")
    entry.external_attr = 0o700 << 16
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(entry, f'#!/bin/sh\nexec "{sys.executable}" "{__file__}"\n')
    return archive.getvalue()


def _serve(runtime: str, target: str) -> None:
    while True:
        with urllib.request.urlopen(f"{runtime}/next") as next_:
            request_id, event = next_.headers["Lambda-Runtime-Aws-Request-Id"], next_.read()
        error, payload = _forwarded(target, event)
        to = f"{runtime}/{request_id}/{'error' if error else 'response'}"
        urllib.request.urlopen(urllib.request.Request(to, payload, method="POST")).close()


def _forwarded(target: str, event: bytes) -> tuple[bool, bytes]:
    """A refusal is told as an error of the name that Step Functions gives it."""
    try:
        with urllib.request.urlopen(urllib.request.Request(target, event, method="POST")) as answer:
            return "X-Amz-Function-Error" in answer.headers, answer.read()
    except urllib.error.HTTPError as refusal:
        told: dict[str, Any] = {"errorType": f"Lambda.{refusal.headers['X-Amzn-ErrorType']}"}
        return True, json.dumps({**told, "errorMessage": "refused"}).encode()


if __name__ == "__main__":
    _serve(
        f"http://{os.environ['AWS_LAMBDA_RUNTIME_API']}/2018-06-01/runtime/invocation",
        os.environ["FORWARD_TO"],
    )
