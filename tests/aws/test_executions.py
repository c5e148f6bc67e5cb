"""Executions of the state machine: one a name, however often it is started."""

import json
from typing import Any

import boto3
import pytest

from stackroom.aws.executions import StepFunctionsExecutions

DEFINITION = {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 9, "End": True}}}
ROLE = "arn:aws:iam::123456789012:role/ingest-catalog"


@pytest.fixture
def client(aws: None) -> Any:
    return boto3.client("stepfunctions")


@pytest.fixture
def executions(client: Any) -> StepFunctionsExecutions:
    created = client.create_state_machine(
        name="ingest", definition=json.dumps(DEFINITION), roleArn=ROLE
    )
    return StepFunctionsExecutions(client=client, state_machine_arn=created["stateMachineArn"])


def started(client: Any, executions: StepFunctionsExecutions) -> list[str]:
    found = client.list_executions(stateMachineArn=executions.state_machine_arn)
    return [each["name"] for each in found["executions"]]


def test_an_execution_starts_under_its_name_with_its_input(
    client: Any, executions: StepFunctionsExecutions
) -> None:
    executions.start("cat-1-1", {"catalog_id": "cat-1", "epoch": 1})

    arn = executions.state_machine_arn.replace("stateMachine", "execution") + ":cat-1-1"
    found = client.describe_execution(executionArn=arn)
    assert json.loads(found["input"]) == {"catalog_id": "cat-1", "epoch": 1}


def test_starting_a_name_again_leaves_the_first_the_only_one(
    client: Any, executions: StepFunctionsExecutions
) -> None:
    executions.start("cat-1-1", {"epoch": 1})

    executions.start("cat-1-1", {"epoch": 1})
    executions.start("cat-1-1", {"epoch": 1, "progress": {"delay": 60}})

    assert started(client, executions) == ["cat-1-1"]


def test_a_name_is_not_reused_after_its_execution_ended(
    client: Any, executions: StepFunctionsExecutions
) -> None:
    executions.start("cat-1-1", {})
    arn = executions.state_machine_arn.replace("stateMachine", "execution") + ":cat-1-1"
    client.stop_execution(executionArn=arn)

    executions.start("cat-1-1", {"other": True})

    assert not executions.is_running("cat-1-1")
    assert started(client, executions) == ["cat-1-1"]


def test_an_execution_runs_until_it_ends_and_an_unknown_one_does_not(
    executions: StepFunctionsExecutions,
) -> None:
    executions.start("cat-1-1", {})

    assert executions.is_running("cat-1-1")
    assert not executions.is_running("cat-1-2")
