"""
Each Choice, Catch and Retry of the state machine, with the handlers themselves: where an answer
leads, an error that passes, and one that doesn't. tests/contract/test_workflow.py has their names.
"""

from itertools import product

import pytest

import stackroom.runs.run_tasks
from bedrock_kb_simulator.faults import Kind
from stackroom.aws import session
from stackroom.clock import utc_now
from stackroom.errors import Unavailable
from tests.aws.stores import CATALOG_TABLE
from tests.workflow.world import World

pytestmark = pytest.mark.usefixtures("by_jobs")  # by way of all tasks

KEY = "alice/research/report.txt"
TASKS = ["ensure", "admit", "start", "poll", "release"]
ENSURED = ["EnsureDataSource", "IsDataSourceReady"]
STARTED = ["StartIngestion", "IsIngestionStarted"]
POLLED = ["WaitForIngestion", "PollIngestion", "IsIngestionOver"]
RELEASED = ["ReleaseRun", "IsWorklistSettled", "WorklistSettled"]
LONG = 3600.0  # AWS seconds
# Ours, those of Invoke itself, of a function that died or was too slow.
PASSING = [
    *(error.__name__ for error in Unavailable.__subclasses__()),
    *("Lambda.TooManyRequestsException", "Lambda.Unknown", "Runtime.ExitError", "Sandbox.Timedout"),
]


# Choices.


def test_run_by_jobs_passes_through_the_expected_states(world: World) -> None:
    world.drop(KEY)

    [execution] = world.executions()
    admitted = [*STARTED, "AdmitIngestion", *STARTED]
    assert execution.states == [*ENSURED, *admitted, *POLLED, *RELEASED]
    assert world.bedrock.prefixes() == ["alice/research/"]
    assert (world.status(KEY), world.catalog(KEY).status) == ("indexed", "ready")
    assert not world.lease(KEY).held
    assert world.grants() == []


def test_a_data_source_that_is_being_created_is_waited_for(world: World) -> None:
    world.bedrock.fail("CreateDataSource", Kind.LATE, seconds=LONG)
    world.at("ensure", 3, lambda: world.bedrock.pass_time(LONG))

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states[:6] == [*ENSURED, "WaitForDataSource"] * 2
    assert execution.states.count("WaitForDataSource") == 2
    assert world.status(KEY) == "indexed"


def test_a_job_that_is_refused_is_waited_for_however_often(world: World) -> None:
    for kind in (Kind.CONFLICT, Kind.THROTTLE, Kind.QUOTA, Kind.BUSY):
        world.bedrock.fail("StartIngestionJob", kind, times=4)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.status == "SUCCEEDED"
    assert execution.states.count("WaitForKnowledgeBase") == 16
    assert world.bedrock.refusals == ["StartIngestionJob"] * 16
    assert len(world.bedrock.jobs()) == 1
    assert world.status(KEY) == "indexed"


def test_a_file_changed_while_it_is_ingested_is_ingested_again(world: World) -> None:
    world.at("poll", 1, lambda: world.drop(KEY, b"other text"))

    world.drop(KEY)

    [execution] = world.executions()
    document = world.document(KEY)
    assert execution.states[-1] == "WorklistSettled"
    assert document is not None
    assert (document.status, document.size) == ("indexed", len(b"other text"))
    assert len(world.bedrock.jobs()) == 2
    assert len(world.bedrock.documents()) == 1


def test_run_of_a_deleted_catalog_succeeds(world: World) -> None:
    def forget() -> None:
        catalog_id = world.catalog(KEY).catalog_id
        key = {"catalog_id": {"S": catalog_id}, "sk": {"S": "METADATA"}}
        session.client("dynamodb").delete_item(TableName=CATALOG_TABLE, Key=key)

    world.at("ensure", 1, forget)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states == [*ENSURED, *RELEASED]
    assert not world.lease(KEY).held


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    """Executions hand over after four steps, and Bedrock is busy for as long."""
    monkeypatch.setattr(stackroom.runs.run_tasks, "MAX_STEPS", 4)
    world.bedrock.fail("StartIngestionJob", Kind.CONFLICT, times=3)


def test_a_run_of_many_steps_hands_its_lease_to_one_fresh_execution(
    world: World, short: None
) -> None:
    held: list[list[str]] = []
    world.at("hand_over", 1, lambda: held.append(world.grants()))
    world.functions.interrupt("hand_over", "Sandbox.Timedout", late=True)

    world.drop(KEY)

    first, second = world.executions()
    assert first.states[-3:] == ["HandOverRun", "IsRunHandedOver", "RunHandedOver"]
    assert (first.status, second.status) == ("SUCCEEDED", "SUCCEEDED")
    assert second.input == {**first.input, "epoch": 2, "progress": {"delay": 0}}
    assert held == [[]]
    assert world.status(KEY) == "indexed"


@pytest.mark.parametrize("action", ["ensure", "start", "poll"])
def test_an_outcome_that_no_choice_names_breaks_the_run(world: World, action: str) -> None:
    world.functions.answers[action].append("a word of tomorrow")

    world.drop(KEY)

    broken, successor = world.executions()
    [recorded] = world.functions.calls_of("record_failure")
    assert broken.states[-3:] == ["UnknownOutcome", "RecordFailure", "RunBroke"]
    assert recorded["error"]["Error"] == "UnknownOutcome"
    assert successor.input["progress"] == {"delay": 60}


def test_an_unknown_outcome_of_a_release_that_was_done_has_no_successor(world: World) -> None:
    world.functions.answers["release"].append("a word of tomorrow")

    world.drop(KEY)

    [broken] = world.executions()
    assert broken.states[-3:] == ["UnknownOutcome", "RecordFailure", "RunBroke"]
    assert world.status(KEY) == "indexed"
    assert not world.lease(KEY).held


# Catches.


@pytest.mark.parametrize("action", TASKS)
def test_a_run_that_broke_is_followed_by_one_that_ends_the_work(
    world: World, no_delay: None, action: str
) -> None:
    world.functions.interrupt(action, "KeyError")

    world.drop(KEY)

    broken, successor = world.executions()
    assert (broken.status, successor.status) == ("FAILED", "SUCCEEDED")
    assert successor.states[-1] == "WorklistSettled"
    assert world.status(KEY) == "indexed"
    assert not world.lease(KEY).held
    assert len(world.bedrock.jobs()) == 1


@pytest.mark.parametrize("action", TASKS)
def test_run_whose_lease_was_taken_ends_and_touches_nothing_more(world: World, action: str) -> None:
    def take() -> None:
        assert world.leases.take(world.lease(KEY), until=utc_now(), failures=0)

    world.functions.before[action].append(take)

    world.drop(KEY)

    [execution] = world.executions()
    assert (execution.status, execution.error) == ("FAILED", "RunSuperseded")
    assert execution.states[-1] == "RunSuperseded"
    assert world.functions.actions()[-1] == action
    assert world.lease(KEY).epoch == 2


def test_failure_that_could_not_be_recorded_is_handled_by_eventbridge(
    world: World, no_delay: None
) -> None:
    world.functions.interrupt("start", "KeyError")
    world.functions.interrupt("record_failure", "KeyError")
    world.drop(KEY)
    [broken] = world.executions()

    world.tell_of_broken_runs()
    world.tell_of_broken_runs()

    assert broken.states[-2:] == ["RecordFailure", "RunBroke"]
    assert [each.status for each in world.executions()] == ["FAILED", "SUCCEEDED"]
    assert world.status(KEY) == "indexed"


# Retries.


def test_transient_errors_are_retried_by_every_task_of_a_round(world: World) -> None:
    for action, error in product(TASKS, PASSING):
        world.functions.interrupt(action, error)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.status == "SUCCEEDED"
    assert not any(world.functions.interruptions.values())
    assert world.status(KEY) == "indexed"
    assert len(world.bedrock.jobs()) == 1


def test_handing_over_is_retried(world: World, short: None) -> None:
    for error in PASSING:
        world.functions.interrupt("hand_over", error)

    world.drop(KEY)

    first, _ = world.executions()
    assert first.states[-1] == "RunHandedOver"
    assert len(world.functions.calls_of("hand_over")) == len(PASSING) + 1
    assert world.status(KEY) == "indexed"


def test_recording_a_failure_is_retried(world: World) -> None:
    world.functions.interrupt("start", "KeyError")
    for error in PASSING:
        world.functions.interrupt("record_failure", error, late=error is PASSING[-1])

    world.drop(KEY)

    broken, successor = world.executions()
    assert broken.states[-2:] == ["RecordFailure", "RunBroke"]
    assert len(world.functions.calls_of("record_failure")) == len(PASSING) + 1
    assert successor.input["epoch"] == 2


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


@pytest.mark.parametrize(
    ("action", "error", "attempts"),
    [("start", "StoreUnavailable", 7), ("poll", "Lambda.Unknown", 6)],
)
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
