"""
Lambda functions as processes: warm environments are reused, dead and stuck ones replaced.

Each environment runs awslambdaric, AWS's runtime client, so that handlers meet the context, the
error types and the marshalling they meet on AWS.
"""

import os
import queue
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from stackroom_local.gateway.configuration import FunctionConfiguration
from stackroom_local.gateway.runtime_api import Invocation, Outcome, RuntimeApi
from stackroom_local.recording import VARIABLE

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
                [sys.executable, "-m", "stackroom_local.gateway.bootstrap", function.handler],
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

    def invoke(self, invocation: Invocation) -> Outcome:
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
            Outcome.error("Runtime.ExitError", f"Runtime exited with error: {status}")
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

    def invoke(self, event: bytes, *, client_context: str | None = None) -> Outcome:
        invocation = Invocation(
            event=event,
            function_arn=self._arn,
            timeout_seconds=self._configuration.timeout_seconds,
            client_context=client_context,
        )
        with self._slots:
            environment = self._take()
            if environment is None:
                return Outcome.error("Runtime.ExitError", "the gateway is stopping")
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
        """None once it is closed: those that waited for a place find none."""
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
    """What a function finds on AWS; of what we were started with, nothing but `_INHERITED`."""
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


def _timed_out(invocation: Invocation, seconds: float) -> Outcome:
    # Wording: https://docs.aws.amazon.com/lambda/latest/dg/troubleshooting-invocation.html
    message = f"{invocation.id} Task timed out after {seconds:.2f} seconds"
    return Outcome.error("Sandbox.Timedout", message)
