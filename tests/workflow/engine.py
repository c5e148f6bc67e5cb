"""
Which Step Functions runs the machine: moto's interpreter in this process, or another one.

STACKROOM_SFN_ENDPOINT names the other one, such as AWS Step Functions Local (docs/testing.md). It
calls our handlers at `http://127.0.0.1:{STACKROOM_LAMBDA_PORT}`, which speaks Lambda's Invoke.
"""

import json
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any
from unittest.mock import patch

import boto3
from botocore.config import Config

from stackroom_local.simulator.errors import ServiceError
from tests.workflow.answering import Members, answered
from tests.workflow.functions import Functions
from tests.workflow.interpreter import mended

ENDPOINT = os.environ.get("STACKROOM_SFN_ENDPOINT")
LAMBDA_PORT = int(os.environ.get("STACKROOM_LAMBDA_PORT", "9101"))
_INVOKE = re.compile(r"/2015-03-31/functions/(?P<name>[^/]+)/invocations")


@contextmanager
def calling(functions: Functions) -> Iterator[None]:
    """Lets the engine's Lambda tasks call these functions."""
    with _over_http(functions) if ENDPOINT else _in_moto(functions):
        yield


@contextmanager
def _in_moto(functions: Functions) -> Iterator[None]:
    def invoke(_: object, asked: Members) -> Members:
        reply = functions.invoke(_bare(asked["FunctionName"]), json.loads(asked["Payload"]))
        if reply.refusal:
            raise ServiceError(reply.refusal, "as the test will have it")
        told = {"FunctionError": "Unhandled"} if reply.function_error else {}
        return {"StatusCode": 200, "Payload": BytesIO(json.dumps(reply.payload).encode()), **told}

    with (
        answered(invoke, _lambda()),
        patch.object(boto3, "DEFAULT_SESSION", _SessionOfTheEngine()),
        mended(),
    ):
        yield


class _SessionOfTheEngine(boto3.session.Session):
    """moto asks the default session for a Lambda client at each invocation: always for this one."""

    def client(self, service_name: Any, *args: Any, **options: Any) -> Any:
        if service_name == "lambda":
            return _lambda()
        return super().client(service_name, *args, **options)


@cache
def _lambda() -> Any:
    return boto3.client(
        "lambda",
        region_name="us-east-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=Config(parameter_validation=False),  # moto hands over what a definition says
    )


@contextmanager
def _over_http(functions: Functions) -> Iterator[None]:
    class Invocations(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found = _INVOKE.match(self.path)
            assert found is not None, f"only Invoke is known here, not {self.path}"
            event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = functions.invoke(_bare(found["name"]), event)
            body = json.dumps({"message": "refused"} if reply.refusal else reply.payload).encode()
            self.send_response(400 if reply.refusal else 200)
            if reply.refusal:
                self.send_header("x-amzn-ErrorType", reply.refusal)
            if reply.function_error:
                self.send_header("X-Amz-Function-Error", "Unhandled")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            return

    with ThreadingHTTPServer(("127.0.0.1", LAMBDA_PORT), Invocations) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def _bare(function: str) -> str:
    return function.replace("%3A", ":").rpartition(":")[2]
