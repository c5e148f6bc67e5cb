"""
The state machine on npm's stepfunctions-local, beside moto's interpreter: same states, same end.

First, what that engine can't: why it has a shim (stepfunctions_local.py), and why only moto's holds
retries, timeouts, tokens and the status of an execution that failed.
"""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import boto3
import pytest
from moto import mock_aws

import stackroom.runs.backoff
from stackroom.ports.admission import Mode
from tests.workflow.conftest import MOTO, ROLE
from tests.workflow.engine import NAMED, Engine
from tests.workflow.functions import Payload, Reply, forget_clients
from tests.workflow.machine import Machine, definition
from tests.workflow.stepfunctions_local import filled, running
from tests.workflow.ways import Step, Ways
from tests.workflow.world import World

pytestmark = pytest.mark.processes

KEY = "alice/research/report.txt"
WAIT = 2.0  # seconds
INPUT: Payload = {"worklist_id": "cat-1", "epoch": 3, "progress": {"delay": 0, "wait_seconds": 0}}
WAYS = Ways(json.loads(definition()), INPUT)
HERE = [each for each in WAYS.steps if each.decides and WAYS.over(each, avoiding=WAYS.waiting)]
# What only a token leads on from: moto's interpreter has it alone.
BEYOND = {"AdmitIngestion"}
_FUNCTION = "arn:aws:lambda:us-east-1:123456789012:function:odd"


@dataclass
class Scripted:
    """Functions that reply in order, whoever is called."""

    replies: deque[Reply]
    takes: float = 0.0  # seconds, each
    events: list[Payload] = field(default_factory=list)

    def invoke(self, name: str, event: Payload) -> Reply:
        self.events.append({"function": name, **event})
        sleep(self.takes)
        return self.replies.popleft() if self.replies else _odd()


@dataclass(frozen=True, kw_only=True)
class Went:
    """How an execution went."""

    states: list[str]
    status: str
    error: str | None
    output: Any
    failure: Any  # what the history says of it
    events: list[Payload]  # that functions got


@dataclass(frozen=True, kw_only=True)
class Runner:
    engine: Engine
    client: Any

    def run(self, machine: Payload, *replies: Reply, takes: float = 0.0) -> Went:
        """An execution of a machine of its own, by functions that take so many seconds."""
        return self.execute(self.create(machine), Scripted(deque(replies), takes))

    def create(self, machine: Payload) -> str:
        name, asl = uuid4().hex, json.dumps(machine)
        made = self.client.create_state_machine(name=name, definition=asl, roleArn=ROLE)
        return str(made["stateMachineArn"])

    def run_adapted(self, machine: Payload, *replies: Reply) -> Went:
        """The same of one as it deploys."""
        return self.run(json.loads(self.engine.adapted(json.dumps(machine))), *replies)

    def start(self, arn: str, name: str, given: Payload) -> str:
        asked = {"stateMachineArn": arn, "name": name, "input": json.dumps(given)}
        return str(self.client.start_execution(**asked)["executionArn"])

    def execute(self, arn: str, functions: Scripted) -> Went:
        name = uuid4().hex
        machine = Machine(client=self.client, arn=arn)
        with self.engine.calling(functions):
            execution = self.start(arn, name, INPUT)
            machine.await_end(name)
        found = self.client.describe_execution(executionArn=execution)
        history = self.client.get_execution_history(executionArn=execution)["events"]
        return Went(
            states=machine.states(execution),
            status=found["status"],
            error=found.get("error"),
            output=json.loads(found["output"]) if "output" in found else None,
            failure=history[-1].get("executionFailedEventDetails"),
            events=functions.events,
        )


@pytest.fixture(scope="module")
def stepfunctions_local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with running(tmp_path_factory.mktemp("stepfunctions-local")) as engine:
        yield engine


@pytest.fixture(scope="module")
def theirs(stepfunctions_local: Engine) -> Runner:
    return Runner(engine=stepfunctions_local, client=_client(stepfunctions_local.endpoint))


@pytest.fixture
def motos() -> Iterator[Runner]:
    with mock_aws(config=MOTO):
        yield Runner(engine=NAMED, client=_client(NAMED.endpoint))


@pytest.fixture(params=["moto", "stepfunctions-local"])
def step_functions(request: pytest.FixtureRequest) -> Iterator[Engine]:
    forget_clients()
    yield NAMED if request.param == "moto" else request.getfixturevalue("stepfunctions_local")
    forget_clients()


# What it can't, and that it waits.


@pytest.mark.parametrize(
    "resource", sorted({each["Resource"] for each in WAYS.states.values() if "Resource" in each})
)
def test_it_knows_neither_the_integration_with_lambda_nor_tokens(
    theirs: Runner, resource: str
) -> None:
    went = theirs.run(_machine(_task(Resource=resource)))

    assert (went.status, went.states) == ("FAILED", [])
    assert went.failure["error"] == f"Unsupported Resource type: {resource}"


def test_it_tells_of_a_failure_as_of_a_success(theirs: Runner) -> None:
    went = theirs.run(_machine({"Type": "Fail", "Error": "Broke", "Cause": "it broke"}))

    assert went.states == ["First"]
    assert (went.status, went.error, went.failure) == ("SUCCEEDED", None, None)


def test_it_retries_no_function_by_name_and_catches_none_by_its_errors(theirs: Runner) -> None:
    retry = [{"ErrorEquals": ["Odd"], "IntervalSeconds": 1, "MaxAttempts": 3, "BackoffRate": 1.0}]
    catch = [
        {"ErrorEquals": ["Odd"], "Next": "Second"},
        {"ErrorEquals": ["States.ALL"], "Next": "Third"},
    ]

    went = theirs.run(_machine(_task(Retry=retry, Catch=catch)), _odd())

    assert went.states == ["First", "Third"]
    assert went.output == {"name": "Unhandled"}  # instead of Error and Cause
    assert len(went.events) == 1


def test_it_lets_an_output_path_cut_what_was_caught(theirs: Runner) -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Third"}]

    went = theirs.run(_machine(_task(OutputPath="$.Payload", Catch=catch)), _odd())

    assert went.output == {}


def test_it_forgets_a_result_path_once_something_was_caught(theirs: Runner) -> None:
    catch = [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Third"}]
    arn = theirs.create(_machine(_task(ResultPath=None, Catch=catch)))

    functions = Scripted(deque([Reply(payload=1), _odd(), Reply(payload=1)]))
    before, _, after = (theirs.execute(arn, functions) for _ in range(3))

    assert (before.output, after.output) == (INPUT, 1)


def test_it_keeps_no_timeout(theirs: Runner) -> None:
    went = theirs.run(_machine(_task(TimeoutSeconds=1)), Reply(payload="late"), takes=1.5)

    assert went.output == "late"


def test_it_waits_as_long_as_its_input_says(theirs: Runner) -> None:
    arn = theirs.create(_machine({"Type": "Wait", "SecondsPath": "$.seconds", "Next": "Second"}))
    machine = Machine(client=theirs.client, arn=arn)

    long = theirs.start(arn, "long", {"seconds": 3600})
    short = theirs.start(arn, "short", {"seconds": 0})
    machine.await_end("short")

    assert (machine.running(), machine.states(long)) == ([long], ["First"])
    assert machine.states(short) == ["First", "Second"]


# The shim.


def test_the_shim_changes_three_members_of_tasks_and_nothing_else(
    stepfunctions_local: Engine,
) -> None:
    adapted = json.loads(stepfunctions_local.adapted(definition()))

    for name, state in WAYS.states.items():
        theirs = adapted["States"].pop(name)
        changed = {key for key in state if theirs.get(key, "none") != state[key]}
        if state["Type"] == "Task" and name not in WAYS.waiting:
            assert {"Resource", "Parameters"} <= changed <= {"Resource", "Parameters", "OutputPath"}
        else:
            assert changed == set()
        assert theirs.keys() <= state.keys()
    assert adapted == {**WAYS.machine, "States": {}}


def test_a_payload_is_filled_with_what_its_paths_lead_to() -> None:
    template = {"action": "poll", "epoch.$": "$.epoch", "delay.$": "$.progress.delay"}

    assert filled(template, INPUT) == {"action": "poll", "epoch": 3, "delay": 0}
    with pytest.raises(AssertionError, match="only paths into the input"):
        filled({"token.$": "$$.Task.Token"}, INPUT)


# The machine as it deploys, but for the shim.


@pytest.mark.parametrize("step", HERE, ids=str)
def test_a_way_leads_over_the_same_states_to_the_same_end(
    theirs: Runner, motos: Runner, step: Step
) -> None:
    way = WAYS.over(step, avoiding=WAYS.waiting)
    assert way is not None

    here = theirs.run_adapted(WAYS.machine, *way.replies)
    there = motos.run_adapted(WAYS.machine, *way.replies)

    end = WAYS.states[way.states[-1]]
    assert here.states == there.states == way.states
    assert (there.status, there.error) == _ended(end)
    assert here.output == there.output
    assert [_plain(each) for each in here.events] == [_plain(each) for each in there.events]


def test_a_way_leads_over_every_step_to_every_end_but_from_behind_a_token() -> None:
    ways = [way for step in HERE if (way := WAYS.over(step, avoiding=WAYS.waiting))]
    ends = {name for name, state in WAYS.states.items() if state["Type"] in ("Succeed", "Fail")}

    taken = {pair for way in ways for pair in pairwise(way.states)}
    missing = {step for step in WAYS.steps if (step.origin, step.to) not in taken}
    assert {step.origin for step in missing if step.to not in WAYS.waiting} == BEYOND
    assert {way.states[-1] for way in ways} == ends


@pytest.mark.parametrize("name", sorted(WAYS.waiting))
def test_a_wait_for_a_grant_is_as_far_as_it_comes(theirs: Runner, name: str) -> None:
    [step] = [step for step in WAYS.steps if step.origin == name and not step.fails]
    way = WAYS.over(step)
    assert way is not None

    went = theirs.run_adapted(WAYS.machine, *way.replies)

    assert went.states == way.states[: way.states.index(name)]
    assert went.failure["error"].endswith(".waitForTaskToken")


def test_a_drop_goes_the_default_way_with_the_functions_themselves(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stackroom.runs.backoff, "_FIRST", dict.fromkeys(Mode, WAIT))
    began = monotonic()

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states == [
        *("EnsureDataSource", "IsDataSourceReady"),
        *("StartIngestion", "IsIngestionStarted"),
        *("WaitForIngestion", "PollIngestion", "IsIngestionOver") * 2,
        *("ReleaseRun", "IsWorklistSettled", "WorklistSettled"),
    ]
    assert monotonic() - began > WAIT
    assert world.status(KEY) == "indexed"
    assert not world.lease(KEY).held


@pytest.mark.usefixtures("no_delay")
def test_a_failure_is_recorded_and_followed_by_the_functions_themselves(world: World) -> None:
    world.functions.interrupt("ensure", "KeyError")

    world.drop(KEY)

    broken, follower = world.executions()
    assert broken.states == ["EnsureDataSource", "RecordFailure", "RunBroke"]
    assert follower.states[-1] == "WorklistSettled"
    assert world.status(KEY) == "indexed"


def _client(endpoint: str | None) -> Any:
    return boto3.client(
        "stepfunctions",
        region_name="us-east-1",
        endpoint_url=endpoint,
        aws_access_key_id="none",
        aws_secret_access_key="none",
    )


def _machine(first: Payload) -> Payload:
    nexts = {each["Next"] for each in [first, *first.get("Catch", [])] if "Next" in each}
    others = {name: {"Type": "Pass", "End": True} for name in nexts}
    return {"StartAt": "First", "States": {"First": first, **others}}


def _task(**more: object) -> Payload:
    return {"Type": "Task", "Resource": _FUNCTION, "Next": "Second", **more}


def _odd() -> Reply:
    return Reply(payload={"errorType": "Odd", "errorMessage": "it is odd"}, function_error=True)


def _ended(state: Payload) -> tuple[str, str | None]:
    return ("FAILED", state["Error"]) if state["Type"] == "Fail" else ("SUCCEEDED", None)


def _plain(event: Payload) -> Payload:
    """The error is each engine's own: AWS's has Error and Cause, the other a name."""
    return {**event, "error": None}
