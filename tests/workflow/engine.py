"""
The Step Functions that runs the machine: moto's interpreter in this process.

It is mended here, the one place that knows it from inside. Everything else goes by moto's public
interface (`mock_aws` with its settings, boto3's clients). It has none for these, which are looked
for anew whenever moto is updated:

| name of moto's | what for |
| --- | --- |
| `retrier_decl.time` | a retry is waited for with time.sleep, a second at least |
| `AmazonStateLanguageParser.parse` | takes half a second for this machine, at each start |
| `ExecutionWorker.start` | SendTaskSuccess fails over an execution whose thread has yet to begin |
| `StateTask._evaluate_with_timeout` | all retries of a task have one token, which outlives them |
| `Environment.set_stop` | an aborted execution waits for its token until the task times out |

The last three are where moto differs from AWS.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from types import SimpleNamespace
from typing import Any, Protocol
from unittest.mock import patch

import boto3
from botocore.config import Config
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.exec.state_task.state_task import StateTask
from moto.stepfunctions.parser.asl.eval.callback.callback import (
    CallbackConsumerTimeout,
    CallbackOutcomeSuccess,
)
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.parse.asl_parser import AmazonStateLanguageParser
from moto.stepfunctions.parser.backend.execution_worker import ExecutionWorker

from bedrock_kb_simulator.service_errors import ServiceError
from tests.workflow.answering import Members, answered
from tests.workflow.functions import Payload, Reply


class Invoked(Protocol):
    """Functions, as Lambda has them."""

    def invoke(self, name: str, event: Payload) -> Reply: ...


# What it answers is immutable, an execution keeps its state elsewhere.
_parsed = cache(AmazonStateLanguageParser.parse)
_start: Any = ExecutionWorker.start
_attempt: Any = StateTask._evaluate_with_timeout
_set_stop: Any = Environment.set_stop


@contextmanager
def mended() -> Iterator[None]:
    """In here, retries come at once and tokens live as long as AWS's."""
    with (
        patch.object(retrier_decl, "time", SimpleNamespace(sleep=lambda _: None)),
        patch.object(AmazonStateLanguageParser, "parse", staticmethod(_parsed)),
        patch.object(ExecutionWorker, "start", _start_ready),
        patch.object(StateTask, "_evaluate_with_timeout", _attempt_with_token),
        patch.object(Environment, "set_stop", _set_stop_for_all),
    ):
        yield


def _start_ready(worker: ExecutionWorker) -> None:
    # SendTaskSuccess asks every execution for its environment.
    worker.env = worker._get_evaluation_environment()
    _start(worker)


def _attempt_with_token(state: StateTask, environment: Environment) -> None:
    """Run the task with a token of its own, which is void afterwards."""
    if "Task" not in environment.states.context_object.context_object_data:
        _attempt(state, environment)
        return
    tokens = environment.callback_pool_manager
    endpoint = tokens.add(environment.states.context_object.update_task_token())
    try:
        _attempt(state, environment)
    finally:
        endpoint.report(CallbackConsumerTimeout())


def _set_stop_for_all(environment: Environment, **how: Any) -> None:
    """Whoever waits for a token is woken, to find that the execution is over."""
    _set_stop(environment, **how)
    for token, endpoint in environment.callback_pool_manager._pool.items():
        endpoint.notify(CallbackOutcomeSuccess(callback_id=token, output="{}"))


@contextmanager
def calling(functions: Invoked) -> Iterator[None]:
    """Lets moto's Lambda tasks call these functions."""

    def invoke(_: object, asked: Members) -> Members:
        reply = functions.invoke(bare(asked["FunctionName"]), json.loads(asked["Payload"]))
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


def bare(function: str) -> str:
    """Its name, from its ARN, which may be quoted."""
    return function.replace("%3A", ":").rpartition(":")[2]
