"""
The Step Functions that runs the machine, if STEPFUNCTIONS_LOCAL_ENDPOINT names one: AWS's Step
Functions Local, or whatever else answers there. docs/testing.md says how to start it.

It calls functions over HTTP, at its LAMBDA_ENDPOINT. Here the test's own process answers, at
STEPFUNCTIONS_LOCAL_LAMBDA_PORT.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote

import botocore.session

from tests.workflow.engine import Invoked, bare
from tests.workflow.functions import Reply

ENDPOINT = os.environ.get("STEPFUNCTIONS_LOCAL_ENDPOINT", "")
LAMBDA_PORT = int(os.environ.get("STEPFUNCTIONS_LOCAL_LAMBDA_PORT", "8084"))
WITHOUT = "STEPFUNCTIONS_LOCAL_ENDPOINT names no Step Functions Local; see docs/testing.md"


@contextmanager
def answering_invocations(functions: Invoked, *, port: int = LAMBDA_PORT) -> Iterator[None]:
    """Answers Lambda's Invoke at that port, and nothing else of Lambda."""

    class Invocations(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            # /2015-03-31/functions/{FunctionName}/invocations, and the name may be an ARN
            name = bare(unquote(self.path.split("/")[3]))
            event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, payload = _answer(functions.invoke(name, event))
            body = json.dumps(payload).encode()
            self.send_response(status)
            for header, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(header, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
            """A test's output is its own."""

    with ThreadingHTTPServer(("127.0.0.1", port), Invocations) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def _answer(reply: Reply) -> tuple[int, dict[str, str], object]:
    """https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html"""
    if reply.refusal:
        model: Any = botocore.session.get_session().get_service_model("lambda")
        error = model.shape_for_error_code(reply.refusal)
        status = 500 if error is None else int(error.metadata["error"]["httpStatusCode"])
        return status, {"X-Amzn-ErrorType": reply.refusal}, {"message": "as the test will have it"}
    headers = {"X-Amz-Function-Error": "Unhandled"} if reply.function_error else {}
    return 200, headers, reply.payload
