"""Executions as Step Functions keeps them: by name, by token, and by the clock."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from simulated_time.bill import Bill
from simulated_time.definition import definition_of
from simulated_time.executions import (
    Execution,
    ExecutionAlreadyExists,
    TaskDoesNotExist,
    TaskTimedOut,
)
from simulated_time.functions import Function, Functions
from simulated_time.hub import Hub
from simulated_time.workflow import Workflow

PARKING = """{
  "StartAt": "Park", "TimeoutSeconds": 1000, "States": {"Park": {
    "Type": "Task", "Resource": "arn:aws:states:::lambda:invoke.waitForTaskToken",
    "Parameters": {"FunctionName": "park", "Payload": {"token.$": "$$.Task.Token"}},
    "ResultPath": null, "TimeoutSeconds": 300, "End": true,
    "Retry": [{"ErrorEquals": ["States.Timeout"], "IntervalSeconds": 1, "MaxAttempts": 9}]
  }}
}"""


class Parking:
    """One state that waits with a token; `tokens` are those that its function was given."""

    def __init__(self, then: Callable[[str], None] = lambda _token: None) -> None:
        self.hub, self.bill, self.tokens = Hub(), Bill(), list[str]()
        functions = Functions(self.hub, self.bill)

        def park(event: dict[str, Any]) -> None:
            self.tokens.append(event["token"])
            then(event["token"])

        functions.add(Function(name="park", memory=512, timeout=60, handler=park))
        self.workflow = Workflow(
            hub=self.hub,
            bill=self.bill,
            functions=functions,
            definition=definition_of(PARKING, {}),
            chance=random.Random(1),
        )
        self.ends: list[tuple[str, str, float]] = []
        self.workflow.ended.append(self._note)

    def _note(self, execution: Execution) -> None:
        self.ends.append((execution.name, execution.status, round(self.hub.time)))


def test_a_start_is_repeated_safely_until_the_execution_has_ended() -> None:
    parking = Parking()
    first = parking.workflow.start("run-1", {"a": 1})

    assert parking.workflow.start("run-1", {"a": 1}) is first
    with pytest.raises(ExecutionAlreadyExists):
        parking.workflow.start("run-1", {"a": 2})
    parking.hub.run()
    with pytest.raises(ExecutionAlreadyExists):
        parking.workflow.start("run-1", {"a": 1})


def test_a_token_wakes_its_task_once() -> None:
    parking = Parking()
    execution = parking.workflow.start("run-1", {"kept": True})
    parking.hub.run(until=100)
    parking.workflow.turns.succeed(parking.tokens[0], {"ignored": True})
    parking.hub.run()

    assert (execution.status, execution.output) == ("SUCCEEDED", {"kept": True})
    assert execution.transitions == 1
    with pytest.raises(TaskTimedOut):
        parking.workflow.turns.succeed(parking.tokens[0], {})
    with pytest.raises(TaskDoesNotExist):
        parking.workflow.turns.succeed("made up", {})


def test_a_stopped_execution_does_nothing_more() -> None:
    parking = Parking()
    parking.workflow.start("run-1", {})
    parking.hub.run(until=50)
    parking.workflow.stop("run-1")
    parking.workflow.stop("run-1")
    parking.hub.run()

    assert parking.ends == [("run-1", "ABORTED", 50)]
    assert len(parking.tokens) == 1
    with pytest.raises(TaskTimedOut):
        parking.workflow.turns.succeed(parking.tokens[0], {})
