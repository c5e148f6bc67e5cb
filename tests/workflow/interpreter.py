"""
moto's interpreter of the States Language, mended: the one place that knows moto from inside.

Everything else goes by moto's public interface (`mock_aws` with its settings, boto3's clients). It
has none for these, which are looked for anew whenever moto is updated:

| name of moto's | what for |
| --- | --- |
| `retrier_decl.time` | a retry is waited for with time.sleep, a second at least |
| `AmazonStateLanguageParser.parse` | takes half a second for this machine, at each start |
| `ExecutionWorker.start` | SendTaskSuccess fails over an execution whose thread has yet to begin |
| `StateTask._evaluate_with_timeout` | all retries of a task have one token, which outlives them |
| `Environment.set_stop` | an aborted execution waits for its token until the task times out |

The last three are where moto differs from AWS.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.exec.state_task.state_task import StateTask
from moto.stepfunctions.parser.asl.eval.callback.callback import (
    CallbackConsumerTimeout,
    CallbackOutcomeSuccess,
)
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.parse.asl_parser import AmazonStateLanguageParser
from moto.stepfunctions.parser.backend.execution_worker import ExecutionWorker

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
    """With a token of its own, which is void once it is over."""
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
