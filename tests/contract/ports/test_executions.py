"""Every `Executions` has one execution for each name, however often it is started."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from stackroom.aws.stepfunctions.executions import StepFunctionsExecutions
from stackroom.runs.run_leases import Executions
from tests.fakes.pipeline import FakeExecutions

DEFINITION = {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 9, "End": True}}}
ROLE = "arn:aws:iam::123456789012:role/ingest-catalog"


@dataclass(frozen=True)
class Machine:
    """Executions, what was started of them by name, and how one ends."""

    port: Executions
    started: Callable[[], Mapping[str, Mapping[str, object]]]
    end: Callable[[str], object]


@pytest.fixture(params=["fake", "stepfunctions"])
def machine(request: pytest.FixtureRequest) -> Machine:
    if request.param == "fake":
        fake = FakeExecutions()
        return Machine(fake, lambda: fake.started, fake.ended.add)
    client = request.getfixturevalue("stepfunctions")
    arn = client.create_state_machine(
        name="ingest", definition=json.dumps(DEFINITION), roleArn=ROLE
    )["stateMachineArn"]

    def started() -> dict[str, Mapping[str, object]]:
        found = client.list_executions(stateMachineArn=arn)["executions"]
        described = [client.describe_execution(executionArn=each["executionArn"]) for each in found]
        return {each["name"]: json.loads(each["input"]) for each in described}

    def end(name: str) -> None:
        execution = f"{arn.replace(':stateMachine:', ':execution:')}:{name}"
        client.stop_execution(executionArn=execution)

    return Machine(StepFunctionsExecutions(client=client, state_machine_arn=arn), started, end)


def test_execution_name_starts_once_with_its_first_input(
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


def test_executions_are_listed_newest_first_with_their_status(stepfunctions: Any) -> None:
    """StepFunctionsExecutions alone has this; whoever starts runs doesn't need it."""
    machine = stepfunctions.create_state_machine(
        name="ingest", definition=json.dumps(DEFINITION), roleArn=ROLE
    )
    executions = StepFunctionsExecutions(
        client=stepfunctions, state_machine_arn=machine["stateMachineArn"]
    )
    for name in ("cat-1-1", "cat-1-2", "cat-2-1"):
        executions.start(name, {})
    [ended] = [each.arn for each in executions.newest(limit=9, failed=1) if each.name == "cat-1-1"]
    stepfunctions.stop_execution(executionArn=ended)

    seen = executions.newest(limit=9, failed=1)

    assert [each.began_at for each in seen] == sorted(
        (each.began_at for each in seen), reverse=True
    )
    assert {each.name: each.status for each in seen} == {
        "cat-1-1": "ABORTED",
        "cat-1-2": "RUNNING",
        "cat-2-1": "RUNNING",
    }
    assert {each.worklist_id for each in seen} == {"cat-1", "cat-2"}
    assert {each.name for each in seen if each.ended_at is not None} == {"cat-1-1"}
    assert len(executions.newest(limit=2, failed=1)) == 2
