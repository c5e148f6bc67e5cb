"""The state machine, the handlers' actions, the outcomes and the errors say the same."""

import json
import re
from typing import Any, get_args

import pytest

from functions.ingest import handler as ingest
from functions.status_poller import handler as status_poller
from stackroom import errors
from stackroom.errors import StackroomError, Unavailable
from stackroom.runs.run import RunOutcome
from statemachines.generate import DEFINITION, definition

TEXT = DEFINITION.read_text("utf-8")
MACHINE: dict[str, Any] = json.loads(TEXT)
STATES: dict[str, dict[str, Any]] = MACHINE["States"]
TASKS = {name: state for name, state in STATES.items() if state["Type"] == "Task"}
CHOICES = {name: state for name, state in STATES.items() if state["Type"] == "Choice"}
SILENT = {"RecordFailure", "AdmitIngestion"}  # what they answer goes nowhere
ENDS = {name for name, state in STATES.items() if state["Type"] in ("Succeed", "Fail")}

# What each action may answer.
ANSWERS = {
    "ensure": {
        RunOutcome.READY,
        RunOutcome.WAITING,
        RunOutcome.NOTHING,
        RunOutcome.HAND_OVER,
    },
    "start": {
        RunOutcome.STARTED,
        RunOutcome.QUEUED,
        RunOutcome.BUSY,
        RunOutcome.MORE,
        RunOutcome.NOTHING,
        RunOutcome.HAND_OVER,
    },
    "poll": {RunOutcome.RUNNING, RunOutcome.MORE, RunOutcome.SETTLED},
    "release": {RunOutcome.RELEASED, RunOutcome.MORE},
    "hand_over": {RunOutcome.HANDED_OVER},
}
# Errors that are Lambda's or Step Functions' and pass [Step Functions guide: error handling,
# "Handle transient Lambda service exceptions"].
PASSING = {
    "Lambda.ClientExecutionTimeoutException",
    "Lambda.ServiceException",
    "Lambda.AWSLambdaException",
    "Lambda.SdkClientException",
    "Lambda.TooManyRequestsException",
    "Lambda.Unknown",
    "Runtime.ExitError",  # the errorType that Lambda gives to a process that died
    "Sandbox.Timedout",
    "States.Timeout",
}
FUNCTIONS = {"${IngestFunctionArn}": ingest, "${StatusPollerFunctionArn}": status_poller}


def test_workflow_file_matches_its_source_and_has_only_known_placeholders() -> None:
    assert definition() == TEXT, "run: make asl"
    # The file was parsed above before any substitution; these are the only ones CDK fills in.
    assert set(re.findall(r'"[^"]*\$\{[^"]*"', TEXT)) == {f'"{name}"' for name in FUNCTIONS}
    # JSONPath is what AWS, moto and ministack all run.
    assert MACHINE.get("QueryLanguage", "JSONPath") == "JSONPath"


@pytest.mark.parametrize("name", TASKS)
def test_task_outlasts_its_function_retries_transient_and_catches_the_rest(
    name: str,
) -> None:
    # Step Functions matches names exactly, so naming `Unavailable` itself would match nothing.
    retried = {error for retry in TASKS[name]["Retry"] for error in retry["ErrorEquals"]}

    # of both functions (infra/pipeline.py); else a live sandbox is abandoned
    assert TASKS[name]["TimeoutSeconds"] > 120
    assert retried == {error.__name__ for error in _leaves(Unavailable)} | PASSING
    for retry in TASKS[name]["Retry"]:
        assert retry["MaxAttempts"] >= 5
        assert retry["BackoffRate"] > 1
        assert retry["MaxDelaySeconds"] > retry["IntervalSeconds"]
    *named, last = TASKS[name]["Catch"]
    # A superseded run records nothing.
    superseded = {"ErrorEquals": ["RunSuperseded"], "Next": "RunSuperseded"}
    assert last["ErrorEquals"] == ["States.ALL"]
    if name == "RecordFailure":
        assert (named, last["Next"]) == ([], "RunBroke")
    else:
        assert named[0].items() >= superseded.items()
        assert last["Next"] == "RecordFailure"


@pytest.mark.parametrize("name", TASKS)
def test_only_ids_and_progress_travel(name: str) -> None:
    payload = dict(TASKS[name]["Parameters"]["Payload"])
    token = payload.pop("token.$", None)
    last = "error.$" if name == "RecordFailure" else "progress.$"

    assert set(payload) == {"action", "worklist_id.$", "epoch.$", last}
    assert all(payload[key] == f"$.{key[:-2]}" for key in payload.keys() - {"action"})
    assert token == ("$$.Task.Token" if name == "AdmitIngestion" else None)


def test_a_run_waits_for_its_grant_in_one_state_until_the_token_comes_back() -> None:
    admit = TASKS["AdmitIngestion"]

    assert admit["Resource"].endswith(".waitForTaskToken")
    assert admit["ResultPath"] is None
    assert admit["Next"] == "StartIngestion"
    assert all(not task["Resource"].endswith("Token") for task in TASKS.values() if task != admit)
    # Who has waited too long queues up anew, for as long as the machine may run.
    first = admit["Retry"][0]
    assert first["ErrorEquals"] == ["States.Timeout"]
    assert first["MaxAttempts"] * admit["TimeoutSeconds"] > MACHINE["TimeoutSeconds"]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_machine_asks_a_function_for_just_the_actions_that_it_has(function: str) -> None:
    module = FUNCTIONS[function]
    asked = {_action(task) for task in TASKS.values() if _function(task) == function}

    known = set(get_args(module.Step.model_fields["action"].annotation))
    if module is ingest:
        for task in (ingest.AdmissionRequest, ingest.Breakdown):
            known |= set(get_args(task.model_fields["action"].annotation))
    assert asked == known


@pytest.mark.parametrize("name", sorted(TASKS.keys() - SILENT))
def test_choice_after_a_task_covers_its_outcomes_and_fails_on_others(
    name: str,
) -> None:
    choice = CHOICES[TASKS[name]["Next"]]

    assert {RunOutcome(each["StringEquals"]) for each in choice["Choices"]} == ANSWERS[
        _action(TASKS[name])
    ]
    assert {each["Variable"] for each in choice["Choices"]} == {"$.progress.outcome"}
    assert choice["Default"] == "UnknownOutcome"


def test_every_outcome_is_some_tasks_answer_and_every_choice_some_tasks() -> None:
    assert set().union(*ANSWERS.values()) == set(RunOutcome)
    assert {TASKS[name]["Next"] for name in TASKS.keys() - SILENT} == set(CHOICES)


def test_every_state_is_reachable_and_waits_take_seconds_from_progress() -> None:
    reached, ahead = set(), [MACHINE["StartAt"]]
    while ahead:
        state = ahead.pop()
        if state not in reached:
            reached.add(state)
            ahead += _nexts(STATES[state])

    assert reached == set(STATES)
    waits = [state for state in STATES.values() if state["Type"] == "Wait"]
    assert {each["SecondsPath"] for each in waits} == {"$.progress.wait_seconds"}


def test_every_failure_ends_in_a_fail_that_is_named_as_its_state() -> None:
    caught = {each["Next"] for task in TASKS.values() for each in task["Catch"]}

    ends = set().union(*map(_failures, caught | {"UnknownOutcome"}))

    assert {STATES[end]["Type"] for end in ends} == {"Fail"}
    assert all(STATES[end]["Error"] == end for end in ends)


def _all(error: type[StackroomError]) -> set[type[StackroomError]]:
    here = {kind for kind in error.__subclasses__() if kind.__module__ == errors.__name__}
    return here.union(*map(_all, here)) if here else here


def _leaves(error: type[StackroomError]) -> set[type[StackroomError]]:
    return {kind for kind in _all(error) if not _all(kind)}


def _action(task: dict[str, Any]) -> str:
    return str(task["Parameters"]["Payload"]["action"])


def _function(task: dict[str, Any]) -> str:
    return str(task["Parameters"]["FunctionName"])


def _nexts(state: dict[str, Any]) -> list[str]:
    nexts = [state[key] for key in ("Next", "Default") if key in state]
    nexts += [each["Next"] for each in state.get("Choices", [])]
    return nexts + [each["Next"] for each in state.get("Catch", [])]


def _failures(state: str) -> set[str]:
    """Return the end that this state leads to by its `Next`."""
    while state not in ENDS:
        state = STATES[state]["Next"]
    return {state}
