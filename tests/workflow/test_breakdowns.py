"""What runs leave behind that broke, were stopped or died: no document is forgotten over them."""

import pytest

from stackroom.clock import utc_now
from stackroom_local.simulator.disturbances import Kind
from tests.workflow.world import World

pytestmark = pytest.mark.usefixtures("by_jobs")  # by way of all tasks

KEY = "alice/research/report.txt"
OTHER = "alice/research/notes.txt"


def test_what_arrives_while_a_broken_run_has_a_job_is_not_forgotten(
    world: World, no_delay: None
) -> None:
    def break_down() -> None:
        world.drop(OTHER)
        world.functions.interrupt("poll", "KeyError")

    world.functions.before["poll"].append(break_down)

    world.drop(KEY)

    world.executions()
    assert world.status(KEY) == "indexed"
    assert world.status(OTHER) == "indexed"
    assert not world.lease(KEY).held


def test_an_execution_that_was_aborted_is_followed(world: World, no_delay: None) -> None:
    world.functions.before["poll"].append(world.machine.stop_at_once)
    world.drop(KEY)
    [aborted] = world.executions()

    world.tell_of_broken_runs()

    assert aborted.status == "ABORTED"
    assert world.executions()[1].status == "SUCCEEDED"
    assert world.status(KEY) == "indexed"


def test_the_sweep_follows_a_run_that_ended_without_a_word(world: World, no_delay: None) -> None:
    world.functions.before["poll"].append(world.machine.stop_at_once)
    world.drop(KEY)
    [aborted] = world.executions()
    world.expire_lease(KEY)

    followed = world.sweep()

    assert followed == [aborted.name]
    assert world.executions()[1].status == "SUCCEEDED"
    assert world.status(KEY) == "indexed"
    assert world.sweep() == []


def test_a_lease_taken_by_someone_who_died_is_started_by_the_sweep(world: World) -> None:
    world.drop(KEY)
    world.executions()
    assert world.leases.take(world.lease(KEY), until=utc_now(), failures=0)

    world.sweep()

    assert [each.status for each in world.executions()] == ["SUCCEEDED", "SUCCEEDED"]
    assert not world.lease(KEY).held


def test_an_execution_started_by_hand_under_any_name_disturbs_nothing(world: World) -> None:
    world.drop(KEY)
    world.executions()

    told = world.ingest({"action": "recover", "execution_name": "a-try-of-mine"})

    assert told == {"failed_documents": 0}
    assert len(world.executions()) == 1


def test_a_start_whose_answer_and_token_are_forgotten_adopts_its_own_job(world: World) -> None:
    world.bedrock.fail("StartIngestionJob", Kind.LOST)
    world.bedrock.fail("StartIngestionJob", Kind.CONFLICT)  # its own job is in the way

    world.drop(KEY)

    [execution] = world.executions()
    assert "WaitForKnowledgeBase" not in execution.states
    assert len(world.bedrock.jobs()) == 1
    assert world.status(KEY) == "indexed"
