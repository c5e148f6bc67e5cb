"""
The workers' AWS clients: real boto3, answered in this process.

DynamoDB and S3 are moto's, Step Functions is the walked state machine: both answer where boto3
would send a request, so that each attempt of a call can meet a fault, and be repeated. Bedrock is
the simulator under simulated time, which has retries of its own and answers below boto3's parameter
validation. Every call takes its time, so that workers come between each other's calls, and may be a
worker's last.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from random import Random
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

import boto3
import pytest
from botocore import xform_name
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ClientError, ConnectionClosedError
from greenlet import getcurrent, greenlet
from moto import mock_aws
from moto.core.botocore_stubber import MockRawResponse
from moto.core.models import botocore_stubber
from moto.dynamodb.models import dynamodb_backends
from moto.s3.models import s3_backends

from bedrock_kb_simulator.faults import AFTER_THE_EFFECT, Kind
from simulated_time.account import Account
from simulated_time.executions import (
    ExecutionAlreadyExists,
    TaskDoesNotExist,
    TaskTimedOut,
)
from simulated_time.hub import Task
from simulated_time.workflow import Workflow
from stackroom.aws import session
from tests.aws.stores import ENVIRONMENT
from tests.campaigns.chaos.disruptions import Disruptions
from tests.campaigns.chaos.kills import Kills

Answer = dict[str, Any]
_SIMULATED = ("bedrock-agent", "bedrock-agent-runtime", "s3vectors")
_REFUSED = 0.05  # of the entries of PutEvents
_STORE_CALL = 0.008  # seconds, of DynamoDB, S3 and Step Functions


class Wire:
    """The clients, made once, for they are slow to make; `line` is the present world's."""

    def __init__(self) -> None:
        self.line: AccountLine | None = None
        self.client = cache(self._client)
        # What each task's present call asks for: an attempt is told bytes only.
        self._given: WeakKeyDictionary[greenlet, Answer] = WeakKeyDictionary()

    def _client(self, service: str) -> Any:
        client: Any = boto3.client(service, config=session.CONFIG)  # type: ignore[call-overload]
        events = client.meta.events
        events.register("before-parameter-build", _note)
        events.register("before-call", partial(self._before, service))
        events.unregister("before-send", botocore_stubber)  # we ask it when it is its turn
        events.register("before-send", partial(self._send, service))
        events.register("after-call", self._after)
        return client

    def _before(self, service: str, model: Any, context: Answer, **_: Any) -> Any:
        assert self.line is not None, "there is a world"
        self._given[getcurrent()] = context["asked"]
        self.line.before(service, model.name)
        answered = self.line.answer(service, model.name, context["asked"])
        if answered is None:
            return None
        status, answer = answered
        return SimpleNamespace(status_code=status), answer

    def _send(self, service: str, event_name: str, request: Any, **_: Any) -> AWSResponse:
        assert self.line is not None, "there is a world"
        operation = event_name.rpartition(".")[2]

        def carry_out() -> AWSResponse:
            answer = botocore_stubber(event_name=event_name, request=request)
            assert answer is not None, f"moto has no {service}"
            return answer

        return self.line.send(service, operation, self._given[getcurrent()], carry_out)

    def _after(self, **_: Any) -> None:
        assert self.line is not None, "there is a world"
        self.line.after()


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
    """Empty all stores, as `mock_aws` does at its start."""
    for backends in (dynamodb_backends, s3_backends):
        for account in backends.values():
            for backend in account.values():
                backend.reset()


@dataclass
class Outbox:
    """Entries received by EventBridge and the queue of webhooks; some are refused by chance."""

    chance: Random = field(default_factory=Random)
    refused: int = 0
    events: list[str] = field(default_factory=list)
    messages: list[Answer] = field(default_factory=list)
    _known: set[str] = field(default_factory=set)

    def take(self, operation: str, given: Answer) -> Answer:
        match operation:
            case "PutEvents":
                entries = [self._entry(each) for each in given["Entries"]]
                failed = sum("ErrorCode" in each for each in entries)
                return {"FailedEntryCount": failed, "Entries": entries}
            case "SendMessage":
                # Of a FIFO queue: what is sent again within five minutes is there once.
                if given["MessageDeduplicationId"] not in self._known:
                    self._known.add(given["MessageDeduplicationId"])
                    self.messages.append(json.loads(given["MessageBody"])["event"])
                return {"MessageId": "1"}
        raise AssertionError(f"nobody tells anything by {operation}")

    def _entry(self, given: Answer) -> Answer:
        if self.chance.random() < _REFUSED:
            self.refused += 1
            return {"ErrorCode": "InternalFailure", "ErrorMessage": "try again"}
        self.events.append(json.loads(given["Detail"])["event_id"])
        return {"EventId": "1"}


@dataclass
class AccountLine:
    """
    One world's answers to calls; `happened` is called for each object put or deleted, and `read` is
    sent the files that the reconciler asks to have read.
    """

    account: Account
    workflow: Callable[[], Workflow]
    kills: Kills
    disruptions: Disruptions
    happened: Callable[[str, str], None]
    read: Callable[[str], None]
    outbox: Outbox = field(default_factory=Outbox)

    def before(self, service: str, operation: str) -> None:
        self.kills.before(f"{service}.{operation}")
        if service not in _SIMULATED and isinstance(getcurrent(), Task):
            self.account.pace.spend(_STORE_CALL)

    def answer(self, service: str, operation: str, given: Answer) -> tuple[int, Answer] | None:
        """Return the answer to a call that is not sent, if there is one."""
        return self._bedrock(service, operation, given) if service in _SIMULATED else None

    def send(
        self, service: str, operation: str, given: Answer, carry_out: Callable[[], AWSResponse]
    ) -> AWSResponse:
        """One attempt, as its sender sees it."""
        # Only workers' calls go astray, not those of who sets a world up, or looks at it.
        fault = self.disruptions.met(f"{service}.{operation}") if self.kills.at_work else None
        if fault is not None and fault.kind is Kind.LATENCY:
            self.account.pace.spend(fault.seconds)
        elif fault is not None and fault.kind not in AFTER_THE_EFFECT:
            return _passing(service, fault.kind)
        if service == "stepfunctions":
            answer = _response(*_steps(self.workflow(), operation, given))
        elif operation == "SendMessageBatch":
            answer = _response(200, self._readings(given["Entries"]))
        elif service in ("events", "sqs"):
            answer = _response(200, self.outbox.take(operation, given))
        else:
            answer = carry_out()
        if service == "s3" and answer.status_code < 300:
            for kind, key in _happenings(operation, given):
                self.happened(kind, key)
        if fault is not None and fault.kind is Kind.DROPPED:
            raise ConnectionClosedError(endpoint_url=service)
        return _passing(service, Kind.UNAVAILABLE) if fault and fault.kind is Kind.LOST else answer

    def after(self) -> None:
        self.kills.after()

    def _readings(self, entries: list[Answer]) -> Answer:
        for each in entries:
            self.read(each["MessageBody"])
        taken = [{"Id": each["Id"], "MessageId": "1", "MD5OfMessageBody": ""} for each in entries]
        return {"Successful": taken, "Failed": []}

    def _bedrock(self, service: str, operation: str, given: Answer) -> tuple[int, Answer]:
        call = getattr(self.account.client(service), xform_name(operation))
        try:
            return 200, call(**given)
        except ClientError as error:
            return error.response["ResponseMetadata"]["HTTPStatusCode"], dict(error.response)


def _happenings(operation: str, given: Answer) -> list[tuple[str, str]]:
    match operation:
        case "PutObject":
            return [("Object Created", given["Key"])]
        case "DeleteObject":
            return [("Object Deleted", given["Key"])]
        case "DeleteObjects":
            return [("Object Deleted", each["Key"]) for each in given["Delete"]["Objects"]]
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
    return 400, {"__type": code, "message": code}


def _passing(service: str, kind: Kind) -> AWSResponse:
    """Return the service's own answer for throttling or an outage."""
    throttled = kind is Kind.THROTTLE
    if service == "s3":
        code = "SlowDown" if throttled else "InternalError"
        body = f"<Error><Code>{code}</Code><Message>{code}</Message></Error>"
        return _raw(503 if throttled else 500, body)
    code = "ThrottlingException" if throttled else "InternalServerError"
    return _response(400 if throttled else 500, {"__type": code, "message": code})


def _response(status: int, answer: Answer) -> AWSResponse:
    return _raw(status, json.dumps(answer))


def _raw(status: int, body: str) -> AWSResponse:
    return AWSResponse("https://aws", status, HTTPHeaders(), MockRawResponse(body))
