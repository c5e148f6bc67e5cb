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
from functools import cache, partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from moto.awslambda_simple.models import LambdaSimpleBackend
from moto.core.exceptions import JsonRESTError
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils
from moto.stepfunctions.parser.asl.component.state.exec.state_task.state_task import StateTask
from moto.stepfunctions.parser.asl.eval.callback.callback import (
    CallbackConsumerTimeout,
    CallbackOutcomeSuccess,
)
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.parse.asl_parser import AmazonStateLanguageParser
from moto.stepfunctions.parser.asl.utils.boto_client import boto_client_for
from moto.stepfunctions.parser.backend.execution_worker import ExecutionWorker

from tests.workflow.functions import Functions

ENDPOINT = os.environ.get("STACKROOM_SFN_ENDPOINT")
LAMBDA_PORT = int(os.environ.get("STACKROOM_LAMBDA_PORT", "9101"))
_INVOKE = re.compile(r"/2015-03-31/functions/(?P<name>[^/]+)/invocations")


# Half a second for a machine of this size, and asked for at each start; what it answers is
# immutable, an execution keeps its state elsewhere.
_parsed = cache(AmazonStateLanguageParser.parse)
_start: Any = ExecutionWorker.start
_attempt: Any = StateTask._evaluate_with_timeout
_set_stop: Any = Environment.set_stop
_lambda = cache(partial(boto_client_for, service="lambda"))  # moto makes one for each invocation


@contextmanager
def calling(functions: Functions) -> Iterator[None]:
    """Lets the engine's Lambda tasks call these functions."""
    with _over_http(functions) if ENDPOINT else _in_moto(functions):
        yield


@contextmanager
def _in_moto(functions: Functions) -> Iterator[None]:
    def invoke(_: object, function_name: str, *request: Any) -> bytes:
        _qualifier, body, _headers, response_headers = request
        reply = functions.invoke(_bare(function_name), json.loads(body))
        if reply.refusal:
            raise JsonRESTError(reply.refusal, "as the test will have it")
        if reply.function_error:
            response_headers["x-amz-function-error"] = "Unhandled"
        return json.dumps(reply.payload).encode()

    def client(region: str, **_: object) -> Any:
        return _lambda(region)

    def start(worker: ExecutionWorker) -> None:
        # SendTaskSuccess asks every execution, and fails over one whose thread has yet to begin.
        worker.env = worker._get_evaluation_environment()
        _start(worker)

    def attempt(state: StateTask, environment: Environment) -> None:
        # With a token of its own, which is void once it is over. moto keeps one for all retries.
        if "Task" not in environment.states.context_object.context_object_data:
            _attempt(state, environment)
            return
        tokens = environment.callback_pool_manager
        endpoint = tokens.add(environment.states.context_object.update_task_token())
        try:
            _attempt(state, environment)
        finally:
            endpoint.report(CallbackConsumerTimeout())

    def set_stop(environment: Environment, **how: Any) -> None:
        # Else an execution that waits for its token is not aborted before its task times out.
        _set_stop(environment, **how)
        for token, endpoint in environment.callback_pool_manager._pool.items():
            endpoint.notify(CallbackOutcomeSuccess(callback_id=token, output="{}"))

    # Retries are waited for with time.sleep, a second at least.
    at_once = SimpleNamespace(sleep=lambda _: None)
    with (
        patch.object(LambdaSimpleBackend, "invoke", invoke),
        patch.object(retrier_decl, "time", at_once),
        patch.object(lambda_eval_utils, "boto_client_for", client),
        patch.object(AmazonStateLanguageParser, "parse", staticmethod(_parsed)),
        patch.object(ExecutionWorker, "start", start),
        patch.object(StateTask, "_evaluate_with_timeout", attempt),
        patch.object(Environment, "set_stop", set_stop),
    ):
        yield


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
