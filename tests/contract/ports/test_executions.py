"""What every `Executions` promises: one a name, however often it is started."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from stackroom.aws.executions import StepFunctionsExecutions
from stackroom.ports.runs import Executions
from tests.fakes.pipeline import FakeExecutions

DEFINITION = {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 9, "End": True}}}
ROLE = "arn:aws:iam::123456789012:role/ingest-catalog"


class Machine(Protocol):
    """What runs the executions, as a test looks at it."""

    @property
    def port(self) -> Executions: ...

    def started(self) -> dict[str, Mapping[str, object]]: ...

    def end(self, name: str) -> None: ...


@dataclass(frozen=True)
class FakeMachine:
    port: FakeExecutions

    def started(self) -> dict[str, Mapping[str, object]]:
        return self.port.started

    def end(self, name: str) -> None:
        self.port.ended.add(name)


@dataclass(frozen=True)
class StateMachine:
    port: StepFunctionsExecutions

    def started(self) -> dict[str, Mapping[str, object]]:
        arn = self.port.state_machine_arn
        found = self.port.client.list_executions(stateMachineArn=arn)["executions"]
        return {each["name"]: json.loads(self._described(each["name"])["input"]) for each in found}

    def end(self, name: str) -> None:
        self.port.client.stop_execution(executionArn=self._described(name)["executionArn"])

    def _described(self, name: str) -> dict[str, Any]:
        arn = self.port.state_machine_arn.replace(":stateMachine:", ":execution:")
        described = self.port.client.describe_execution(executionArn=f"{arn}:{name}")
        return dict(described)


@pytest.fixture(params=["fake", "stepfunctions"])
def machine(request: pytest.FixtureRequest) -> Machine:
    if request.param == "fake":
        return FakeMachine(FakeExecutions())
    client = request.getfixturevalue("stepfunctions")
    created = client.create_state_machine(
        name="ingest", definition=json.dumps(DEFINITION), roleArn=ROLE
    )
    arn = created["stateMachineArn"]
    return StateMachine(StepFunctionsExecutions(client=client, state_machine_arn=arn))


def test_a_name_is_started_once_with_its_first_input_however_often_it_is_asked_for(
    machine: Machine,
) -> None:
    machine.port.start("cat-1-1", {"catalog_id": "cat-1", "epoch": 1})

    same = machine.port.start("cat-1-1", {"catalog_id": "cat-1", "epoch": 1})
    other = machine.port.start("cat-1-1", {"epoch": 1, "progress": {"delay": 60}})

    assert same
    assert other
    assert machine.started() == {"cat-1-1": {"catalog_id": "cat-1", "epoch": 1}}


def test_a_name_is_not_used_again_after_its_execution_ended(machine: Machine) -> None:
    machine.port.start("cat-1-1", {})
    machine.end("cat-1-1")

    runs = machine.port.start("cat-1-1", {"other": True})
    machine.port.start("cat-1-2", {})

    running = [machine.port.is_running(f"cat-1-{epoch}") for epoch in (1, 2, 3)]
    assert not runs
    assert machine.started() == {"cat-1-1": {}, "cat-1-2": {}}
    assert running == [False, True, False]
