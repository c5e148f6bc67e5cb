"""
The state machine on three engines: the same states, the same calls, the same end.

They are moto's interpreter, on which tests/workflow runs; ministack's, on which the local mode
does; and the walk under simulated time, on which chaos and the benchmarks do. The ways are found in
the definition.
"""

import json
import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import boto3
import pytest
from ministack.services import stepfunctions as ministack
from moto import mock_aws

from benchmarks.simulated_time import functions as simulated
from benchmarks.simulated_time.bill import Bill
from benchmarks.simulated_time.definition import definition_of
from benchmarks.simulated_time.hub import Hub
from benchmarks.simulated_time.workflow import Workflow
from tests.workflow.conftest import MOTO, ROLE
from tests.workflow.engine import Invoked, bare, calling
from tests.workflow.functions import Payload, Reply
from tests.workflow.machine import Machine, definition
from tests.workflow.step_functions_local import LAMBDA_PORT, answering_invocations
from tests.workflow.ways import Step, Ways

ACCOUNT = ROLE.split(":")[4]
INPUT: Payload = {"worklist_id": "cat-1", "epoch": 3, "progress": {"delay": 0, "wait_seconds": 0}}
WAYS = Ways(json.loads(definition()), INPUT)
HERE = [each for each in WAYS.steps if each.decides and WAYS.over(each, avoiding=WAYS.waiting)]
# What only a token leads on from.
BEYOND = {"AdmitIngestion"}


@dataclass(frozen=True)
class Told:
    """Whoever has the task token answers it, or fails with the error."""

    error: str | None = None


def fails(error: str, *, times: int = 1) -> list[Reply]:
    payload = {"errorType": error, "errorMessage": "as the script has it"}
    return [Reply(payload=payload, function_error=True)] * times


def says(*outcomes: str) -> list[Reply]:
    progress = INPUT["progress"]
    return [Reply(payload={**INPUT, "progress": {**progress, "outcome": e}}) for e in outcomes]


# By retries, and by tokens.
SCRIPTS: Mapping[str, Sequence[Reply | Told]] = {
    "retries": [
        *fails("RecordChanged"),
        *fails("Sandbox.Timedout"),
        *says("ready"),
        *fails("StoreUnavailable"),
        *says("started"),
        *fails("KnowledgeBaseThrottled", times=3),
        *says("settled", "released"),
    ],
    "retries that run out": [
        *says("ready"),
        *fails("StoreUnavailable", times=7),
        *says("recorded"),
    ],
    "a failure that can't be recorded": [
        *says("ready", "started"),
        *fails("AssertionError"),
        *fails("RecordChanged"),
        *fails("AssertionError"),
    ],
    "queued": [*says("ready", "queued"), Told(), *says("started", "settled", "released")],
    "a turn that fails": [
        *says("ready", "queued"),
        Told("StoreUnavailable"),
        Told("Odd"),
        *says("recorded"),
    ],
    "a queue that can't be entered": [
        *says("ready", "queued"),
        *fails("StoreUnavailable"),
        *fails("RunSuperseded"),
    ],
}
# Whose invocation fails waits there for its token all the same.
UNKNOWN_TO_MINISTACK = {"a queue that can't be entered"}


@dataclass
class Scripted:
    """Functions that answer in order, whoever is called; `tell` is what a token is for."""

    answers: deque[Reply | Told]
    tell: Callable[[str, str | None], object]
    events: list[Payload] = field(default_factory=list)

    def invoke(self, name: str, event: Payload) -> Reply:
        # Tokens are each engine's own, and so is the form of an error.
        self.events.append({"function": name, **event, "token": None, "error": None})
        answer = self.answers.popleft()
        if isinstance(answer, Reply):
            return answer
        self.tell(event["token"], answer.error)
        return Reply()


@dataclass(frozen=True, kw_only=True)
class Went:
    """How an execution went: line by line, with what functions got."""

    lines: list[tuple[str, str, Any]]
    status: str
    error: str | None
    output: Any
    events: list[Payload]

    @property
    def states(self) -> list[str]:
        return [state for what, state, _ in self.lines if what == "entered"]


def strictly(answers: Sequence[Reply | Told]) -> Went:
    """By moto's interpreter."""
    return _executed(answers, calling, _client())


def by_wire(answers: Sequence[Reply | Told], *, endpoint: str, port: int = LAMBDA_PORT) -> Went:
    """By the engine at that endpoint, whose functions are answered at that port."""
    return _executed(answers, partial(answering_invocations, port=port), _client(endpoint))


def _client(endpoint: str | None = None) -> Any:
    return boto3.client(
        "stepfunctions",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=ACCOUNT,
        aws_secret_access_key="none",
    )


def _executed(
    answers: Sequence[Reply | Told],
    calling: Callable[[Invoked], AbstractContextManager[None]],
    client: Any,
) -> Went:
    def tell(token: str, error: str | None) -> None:
        if error is None:
            client.send_task_success(taskToken=token, output="{}")
        else:
            client.send_task_failure(taskToken=token, error=error, cause="as the script says")

    functions = Scripted(deque(answers), tell)
    made = client.create_state_machine(name=uuid4().hex, definition=definition(), roleArn=ROLE)
    machine = Machine(client=client, arn=made["stateMachineArn"])
    with calling(functions):
        arn = client.start_execution(
            stateMachineArn=machine.arn, name="way", input=json.dumps(INPUT)
        )["executionArn"]
        machine.await_end("way")
    return _went(client.describe_execution(executionArn=arn), machine.events(arn), functions)


def locally(answers: Sequence[Reply | Told]) -> Went:
    """By ministack's interpreter, without its server, its functions and its waits."""

    def tell(token: str, error: str | None) -> None:
        told = {"taskToken": token, "output": "{}", "error": error}
        if error is None:
            ministack._send_task_success(told)
        else:
            ministack._send_task_failure(told)

    functions = Scripted(deque(answers), tell)

    def call(function: str, event: Payload) -> object:
        reply = functions.invoke(bare(function), event)
        payload: Any = reply.payload
        if reply.function_error:
            raise ministack._ExecutionError(payload["errorType"], payload["errorMessage"])
        return payload

    name = uuid4().hex
    execution: dict[str, Any] = {
        "executionArn": name,
        "stateMachineArn": name,
        "name": "way",
        "startDate": "today",
        "status": "RUNNING",
        "input": json.dumps(INPUT),
        "events": [],
    }
    ministack._state_machines[name] = {"name": name, "definition": definition()}
    ministack._executions[name] = execution
    with (
        patch.object(ministack, "_call_lambda", call),
        patch.object(ministack, "get_account_id", lambda: ACCOUNT),
        patch.object(ministack, "_emit_execution_status_event"),
        patch.object(ministack, "time", SimpleNamespace(sleep=lambda _: None)),
    ):
        ministack._run_execution(name)
    return _went(execution, execution["events"], functions)


def _went(found: Any, events: list[dict[str, Any]], functions: Scripted) -> Went:
    return Went(
        lines=list(_lines(events)),
        status=found["status"],
        error=found.get("error"),
        output=_plain(json.loads(found["output"])) if found["status"] == "SUCCEEDED" else None,
        events=functions.events,
    )


def walked(answers: Sequence[Reply | Told]) -> tuple[Went, int]:
    """By our own walk; also how many transitions it counts."""
    hub, bill = Hub(), Bill()
    functions = simulated.Functions(hub, bill)
    workflow = Workflow(
        hub=hub,
        bill=bill,
        functions=functions,
        definition=definition_of(definition(), {}),
        chance=random.Random(0),
        keeps_histories=True,
    )

    def tell(token: str, error: str | None) -> None:
        if error is None:
            workflow.turns.succeed(token, {})
        else:
            workflow.turns.fail(token, error, "as the script says")

    scripted = Scripted(deque(answers), tell)

    def handler(name: str) -> Callable[[Any], Any]:
        def handle(event: Payload) -> Any:
            reply = scripted.invoke(name, event)
            payload: Any = reply.payload
            if reply.function_error:
                raise type(payload["errorType"], (Exception,), {})("as the script has it")
            return payload

        return handle

    for name in ("ingest", "status_poller"):
        function = simulated.Function(name=name, memory=512, timeout=120, handler=handler(name))
        functions.add(function)
    execution = workflow.start("way", INPUT)
    hub.run()
    went = Went(
        lines=[(each.what, each.state, _plain(each.value)) for each in execution.history],
        status=execution.status,
        error=execution.error,
        output=_plain(execution.output),
        events=scripted.events,
    )
    return went, execution.transitions


@pytest.fixture(autouse=True)
def aws() -> Iterator[None]:
    with mock_aws(config=MOTO):
        yield


@pytest.mark.parametrize("step", HERE, ids=str)
def test_a_way_leads_over_the_same_states_to_the_same_end(step: Step) -> None:
    way = WAYS.over(step, avoiding=WAYS.waiting)
    assert way is not None

    strict, local, (walk, transitions) = (
        strictly(way.replies),
        locally(way.replies),
        walked(way.replies),
    )

    end = WAYS.states[way.states[-1]]
    assert strict.states == way.states
    assert strict == local == walk
    assert (strict.status, strict.error) == _ended(end)
    assert transitions == len(way.states)


def test_a_way_leads_over_every_step_to_every_end_but_from_behind_a_token() -> None:
    ways = [way for step in HERE if (way := WAYS.over(step, avoiding=WAYS.waiting))]
    ends = {name for name, state in WAYS.states.items() if state["Type"] in ("Succeed", "Fail")}

    taken = {pair for way in ways for pair in pairwise(way.states)}
    missing = {step for step in WAYS.steps if (step.origin, step.to) not in taken}
    assert {step.origin for step in missing if step.to not in WAYS.waiting} == BEYOND
    assert {way.states[-1] for way in ways} == ends


@pytest.mark.parametrize("name", SCRIPTS)
def test_retries_and_tokens_are_taken_alike(name: str) -> None:
    strict = strictly(SCRIPTS[name])

    walk, transitions = walked(SCRIPTS[name])

    tasks = [state for state in walk.states if WAYS.states[state]["Type"] == "Task"]
    assert walk == strict
    assert transitions == len(walk.states) + len(walk.events) - len(tasks)
    if name not in UNKNOWN_TO_MINISTACK:
        assert locally(SCRIPTS[name]) == strict


def _ended(state: Payload) -> tuple[str, str | None]:
    return ("FAILED", state["Error"]) if state["Type"] == "Fail" else ("SUCCEEDED", None)


def _lines(events: list[dict[str, Any]]) -> Iterator[tuple[str, str, Any]]:
    state = ""
    for event in events:
        if details := event.get("stateEnteredEventDetails"):
            state = details["name"]
            yield "entered", state, _plain(json.loads(details["input"]))
        elif details := event.get("stateExitedEventDetails"):
            yield "exited", details["name"], _plain(json.loads(details["output"]))
        elif details := event.get("taskFailedEventDetails"):
            yield "failed", state, details["error"]


def _plain(value: Any) -> Any:
    """Causes are texts of the engine's own; all else must be equal."""
    if not isinstance(value, dict):
        return value
    return {name: _plain(each) for name, each in value.items() if name != "Cause"}
