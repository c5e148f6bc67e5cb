"""
The Lambda Runtime API, as far as a runtime client needs it: one listener per environment.

https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
The address is all a runtime client is told, so every environment gets a port of its own.
"""

import json
import queue
import sys
import threading
import time
import uuid
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Of a synchronous response, in bytes: 6 MB by the quotas, and this number in AWS's own error text.
# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
MAX_PAYLOAD = 6_291_556


@dataclass(frozen=True, kw_only=True)
class Invocation:
    event: bytes
    function_arn: str
    timeout_seconds: float
    client_context: str | None = None
    id: str = field(default_factory=lambda: str(uuid.uuid4()))

    def headers(self) -> dict[str, str]:
        deadline = int((time.time() + self.timeout_seconds) * 1000)
        headers = {
            "Lambda-Runtime-Aws-Request-Id": self.id,
            "Lambda-Runtime-Deadline-Ms": str(deadline),
            "Lambda-Runtime-Invoked-Function-Arn": self.function_arn,
            "Content-Type": "application/json",
            "Content-Length": str(len(self.event)),
        }
        if self.client_context is not None:
            headers["Lambda-Runtime-Client-Context"] = self.client_context
        return headers


@dataclass(frozen=True)
class Outcome:
    """What an invocation came to: the function's JSON, or an error object in its place."""

    payload: bytes
    failed: bool = False

    @classmethod
    def error(cls, error_type: str, message: str) -> "Outcome":
        document = {"errorType": error_type, "errorMessage": message}
        return cls(json.dumps(document).encode(), failed=True)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A process that was killed leaves its connections; its end is told as its outcome."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class RuntimeApi:
    """
    Hands invocations to one runtime and takes their outcomes.

    `ready` is set when the runtime first asks for work, that is when its handler is imported;
    `broken` when the import failed: the runtime is about to exit.
    """

    def __init__(self) -> None:
        self.ready = threading.Event()
        self.broken = False
        self.outcomes: queue.Queue[Outcome] = queue.Queue()
        self._invocations: queue.Queue[Invocation | None] = queue.Queue()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.daemon = True
        self._thread.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_port}"

    def submit(self, invocation: Invocation) -> None:
        self._invocations.put(invocation)

    def close(self) -> None:
        self._invocations.put(None)
        self._server.shutdown()
        self._server.server_close()

    def _next(self) -> Invocation | None:
        self.ready.set()
        return self._invocations.get()

    def _settle(self, path: str, body: bytes) -> None:
        if path.endswith("/response") and len(body) > MAX_PAYLOAD:
            self.outcomes.put(
                Outcome.error(
                    "Function.ResponseSizeTooLarge",
                    "Response payload size exceeded maximum allowed payload size "
                    f"({MAX_PAYLOAD} bytes).",
                )
            )
        else:
            # The other paths are invocation/{id}/error and init/error.
            self.broken = self.broken or path.endswith("/init/error")
            self.outcomes.put(Outcome(body, failed=not path.endswith("/response")))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                invocation = api._next()
                if invocation is None:
                    self.close_connection = True
                    return
                self._answer(200, invocation.headers(), invocation.event)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                # Answered first: the environment may be ended as soon as its outcome is known.
                self._answer(202, {"Content-Length": "2"}, b"{}")
                api._settle(self.path, body)

            def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - inherited name
                """Every invocation would be three lines on standard error."""

        return Handler
