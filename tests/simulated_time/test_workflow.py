"""The walk under simulated time goes where a strict interpreter of the States Language goes."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from benchmarks.simulated_time.definition import definition_of
from benchmarks.simulated_time.paths import Unsupported
from tests.simulated_time.scripts import Answers, Fails, Script, Told, interpreted, walked
from tests.workflow.conftest import MOTO, ROLE

pytestmark = pytest.mark.slow  # the strict interpreter waits by the real clock

PLAIN: Answers = {
    "ensure": ["ready"],
    "start": ["started"],
    "poll": ["settled"],
    "release": ["released"],
}
QUEUED: Answers = {**PLAIN, "start": ["queued", "started"], "admit": [Told()]}
SCENARIOS = {
    "one round": Script(PLAIN),
    "every wait": Script(
        {
            **PLAIN,
            "ensure": ["waiting", "ready"],
            "start": ["busy", "started"],
            "poll": ["running", "settled"],
        },
        wait=1,
    ),
    "two rounds": Script(
        {action: list(answers) * 2 for action, answers in PLAIN.items()}
        | {"release": ["more", "released"]}
    ),
    "more to send": Script({**PLAIN, "start": ["started"] * 2, "poll": ["more", "settled"]}),
    "queued": Script(QUEUED),
    "sent back to its data source": Script(
        {**PLAIN, "ensure": ["ready"] * 2, "start": ["more", "started"]}
    ),
    "nothing to do": Script({"ensure": ["nothing"], "release": ["released"]}),
    "nothing to send": Script({**PLAIN, "start": ["nothing"]}),
    "handed over": Script({**PLAIN, "start": ["hand_over"], "hand_over": ["handed_over"]}),
    "retries": Script(
        {
            **PLAIN,
            "ensure": [Fails("RecordChanged"), Fails("Sandbox.Timedout"), "ready"],
            "start": [Fails("StoreUnavailable"), "started"],
            "poll": [Fails("KnowledgeBaseThrottled")] * 3 + ["settled"],
        }
    ),
    "retries that run out": Script(
        {**PLAIN, "start": [Fails("StoreUnavailable")] * 7, "record_failure": ["recorded"]}
    ),
    "an error that none retries": Script(
        {**PLAIN, "poll": [Fails("AssertionError")], "record_failure": ["recorded"]}
    ),
    "a superseded run": Script({**PLAIN, "poll": [Fails("RunSuperseded")]}),
    "an unknown outcome": Script(
        {**PLAIN, "start": ["bewildered"], "record_failure": ["recorded"]}
    ),
    "a failure that can't be recorded": Script(
        {
            **PLAIN,
            "poll": [Fails("AssertionError")],
            "record_failure": [Fails("RecordChanged"), Fails("AssertionError")],
        }
    ),
    "a turn that fails": Script(
        {**QUEUED, "admit": [Told("StoreUnavailable"), Told("Odd")], "record_failure": ["recorded"]}
    ),
    "a queue that can't be entered": Script(
        {**QUEUED, "admit": [Fails("StoreUnavailable"), Fails("RunSuperseded")]}
    ),
}


@pytest.fixture(scope="module")
def step_functions() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch, mock_aws(config=MOTO):
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield boto3.client("stepfunctions")


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_walk_is_a_strict_interpreters_state_by_state(step_functions: Any, name: str) -> None:
    script = SCENARIOS[name]
    again = Script(script.answers, wait=script.wait)

    ours, transitions = walked(script)
    theirs = interpreted(again, step_functions, ROLE)

    assert ours == theirs
    retries = ours.attempts - len([line for line in ours.lines if _enters_a_task(line)])
    assert transitions == len([line for line in ours.lines if line[0] == "entered"]) + retries


def _enters_a_task(line: tuple[str, str, Any]) -> bool:
    return line[0] == "entered" and not line[1].startswith(
        ("Is", "Are", "Wait", "Worklist", "Run", "Unknown")
    )


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ('{"A": {"Type": "Map", "End": true}}', "type Map"),
        ('{"A": {"Type": "Pass", "InputPath": "$.x", "End": true}}', "InputPath"),
        ('{"A": {"Type": "Pass", "ResultPath": "$.x[0]", "End": true}}', r"x\[0\]"),
        (
            '{"A": {"Type": "Choice", "Choices": [{"Variable": "$.x", "NumericEquals": 1,'
            ' "Next": "A"}], "Default": "A"}}',
            "NumericEquals",
        ),
    ],
)
def test_what_the_walk_does_not_know_is_refused_when_it_is_read(states: str, said: str) -> None:
    with pytest.raises(Unsupported, match=said):
        definition_of(f'{{"StartAt": "A", "States": {states}}}', {})
