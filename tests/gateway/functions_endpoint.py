"""
Lambda's Invoke for the functions behind a gateway, which run in this one process.

`python -m tests.gateway.functions_endpoint PORT` serves until it is ended.
"""

import base64
import json
import os
import sys
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from awslambdaric.lambda_context import LambdaContext

from functions.identity_interceptor.handler import handler as intercept
from tests.gateway.echo_function import handler as echo

FUNCTIONS = {"echo": echo, "staffed": echo, "identity-interceptor": intercept}
ACCOUNT = "arn:aws:lambda:us-east-1:000000000000:function"


class Invoke(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = self.path.split("/")[-2]
        if name not in FUNCTIONS:
            self._answer(404, {"Message": f"Function not found: {name}"})
            return
        given = base64.b64decode(self.headers.get("X-Amz-Client-Context", ""))
        deadline = int((time.time() + 60) * 1000)
        client_context = json.loads(given) if given else None
        arn = f"{ACCOUNT}:{name}"
        context = LambdaContext("an-invocation", client_context, None, deadline, arn)
        try:
            self._answer(200, FUNCTIONS[name](event, context))
        except Exception as error:
            traceback.print_exc()
            document = {"errorType": type(error).__name__, "errorMessage": str(error)}
            self._answer(200, document, "X-Amz-Function-Error")

    def _answer(self, status: int, answer: Any, error: str = "") -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if error:
            self.send_header(error, "Unhandled")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Log nothing but what the functions do."""


if __name__ == "__main__":
    for variable in ("NAME", "MEMORY_SIZE", "VERSION"):
        os.environ[f"AWS_LAMBDA_FUNCTION_{variable}"] = "128"
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Invoke).serve_forever()
