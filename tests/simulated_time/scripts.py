"""
The same script of answers played to a strict interpreter and to the walk under simulated time.

The interpreter is moto's, as in tests/workflow; both run statemachines/ingest_catalog.asl.json.
"""

import json
import random
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any

from benchmarks.simulated_time.bill import Bill
from benchmarks.simulated_time.definition import definition_of
from benchmarks.simulated_time.functions import Function, Functions
from benchmarks.simulated_time.hub import Hub
from benchmarks.simulated_time.workflow import Workflow
from tests.workflow import engine
from tests.workflow.functions import Reply
from tests.workflow.machine import definition

INPUT = {"worklist_id": "cat-1", "epoch": 3, "progress": {"delay": 0}}
_PATIENCE = 120.0  # seconds, of a very busy machine

Line = tuple[str, str, Any]


@dataclass(frozen=True)
class Fails:
    """The function raises an exception of that name."""

    error: str


@dataclass(frozen=True)
class Told:
    """Whoever has the task token answers that, or fails with the error."""

    error: str | None = None


Answer = str | Fails | Told
Answers = Mapping[str, Sequence[Answer]]


@dataclass
class Script:
    """Answers by action, in order: an outcome, with `wait` as the seconds to wait then."""

    answers: Answers
    wait: int = 0
    _left: dict[str, deque[Answer]] = field(default_factory=dict)

    def next(self, action: str) -> Answer:
        left = self._left.setdefault(action, deque(self.answers[action]))
        return left.popleft()

    def payload(self, event: dict[str, Any], outcome: str) -> dict[str, Any]:
        progress = {**event.get("progress", {}), "outcome": outcome, "wait_seconds": self.wait}
        return {"worklist_id": event["worklist_id"], "epoch": event["epoch"], "progress": progress}


@dataclass(frozen=True, kw_only=True)
class Played:
    """What became of an execution, line by line."""

    lines: list[Line]
    status: str
    error: str | None
    attempts: int


def walked(script: Script) -> tuple[Played, int]:
    """By our own walk; also how many transitions it counts."""
    hub, bill = Hub(), Bill()
    functions = Functions(hub, bill)
    workflow = Workflow(
        hub=hub,
        bill=bill,
        functions=functions,
        definition=definition_of(definition(), {}),
        chance=random.Random(0),
        keeps_histories=True,
    )

    def handle(event: dict[str, Any]) -> Any:
        answer = script.next(event["action"])
        if isinstance(answer, Told):
            _tell(answer, event["token"], workflow.turns.succeed, workflow.turns.fail)
            return None
        if isinstance(answer, Fails):
            raise type(answer.error, (Exception,), {})("as the script has it")
        return script.payload(event, answer)

    for name in ("ingest", "status_poller"):
        functions.add(Function(name=name, memory=512, timeout=120, handler=handle))
    execution = workflow.start("cat-1-3", INPUT)
    hub.run()
    lines = [(each.what, each.state, _plain(each.value)) for each in execution.history]
    played = Played(
        lines=lines,
        status=execution.status,
        error=execution.error,
        attempts=functions.invocations,
    )
    return played, execution.transitions


def interpreted(script: Script, client: Any, role: str) -> Played:
    """By moto's interpreter; call it under `mock_aws`."""
    functions = _Scripted(script, client)
    with engine.calling(functions):
        machine = client.create_state_machine(
            name=f"scripted-{random.getrandbits(32):x}", definition=definition(), roleArn=role
        )
        started = client.start_execution(
            stateMachineArn=machine["stateMachineArn"], name="cat-1-3", input=json.dumps(INPUT)
        )
        arn, deadline = started["executionArn"], monotonic() + _PATIENCE
        while (found := client.describe_execution(executionArn=arn))["status"] == "RUNNING":
            assert monotonic() < deadline, "the interpreter does not come to an end"
            sleep(0.01)
    pages = client.get_paginator("get_execution_history").paginate(executionArn=arn)
    events = [event for page in pages for event in page["events"]]
    return Played(
        lines=_lines(events),
        status=found["status"],
        error=found.get("error"),
        attempts=functions.calls,
    )


class _Scripted:
    """What tests/workflow/engine.py calls: our answers instead of the real handlers'."""

    def __init__(self, script: Script, client: Any) -> None:
        self._script = script
        self._client = client
        self._lock = threading.Lock()
        self.calls = 0

    def invoke(self, _name: str, event: dict[str, Any]) -> Reply:
        with self._lock:
            self.calls += 1
            answer = self._script.next(event["action"])
            if isinstance(answer, Told):
                _tell(answer, event["token"], self._succeed, self._fail)
                return Reply(payload=None)
            if isinstance(answer, Fails):
                payload = {"errorType": answer.error, "errorMessage": "as the script has it"}
                return Reply(payload=payload, function_error=True)
            return Reply(payload=self._script.payload(event, answer))

    def _succeed(self, token: str, output: Any) -> None:
        self._client.send_task_success(taskToken=token, output=json.dumps(output))

    def _fail(self, token: str, error: str, cause: str) -> None:
        self._client.send_task_failure(taskToken=token, error=error, cause=cause)


def _tell(
    answer: Told,
    token: str,
    succeed: Callable[[str, Any], None],
    fail: Callable[[str, str, str], None],
) -> None:
    if answer.error is None:
        succeed(token, {"admitted": True})
    else:
        fail(token, answer.error, "as the script has it")


def _lines(events: list[dict[str, Any]]) -> list[Line]:
    lines: list[Line] = []
    state = ""
    for event in events:
        if details := event.get("stateEnteredEventDetails"):
            state = details["name"]
            lines.append(("entered", state, _plain(json.loads(details["input"]))))
        elif details := event.get("stateExitedEventDetails"):
            lines.append(("exited", details["name"], _plain(json.loads(details["output"]))))
        elif details := event.get("taskFailedEventDetails"):
            lines.append(("failed", state, details["error"]))
        elif event["type"] == "TaskTimedOut":
            lines.append(("failed", state, event["taskTimedOutEventDetails"]["error"]))
    return lines


def _plain(value: Any) -> Any:
    """Causes are texts of the engine's own; all else must be equal."""
    if not isinstance(value, dict):
        return value
    return {name: _plain(each) for name, each in value.items() if name != "Cause"}
