"""
Lambda functions as processes: warm environments are reused, dead and stuck ones replaced.

Each environment runs awslambdaric, AWS's runtime client, so handlers see the same context, error
types and marshalling as on AWS.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from stackroom_local.function_processes.aws_call_recorder import VARIABLE
from stackroom_local.gateway.gateway_configuration import FunctionConfiguration

# The Lambda Runtime API, as far as a runtime client needs it: one listener per environment.
#
# https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html The address is all a runtime
# client is told, so every environment gets a port of its own.

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
class InvocationOutcome:
    """The result of an invocation: the function's JSON, or an error object in its place."""

    payload: bytes
    failed: bool = False

    @classmethod
    def error(cls, error_type: str, message: str) -> "InvocationOutcome":
        document = {"errorType": error_type, "errorMessage": message}
        return cls(json.dumps(document).encode(), failed=True)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore broken connections of a killed process, whose end is reported as its outcome."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class RuntimeApi:
    """
    Hands invocations to one runtime and receives their outcomes.

    `ready` is set when the runtime first asks for work, once its handler is imported; `broken` when
    the import failed and the runtime is about to exit.
    """

    def __init__(self) -> None:
        self.ready = threading.Event()
        self.broken = False
        self.outcomes: queue.Queue[InvocationOutcome] = queue.Queue()
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
                InvocationOutcome.error(
                    "Function.ResponseSizeTooLarge",
                    "Response payload size exceeded maximum allowed payload size "
                    f"({MAX_PAYLOAD} bytes).",
                )
            )
        else:
            # The other paths are invocation/{id}/error and init/error.
            self.broken = self.broken or path.endswith("/init/error")
            self.outcomes.put(InvocationOutcome(body, failed=not path.endswith("/response")))

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
                """Log nothing: every invocation would be three lines on standard error."""

        return Handler


# AWS gives initialisation 10 s; a busy laptop importing for the first time may need longer, and a
# slow machine is no fault of the function.
_INIT_SECONDS = 60.0
_ACCOUNT = "000000000000"
_INHERITED = ("PATH", "HOME", VARIABLE)


class Environment:
    """One execution environment: it serves one invocation at a time."""

    def __init__(self, function: FunctionConfiguration, task_root: Path, log: Path) -> None:
        self._api = RuntimeApi()
        with log.open("ab") as output:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
                [
                    sys.executable,
                    "-m",
                    "stackroom_local.function_processes.gateway_function",
                    function.handler,
                ],
                cwd=task_root,
                env=_variables(function, task_root, self._api.address),
                stdin=subprocess.PIPE,  # ends it when we die, which closes this
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that what a handler started ends with it
            )
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None and not self._api.broken

    def invoke(self, invocation: Invocation) -> InvocationOutcome:
        self._api.submit(invocation)
        if not self._api.ready.wait(_INIT_SECONDS):
            self.stop()
            return _timed_out(invocation, _INIT_SECONDS)
        try:
            return self._api.outcomes.get(timeout=invocation.timeout_seconds)
        except queue.Empty:
            self.stop()
            return _timed_out(invocation, invocation.timeout_seconds)

    def stop(self) -> None:
        if self._process.poll() is None:  # else its id may be someone else's by now
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        assert self._process.stdin is not None, "standard input is a pipe"
        self._process.stdin.close()
        self._api.close()

    def _watch(self) -> None:
        """Answer the invocation that an exit interrupts; a failed start has answered already."""
        code = self._process.wait()
        status = f"signal: {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        self._api.outcomes.put(
            InvocationOutcome.error("Runtime.ExitError", f"Runtime exited with error: {status}")
        )
        self._api.ready.set()


class LambdaFunction:
    """A function and its environments; `invoke` may be called from many threads."""

    def __init__(
        self, configuration: FunctionConfiguration, *, task_root: Path, logs: Path
    ) -> None:
        self._configuration = configuration
        self._task_root = task_root
        logs.mkdir(parents=True, exist_ok=True)
        self._log = logs / f"{configuration.name}.log"
        self._slots = threading.BoundedSemaphore(configuration.max_environments)
        self._idle: list[Environment] = []
        self._busy: set[Environment] = set()
        self._lock = threading.Lock()
        self._closed = False

    def invoke(self, event: bytes, *, client_context: str | None = None) -> InvocationOutcome:
        invocation = Invocation(
            event=event,
            function_arn=self._arn,
            timeout_seconds=self._configuration.timeout_seconds,
            client_context=client_context,
        )
        with self._slots:
            environment = self._take()
            if environment is None:
                return InvocationOutcome.error("Runtime.ExitError", "the gateway is stopping")
            try:
                return environment.invoke(invocation)
            finally:
                self._give_back(environment)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            environments = [*self._idle, *self._busy]
            self._idle.clear()
        for environment in environments:
            environment.stop()

    @property
    def _arn(self) -> str:
        region = self._configuration.environment.get("AWS_REGION", "us-east-1")
        return f"arn:aws:lambda:{region}:{_ACCOUNT}:function:{self._configuration.name}"

    def _take(self) -> Environment | None:
        """
        Return a free environment, or None once the function is closed, even to those that already
        wait.
        """
        dead = []
        with self._lock:
            if self._closed:
                return None
            while self._idle and not self._idle[-1].alive:
                dead.append(self._idle.pop())
            environment = (
                self._idle.pop()
                if self._idle
                else Environment(self._configuration, self._task_root, self._log)
            )
            self._busy.add(environment)
        for corpse in dead:
            corpse.stop()
        return environment

    def _give_back(self, environment: Environment) -> None:
        with self._lock:
            self._busy.discard(environment)
            if environment.alive and not self._closed:
                self._idle.append(environment)
                return
        environment.stop()


def _variables(function: FunctionConfiguration, task_root: Path, api: str) -> dict[str, str]:
    """Return a function's environment on AWS; only `_INHERITED` comes from our own."""
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {
        **inherited,
        "LANG": "C.UTF-8",
        "TZ": ":UTC",
        "PYTHONPATH": os.pathsep.join((str(task_root), str(task_root / "src"))),
        "LAMBDA_TASK_ROOT": str(task_root),
        "AWS_EXECUTION_ENV": "AWS_Lambda_python3.13",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory),
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": "local",
        "_HANDLER": function.handler,
        **function.environment,
        "AWS_LAMBDA_RUNTIME_API": api,
    }


def _timed_out(invocation: Invocation, seconds: float) -> InvocationOutcome:
    # Wording: https://docs.aws.amazon.com/lambda/latest/dg/troubleshooting-invocation.html
    message = f"{invocation.id} Task timed out after {seconds:.2f} seconds"
    return InvocationOutcome.error("Sandbox.Timedout", message)
