"""What is in a run's way: busy answers, full knowledge bases, and histories that fill up."""

import pytest

import stackroom.ingestion.run_tasks
from stackroom_local.simulator.disturbances import Kind
from tests.workflow.world import World

pytestmark = pytest.mark.usefixtures("own_first")

KEY = "alice/research/report.txt"


@pytest.mark.parametrize("kind", [Kind.CONFLICT, Kind.THROTTLE, Kind.QUOTA, Kind.BUSY])
def test_a_busy_answer_is_waited_out_however_often_it_comes(world: World, kind: Kind) -> None:
    world.bedrock.fail("StartIngestionJob", kind, times=10)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.status == "SUCCEEDED"
    assert execution.states.count("WaitForKnowledgeBase") == 10
    assert [each["progress"]["polls"] for each in world.functions.calls_of("start")] == [*range(11)]
    assert len(world.bedrock.jobs()) == 1
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
    world.at("begin", 2, lambda: world.bedrock.crowd(lost))

    world.drop(KEY)

    world.executions()
    assert world.catalog(KEY).knowledge_base_id == other
    assert world.status(KEY) == "indexed"


def test_a_run_of_many_steps_hands_over_to_a_fresh_execution(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stackroom.ingestion.run_tasks, "MAX_STEPS", 4)
    world.bedrock.fail("StartIngestionJob", Kind.CONFLICT, times=5)

    world.drop(KEY)

    first, second = world.executions()
    assert first.states[-3:] == ["HandOverRun", "IsRunHandedOver", "RunHandedOver"]
    assert (first.status, second.status) == ("SUCCEEDED", "SUCCEEDED")
    assert second.input == {
        "worklist_id": first.input["worklist_id"],
        "epoch": 2,
        "progress": {"delay": 0},
    }
    assert world.status(KEY) == "indexed"


def test_handing_over_twice_makes_one_successor(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stackroom.ingestion.run_tasks, "MAX_STEPS", 2)
    world.bedrock.fail("StartIngestionJob", Kind.CONFLICT)
    world.functions.interrupt("hand_over", "Lambda.Unknown", late=True)

    world.drop(KEY)

    first, second = world.executions()
    assert first.states[-1] == "RunHandedOver"
    assert second.status == "SUCCEEDED"
    assert world.status(KEY) == "indexed"
