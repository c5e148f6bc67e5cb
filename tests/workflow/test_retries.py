"""Every task's Retry: what passes is tried again, what doesn't is recorded."""

from itertools import product

import pytest

import stackroom.ingestion.run_tasks
from stackroom.errors import Unavailable
from stackroom_local.simulator.disturbances import Kind
from tests.workflow.world import World

pytestmark = pytest.mark.usefixtures("by_jobs")  # by way of all tasks

KEY = "alice/research/report.txt"
TASKS = ["ensure", "admit", "start", "poll", "release"]
OURS = [error.__name__ for error in Unavailable.__subclasses__()]
LAMBDAS = [
    "Lambda.ClientExecutionTimeoutException",
    "Lambda.ServiceException",
    "Lambda.AWSLambdaException",
    "Lambda.SdkClientException",
    "Lambda.TooManyRequestsException",
    "Lambda.Unknown",
    "Runtime.ExitError",
    "Sandbox.Timedout",
]
# No more than a retrier's MaxAttempts, whose count all of its errors share.
TOGETHER = [OURS, LAMBDAS[:4], LAMBDAS[4:]]


@pytest.mark.parametrize("errors", TOGETHER)
def test_errors_that_pass_are_retried_by_every_task_of_a_round(
    world: World, errors: list[str]
) -> None:
    for action, error in product(TASKS, errors):
        world.functions.interrupt(action, error)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.status == "SUCCEEDED"
    assert not any(world.functions.interruptions.values())
    assert world.status(KEY) == "indexed"
    assert len(world.bedrock.jobs()) == 1


@pytest.mark.parametrize(
    ("action", "time"), [*((each, 1) for each in TASKS), ("start", 2)], ids=str
)
def test_a_task_whose_answer_got_lost_is_safe_to_repeat(
    world: World, action: str, time: int
) -> None:
    def lose() -> None:
        world.functions.interrupt(action, "Sandbox.Timedout", late=True)

    world.at(action, time, lose)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.status == "SUCCEEDED"
    assert not any(world.functions.interruptions.values())
    assert world.status(KEY) == "indexed"
    assert not world.lease(KEY).held
    assert len(world.bedrock.jobs()) == 1
    assert len(world.bedrock.sources()) == 1
    assert world.grants() == []


@pytest.mark.parametrize("errors", TOGETHER)
def test_handing_over_is_retried(
    world: World, monkeypatch: pytest.MonkeyPatch, errors: list[str]
) -> None:
    monkeypatch.setattr(stackroom.ingestion.run_tasks, "MAX_STEPS", 3)
    world.bedrock.fail("StartIngestionJob", Kind.CONFLICT)
    for error in errors:
        world.functions.interrupt("hand_over", error)

    world.drop(KEY)

    first, _ = world.executions()
    assert first.states[-1] == "RunHandedOver"
    assert len(world.functions.calls_of("hand_over")) == len(errors) + 1
    assert world.status(KEY) == "indexed"


@pytest.mark.parametrize("errors", TOGETHER)
def test_recording_a_failure_is_retried(world: World, errors: list[str]) -> None:
    world.functions.interrupt("start", "KeyError")
    for error in errors:
        world.functions.interrupt("record_failure", error, late=error is errors[-1])

    world.drop(KEY)

    broken, successor = world.executions()
    assert broken.states[-2:] == ["RecordFailure", "RunBroke"]
    assert len(world.functions.calls_of("record_failure")) == len(errors) + 1
    assert successor.input["epoch"] == 2


@pytest.mark.parametrize("action", TASKS)
@pytest.mark.parametrize(("error", "attempts"), [("StoreUnavailable", 7), ("Lambda.Unknown", 6)])
def test_retries_that_run_out_are_recorded_and_followed_after_a_minute(
    world: World, action: str, error: str, attempts: int
) -> None:
    world.functions.interrupt(action, error, times=attempts)

    world.drop(KEY)

    broken, successor = world.executions()
    assert (broken.status, broken.error) == ("FAILED", "RunBroke")
    assert broken.states[-2:] == ["RecordFailure", "RunBroke"]
    assert not world.functions.interruptions[action]
    assert successor.states == ["EnsureDataSource", "IsDataSourceReady", "WaitForDataSource"]
    assert successor.input == {**broken.input, "epoch": 2, "progress": {"delay": 60}}


def test_a_start_whose_answer_got_lost_finds_its_own_job(world: World) -> None:
    world.bedrock.fail("StartIngestionJob", Kind.LOST)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.status == "SUCCEEDED"
    assert len(world.bedrock.jobs()) == 1
    assert world.status(KEY) == "indexed"


def test_a_start_whose_answer_and_token_are_forgotten_adopts_its_own_job(world: World) -> None:
    world.bedrock.fail("StartIngestionJob", Kind.LOST)
    world.bedrock.fail("StartIngestionJob", Kind.CONFLICT)  # its own job is in the way

    world.drop(KEY)

    [execution] = world.executions()
    assert "WaitForKnowledgeBase" not in execution.states
    assert len(world.bedrock.jobs()) == 1
    assert world.status(KEY) == "indexed"
