"""
The state machine on two engines: the same states, the same calls, the same end.

They are moto's interpreter, on which tests/workflow runs, and the walk under simulated time, on
which chaos and the benchmarks do.
"""

import json
import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import boto3
import pytest
from moto import mock_aws

from simulated_time import functions as simulated
from simulated_time.bill import Bill
from simulated_time.definition import definition_of
from simulated_time.hub import Hub
from simulated_time.workflow import Workflow
from tests.workflow.conftest import MOTO, ROLE
from tests.workflow.engine import calling
from tests.workflow.functions import Payload, Reply
from tests.workflow.machine import Machine, definition

INPUT: Payload = {"worklist_id": "cat-1", "epoch": 3, "progress": {"delay": 0, "wait_seconds": 0}}


@dataclass(frozen=True)
class TokenReply:
    """Whoever has the task token answers it, or fails with the error."""

    error: str | None = None


def fails(error: str, *, times: int = 1) -> list[Reply]:
    payload = {"errorType": error, "errorMessage": "as the script has it"}
    return [Reply(payload=payload, function_error=True)] * times


def says(*outcomes: str) -> list[Reply]:
    progress = INPUT["progress"]
    return [Reply(payload={**INPUT, "progress": {**progress, "outcome": e}}) for e in outcomes]


# By outcomes, by retries, and by tokens.
SCRIPTS: Mapping[str, Sequence[Reply | TokenReply]] = {
    "waits": says(
        *("waiting", "ready", "busy", "started", "running", "more", "nothing", "released")
    ),
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
    "queued": [*says("ready", "queued"), TokenReply(), *says("started", "settled", "released")],
    "a turn that fails": [
        *says("ready", "queued"),
        TokenReply("StoreUnavailable"),
        TokenReply("Odd"),
        *says("recorded"),
    ],
}


@dataclass
class Scripted:
    """Functions that answer in order, whoever is called; `tell` is what a token is for."""

    answers: deque[Reply | TokenReply]
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


def strictly(answers: Sequence[Reply | TokenReply]) -> Went:
    """Run the machine with moto's interpreter."""
    client: Any = boto3.client("stepfunctions", region_name="us-east-1")

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
    return went(client.describe_execution(executionArn=arn), machine.events(arn), functions)


def went(found: Any, events: list[dict[str, Any]], functions: Scripted) -> Went:
    return Went(
        lines=list(_lines(events)),
        status=found["status"],
        error=found.get("error"),
        output=without_causes(json.loads(found["output"]))
        if found["status"] == "SUCCEEDED"
        else None,
        events=functions.events,
    )


def _lines(events: list[dict[str, Any]]) -> Iterator[tuple[str, str, Any]]:
    state = ""
    for event in events:
        if details := event.get("stateEnteredEventDetails"):
            state = details["name"]
            yield "entered", state, without_causes(json.loads(details["input"]))
        elif details := event.get("stateExitedEventDetails"):
            yield "exited", details["name"], without_causes(json.loads(details["output"]))
        elif details := event.get("taskFailedEventDetails"):
            yield "failed", state, details["error"]


def without_causes(value: Any) -> Any:
    """Causes are texts of the engine's own; all else must be equal."""
    if not isinstance(value, dict):
        return value
    return {name: without_causes(each) for name, each in value.items() if name != "Cause"}


def walked(answers: Sequence[Reply | TokenReply]) -> tuple[Went, int]:
    """Run the machine in simulated time, and return the counted transitions too."""
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
        lines=[(each.what, each.state, without_causes(each.value)) for each in execution.history],
        status=execution.status,
        error=execution.error,
        output=without_causes(execution.output),
        events=scripted.events,
    )
    return went, execution.transitions


@pytest.fixture(autouse=True)
def aws() -> Iterator[None]:
    with mock_aws(config=MOTO):
        yield


@pytest.mark.parametrize("name", SCRIPTS)
def test_states_retries_and_tokens_are_taken_alike(name: str) -> None:
    strict = strictly(SCRIPTS[name])

    walk, transitions = walked(SCRIPTS[name])

    states = json.loads(definition())["States"]
    tasks = [state for state in walk.states if states[state]["Type"] == "Task"]
    assert walk == strict
    assert transitions == len(walk.states) + len(walk.events) - len(tasks)
