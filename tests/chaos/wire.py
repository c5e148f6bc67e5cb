"""
The workers' AWS clients: real boto3, answered in this process.

DynamoDB and S3 are moto's. Bedrock is the simulator under simulated time, Step Functions the walked
state machine; both answer below boto3's parameter validation and above its transport. Every call
takes its time, so that workers come between each other's calls, and may be a worker's last.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, Protocol

import boto3
import pytest
from botocore import xform_name
from botocore.exceptions import ClientError
from greenlet import getcurrent
from moto import mock_aws
from moto.dynamodb.models import dynamodb_backends
from moto.s3.models import s3_backends

from benchmarks.simulated_time.account import Account
from benchmarks.simulated_time.executions import (
    ExecutionAlreadyExists,
    TaskDoesNotExist,
    TaskTimedOut,
)
from benchmarks.simulated_time.hub import Task
from benchmarks.simulated_time.workflow import Workflow
from tests.aws.stores import ENVIRONMENT
from tests.chaos.kills import Kills

Answer = dict[str, Any]
_SIMULATED = ("bedrock-agent", "bedrock-agent-runtime")
_STORE_CALL = 0.008  # seconds, of DynamoDB, S3 and Step Functions


class Line(Protocol):
    """What one world does about a call."""

    def before(self, service: str, operation: str) -> None: ...

    def answer(self, service: str, operation: str, given: Answer) -> tuple[int, Answer] | None: ...

    def after(self, service: str, operation: str, given: Answer) -> None: ...


class Wire:
    """The clients, made once, for they are slow to make; `line` is the present world's."""

    def __init__(self) -> None:
        self.line: Line | None = None
        self.client = cache(self._client)

    def _client(self, service: str) -> Any:
        client: Any = boto3.client(service)  # type: ignore[call-overload]
        events = client.meta.events
        events.register("before-parameter-build", _note)
        events.register("before-call", partial(self._before, service))
        events.register("after-call", partial(self._after, service))
        return client

    def _before(self, service: str, model: Any, context: Answer, **_: Any) -> Any:
        assert self.line is not None, "there is a world"
        self.line.before(service, model.name)
        answered = self.line.answer(service, model.name, context["asked"])
        if answered is None:
            return None
        status, answer = answered
        return SimpleNamespace(status_code=status), answer

    def _after(
        self, service: str, http_response: Any, model: Any, context: Answer, **_: Any
    ) -> None:
        assert self.line is not None, "there is a world"
        if http_response.status_code < 300:
            self.line.after(service, model.name, context["asked"])
        else:
            self.line.after(service, model.name, {})


def _note(params: Answer, context: Answer, **_: Any) -> None:
    context["asked"] = params


@contextmanager
def wired() -> Iterator[Wire]:
    """Nothing in here reaches AWS."""
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        yield Wire()


def clear_stores() -> None:
    """As `mock_aws` has them at its start."""
    for backends in (dynamodb_backends, s3_backends):
        for account in backends.values():
            for backend in account.values():
                backend.reset()


@dataclass
class AccountLine:
    """`happened` is told of each object put or deleted."""

    account: Account
    workflow: Callable[[], Workflow]
    kills: Kills
    happened: Callable[[str, str], None]

    def before(self, service: str, operation: str) -> None:
        self.kills.before(f"{service}.{operation}")
        if service not in _SIMULATED and isinstance(getcurrent(), Task):
            self.account.pace.spend(_STORE_CALL)

    def answer(self, service: str, operation: str, given: Answer) -> tuple[int, Answer] | None:
        if service in _SIMULATED:
            return self._bedrock(service, operation, given)
        if service == "stepfunctions":
            return _steps(self.workflow(), operation, given)
        return None

    def after(self, service: str, operation: str, given: Answer) -> None:
        if service == "s3":
            for kind, key in _happenings(operation, given):
                self.happened(kind, key)
        self.kills.after()

    def _bedrock(self, service: str, operation: str, given: Answer) -> tuple[int, Answer]:
        call = getattr(self.account.client(service), xform_name(operation))
        try:
            return 200, call(**given)
        except ClientError as error:
            return error.response["ResponseMetadata"]["HTTPStatusCode"], dict(error.response)


def _happenings(operation: str, given: Answer) -> list[tuple[str, str]]:
    match operation:
        case "PutObject":
            return [("Object Created", given["Key"])] if given else []
        case "DeleteObject":
            return [("Object Deleted", given["Key"])] if given else []
        case "DeleteObjects":
            named = given.get("Delete", {}).get("Objects", [])
            return [("Object Deleted", each["Key"]) for each in named]
    return []


def _steps(workflow: Workflow, operation: str, given: Answer) -> tuple[int, Answer]:
    try:
        match operation:
            case "StartExecution":
                workflow.start(given["name"], json.loads(given["input"]))
            case "DescribeExecution":
                found = workflow.describe(given["executionArn"].rpartition(":")[2])
                if found is None:
                    return _refused("ExecutionDoesNotExist")
                return 200, {"status": found.status}
            case "SendTaskSuccess":
                workflow.turns.succeed(given["taskToken"], json.loads(given["output"]))
            case _:
                raise AssertionError(f"no worker calls {operation}")
    except (ExecutionAlreadyExists, TaskDoesNotExist, TaskTimedOut) as error:
        return _refused(type(error).__name__)
    return 200, {}


def _refused(code: str) -> tuple[int, Answer]:
    return 400, {"Error": {"Code": code, "Message": code}, "ResponseMetadata": {}}
