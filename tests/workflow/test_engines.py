"""
The state machine on three engines: the same states, the same calls, the same end.

They are moto's interpreter, on which tests/workflow runs; ministack's, on which the local mode
does; and the walk under simulated time, on which chaos and the benchmarks do. The ways are found in
the definition.
"""

import json
import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import pytest
from ministack.services import stepfunctions as ministack
from moto import mock_aws

from simulated_time import functions as simulated
from simulated_time.bill import Bill
from simulated_time.definition import definition_of
from simulated_time.hub import Hub
from simulated_time.workflow import Workflow
from tests.workflow.conftest import MOTO
from tests.workflow.engine import bare
from tests.workflow.engines import (
    ACCOUNT,
    HERE,
    INPUT,
    SCRIPTS,
    WAYS,
    Scripted,
    TokenReply,
    Went,
    strictly,
    went,
    without_causes,
)
from tests.workflow.functions import Payload, Reply
from tests.workflow.machine import definition
from tests.workflow.ways import Step

# What only a token leads on from.
BEYOND = {"AdmitIngestion"}


# Whose invocation fails waits there for its token all the same.
UNKNOWN_TO_MINISTACK = {"a queue that can't be entered"}


def locally(answers: Sequence[Reply | TokenReply]) -> Went:
    """Run the machine with ministack's interpreter, without its server, functions and waits."""

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
    return went(execution, execution["events"], functions)


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


def test_paths_without_tokens_cover_all_steps_but_known_ones_and_all_ends() -> None:
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
