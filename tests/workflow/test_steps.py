"""What is in a run's way: busy answers, full knowledge bases, and histories that fill up."""

import pytest

import stackroom.ingestion.run_tasks
from stackroom_local.simulator.disturbances import Kind
from tests.workflow.world import World

KEY = "alice/research/report.txt"
INGEST = "IngestKnowledgeBaseDocuments"


@pytest.mark.parametrize("kind", [Kind.CONFLICT, Kind.THROTTLE, Kind.QUOTA, Kind.BUSY])
def test_a_job_that_is_refused_is_waited_for_however_often(
    by_jobs: str, world: World, kind: Kind
) -> None:
    world.bedrock.fail("StartIngestionJob", kind, times=10)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.status == "SUCCEEDED"
    assert execution.states.count("WaitForKnowledgeBase") == 10
    assert world.bedrock.refusals == ["StartIngestionJob"] * 10
    assert len(world.bedrock.jobs()) == 1
    assert world.status(KEY) == "indexed"


@pytest.mark.parametrize("kind", [Kind.THROTTLE, Kind.BUSY])
def test_a_direct_call_that_is_refused_is_waited_for_however_often(
    world: World, kind: Kind
) -> None:
    world.bedrock.fail(INGEST, kind, times=10)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states[-1] == "WorklistSettled"
    assert execution.states.count("WaitForKnowledgeBase") == 10
    assert world.bedrock.refusals == [INGEST] * 10
    assert world.status(KEY) == "indexed"
    assert world.grants() == []


@pytest.mark.parametrize(
    "operation", ["CreateDataSource", "GetDataSource", "GetKnowledgeBaseDocuments"]
)
def test_whatever_else_is_throttled_is_asked_again(world: World, operation: str) -> None:
    world.bedrock.fail(operation, Kind.THROTTLE, times=10)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.status == "SUCCEEDED"
    assert world.bedrock.refusals == [operation] * 10
    assert world.status(KEY) == "indexed"


def test_a_knowledge_base_that_others_have_filled_is_passed_over(world: World) -> None:
    filled, other = world.bedrock.shared
    world.bedrock.crowd(filled)

    world.drop(KEY)

    world.executions()
    assert world.catalog(KEY).knowledge_base_id == other
    assert world.catalog(KEY).catalog_id not in (world.slots.noted(filled) or ())
    assert world.status(KEY) == "indexed"


def test_a_slot_held_since_a_crash_but_lost_is_replaced_by_another(world: World) -> None:
    lost, other = world.bedrock.shared
    world.bedrock.fail("CreateDataSource", Kind.INTERNAL)
    world.at("ensure", 2, lambda: world.bedrock.crowd(lost))

    world.drop(KEY)

    world.executions()
    assert world.catalog(KEY).knowledge_base_id == other
    assert world.status(KEY) == "indexed"


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    """Executions hand over after four steps, and Bedrock is busy for as long."""
    monkeypatch.setattr(stackroom.ingestion.run_tasks, "MAX_STEPS", 4)
    world.bedrock.fail(INGEST, Kind.THROTTLE, times=5)


def test_a_run_of_many_steps_hands_its_lease_to_a_fresh_execution(
    world: World, short: None
) -> None:
    held: list[list[str]] = []
    world.at("hand_over", 1, lambda: held.append(world.grants()))

    world.drop(KEY)

    first, second = world.executions()
    assert first.states[-3:] == ["HandOverRun", "IsRunHandedOver", "RunHandedOver"]
    assert (first.status, second.status) == ("SUCCEEDED", "SUCCEEDED")
    assert second.input == {**first.input, "epoch": 2, "progress": {"delay": 0}}
    assert held == [[]]
    assert world.status(KEY) == "indexed"


def test_handing_over_twice_makes_one_successor(world: World, short: None) -> None:
    world.functions.interrupt("hand_over", "Lambda.Unknown", late=True)

    world.drop(KEY)

    first, second = world.executions()
    assert first.states[-1] == "RunHandedOver"
    assert second.status == "SUCCEEDED"
    assert world.status(KEY) == "indexed"
