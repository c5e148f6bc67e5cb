"""Waiting for a knowledge base: one state, a token, and whoever brings it back."""

from typing import Any

import pytest

import stackroom.ingestion.run_tasks
from stackroom.aws.task_tokens import StepFunctionsTaskTokens
from stackroom.errors import StoreUnavailable
from stackroom_local.simulator.disturbances import Kind
from tests.workflow.world import World

pytestmark = pytest.mark.usefixtures("own_first")

KEY = "alice/research/report.txt"
OTHER = "bob/letters/first.txt"
PLACED = ["BeginRun", "IsRunUnderWay"]
STARTED = ["StartIngestion", "IsIngestionStarted"]


@pytest.fixture(autouse=True)
def only(one_knowledge_base: str) -> str:
    """The knowledge base where catalogs meet."""
    return one_knowledge_base


def drop_and_begin(world: World, key: str) -> None:
    """Its run has the grant, and its job is at work."""
    world.drop(key)
    world.machine.await_events(world.lease(key).execution_name, "WaitStateEntered", times=1)


def drop_and_park(world: World, key: str) -> str:
    """The name of the execution that waits to be admitted now."""
    world.drop(key)
    name = world.lease(key).execution_name
    world.machine.await_parked(name)
    return name


def test_a_catalog_waits_for_anothers_job_and_is_woken_when_that_is_over(world: World) -> None:
    world.bedrock.hold(KEY)
    drop_and_begin(world, KEY)
    parked = drop_and_park(world, OTHER)
    while_parked = world.grants()

    world.bedrock.let_go(KEY)

    first, second = world.executions()
    assert while_parked == [world.catalog(KEY).catalog_id]
    assert (first.status, second.name, second.status) == ("SUCCEEDED", parked, "SUCCEEDED")
    assert [world.status(KEY), world.status(OTHER)] == ["indexed", "indexed"]
    assert world.bedrock.refusals == []
    assert world.grants() == []


def test_the_poll_that_finds_a_job_over_hands_the_grant_on(world: World) -> None:
    world.bedrock.hold(KEY, OTHER)
    drop_and_begin(world, KEY)
    drop_and_park(world, OTHER)
    after_poll: list[str] = []

    def note() -> None:
        after_poll.extend(world.grants())

    world.functions.before["settle"].append(note)
    world.bedrock.let_go(KEY)
    world.machine.await_events(world.lease(OTHER).execution_name, "WaitStateEntered", times=1)
    world.bedrock.let_go(OTHER)

    world.executions()
    assert after_poll == [world.catalog(OTHER).catalog_id]


def test_a_parked_run_costs_one_state_however_long_it_waits(world: World) -> None:
    world.bedrock.hold(KEY)
    drop_and_begin(world, KEY)
    parked = drop_and_park(world, OTHER)
    events = world.machine.count_events(parked)

    world.machine.await_events(world.lease(KEY).execution_name, "TaskSucceeded", times=20)
    events_later = world.machine.count_events(parked)
    world.bedrock.let_go(KEY)

    _, second = world.executions()
    assert events_later == events
    assert second.states[:5] == [*PLACED, "AdmitIngestion", *STARTED]
    assert second.states.count("AdmitIngestion") == 1
    assert len(world.functions.calls_of("admit")) == 2


def test_runs_are_served_in_the_order_in_which_they_came(world: World, only: str) -> None:
    keys = [f"{user}/research/report.txt" for user in ("bob", "carol", "dave")]
    world.occupy(only)
    for key in keys:
        drop_and_park(world, key)

    world.vacate()
    world.sweep()

    world.executions()
    assert world.bedrock.prefixes() == [world.catalog(key).s3_prefix for key in keys]
    assert world.bedrock.refusals == []


def test_a_run_that_lost_its_grant_queues_up_again(world: World) -> None:
    def lose() -> None:
        world.drop_grant(world.catalog(KEY).catalog_id)

    world.functions.before["start"].append(lose)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states[2:8] == ["AdmitIngestion", *STARTED] * 2
    assert world.status(KEY) == "indexed"
    assert world.grants() == []


@pytest.mark.parametrize("error", ["StoreUnavailable", "Lambda.Unknown"])
def test_a_repeated_request_replaces_the_token_and_is_woken_by_it(
    world: World, only: str, error: str
) -> None:
    world.occupy(only)
    world.functions.interrupt("admit", error, late=True)
    drop_and_park(world, KEY)
    tokens = [call["token"] for call in world.functions.calls_of("admit")]

    world.vacate()
    world.sweep()

    [execution] = world.executions()
    assert len(set(tokens)) == 2
    assert execution.states.count("AdmitIngestion") == 1
    assert world.status(KEY) == "indexed"


def test_a_repeated_request_whose_grant_was_granted_already_is_woken_at_once(world: World) -> None:
    world.functions.interrupt("admit", "StoreUnavailable", late=True)

    world.drop(KEY)

    [execution] = world.executions()
    assert len(world.functions.calls_of("admit")) == 2
    assert execution.states.count("AdmitIngestion") == 1
    assert world.status(KEY) == "indexed"


@pytest.mark.parametrize("longest_wait", [1])
def test_a_run_that_has_waited_too_long_queues_up_anew_in_its_old_slot(
    world: World, only: str
) -> None:
    world.occupy(only)
    world.drop(KEY)
    world.machine.await_events(world.lease(KEY).execution_name, "TaskSubmitted", times=2)

    world.vacate()
    world.sweep()

    [execution] = world.executions()
    first, second, *_ = world.functions.calls_of("admit")
    assert first["progress"]["waiting_since"] == second["progress"]["waiting_since"]
    assert first["token"] != second["token"]
    assert execution.states.count("AdmitIngestion") == 1
    assert world.status(KEY) == "indexed"


def test_the_sweep_wakes_whom_a_dispatcher_died_over(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.bedrock.hold(KEY)
    drop_and_begin(world, KEY)
    parked = drop_and_park(world, OTHER)
    wake = StepFunctionsTaskTokens.wake

    def die_once(tokens: StepFunctionsTaskTokens, token: str) -> Any:
        monkeypatch.setattr(StepFunctionsTaskTokens, "wake", wake)
        raise StoreUnavailable("SendTaskSuccess", "ServiceUnavailable")

    monkeypatch.setattr(StepFunctionsTaskTokens, "wake", die_once)
    world.bedrock.let_go(KEY)
    world.machine.await_end(world.lease(KEY).execution_name)
    forgotten = world.grants()
    world.sweep()

    assert forgotten == [world.catalog(OTHER).catalog_id]
    assert world.executions()[1].name == parked
    assert world.executions()[1].states.count("AdmitIngestion") == 1
    assert [world.status(KEY), world.status(OTHER)] == ["indexed", "indexed"]


def test_an_aborted_run_loses_its_position_to_the_next(
    world: World, only: str, no_delay: None
) -> None:
    world.occupy(only)
    aborted = drop_and_park(world, KEY)
    drop_and_park(world, OTHER)
    world.machine.abort(aborted)

    world.vacate()
    world.sweep()

    first, second = world.executions()
    assert (first.status, second.status) == ("ABORTED", "SUCCEEDED")
    assert [world.status(KEY), world.status(OTHER)] == ["pending", "indexed"]
    assert world.grants() == []


def test_an_aborted_run_is_followed_by_one_that_queues_up_anew(
    world: World, only: str, no_delay: None
) -> None:
    world.occupy(only)
    world.machine.abort(drop_and_park(world, KEY))
    world.tell_of_broken_runs()
    world.machine.await_parked(world.lease(KEY).execution_name)

    world.vacate()
    world.sweep()

    first, second = world.executions()
    assert (first.status, second.status) == ("ABORTED", "SUCCEEDED")
    assert world.status(KEY) == "indexed"
    assert world.grants() == []


def test_a_broken_run_gives_its_grant_back(world: World) -> None:
    world.functions.interrupt("poll", "KeyError")

    world.drop(KEY)

    broken, _ = world.executions()
    assert broken.states[-2:] == ["RecordFailure", "RunBroke"]
    assert world.grants() == []


def test_handing_over_gives_the_grant_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stackroom.ingestion.run_tasks, "MAX_STEPS", 4)
    world.bedrock.fail("StartIngestionJob", Kind.CONFLICT, times=4)
    held: list[list[str]] = []
    for _ in range(2):
        world.functions.before["hand_over"].append(lambda: held.append(world.grants()))

    world.drop(KEY)

    first, second = world.executions()
    assert held == [[]]
    assert first.states[-3:] == ["HandOverRun", "IsRunHandedOver", "RunHandedOver"]
    assert second.states[:5] == [*PLACED, "AdmitIngestion", *STARTED]
    assert world.status(KEY) == "indexed"
