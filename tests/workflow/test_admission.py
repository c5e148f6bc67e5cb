"""Waiting for a knowledge base: one state, a token, and whoever brings it back."""

from typing import Any

import pytest

from stackroom.aws.stepfunctions.executions import StepFunctionsTaskTokens
from stackroom.errors import StoreUnavailable
from tests.workflow.world import World

KEY = "alice/research/report.txt"
OTHER = "bob/letters/first.txt"
ENSURED = ["EnsureDataSource", "IsDataSourceReady"]
STARTED = ["StartIngestion", "IsIngestionStarted"]


@pytest.fixture(autouse=True)
def only(by_jobs: str) -> str:
    """The knowledge base where catalogs meet, one job at a time."""
    return by_jobs


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


def test_catalog_waits_for_anothers_job_in_one_state_and_is_woken_by_it(
    world: World,
) -> None:
    world.bedrock.hold(KEY)
    drop_and_begin(world, KEY)
    parked = drop_and_park(world, OTHER)
    events, while_parked = world.machine.count_events(parked), world.grants()
    world.machine.await_events(world.lease(KEY).execution_name, "TaskSucceeded", times=12)
    events_later = world.machine.count_events(parked)
    at_release: list[str] = []
    releasing = world.functions.before["release"]
    releasing.append(lambda: at_release.extend(world.grants()))

    world.bedrock.let_go(KEY)

    first, second = world.executions()
    assert events_later == events
    assert while_parked == [world.catalog(KEY).catalog_id]
    assert at_release == [world.catalog(OTHER).catalog_id]
    assert (first.status, second.name, second.status) == ("SUCCEEDED", parked, "SUCCEEDED")
    assert second.states[:7] == [*ENSURED, *STARTED, "AdmitIngestion", *STARTED]
    assert [world.status(KEY), world.status(OTHER)] == ["indexed", "indexed"]
    assert world.bedrock.refusals == []
    assert world.grants() == []


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

    _, second = world.executions()
    assert forgotten == [world.catalog(OTHER).catalog_id]
    assert (second.name, second.states.count("AdmitIngestion")) == (parked, 1)
    assert [world.status(KEY), world.status(OTHER)] == ["indexed", "indexed"]
