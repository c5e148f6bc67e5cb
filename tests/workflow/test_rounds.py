"""Runs beside each other in a managed knowledge base, from a drop to the end."""

import pytest

from bedrock_kb_simulator.rules import JOB_STARTING
from tests.workflow.bedrock import Bedrock, pool
from tests.workflow.world import World


@pytest.fixture
def managed(bedrock: Bedrock, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool's only member takes three jobs beside each other."""
    home = bedrock.provision_managed()
    monkeypatch.setenv("KB_POOL", pool({home: bedrock.shared[home]}, type="MANAGED"))
    monkeypatch.setenv("KB_DOCS_OWNER", "123456789012")


def test_three_jobs_are_at_work_at_once_in_a_managed_knowledge_base(
    managed: None, world: World
) -> None:
    keys = [f"{user}/research/report.txt" for user in ("alice", "bob", "carol")]
    world.bedrock.hold(*keys)
    for key in keys:
        world.drop(key)
        world.machine.await_events(world.lease(key).execution_name, "WaitStateEntered", times=1)
    world.bedrock.pass_time(JOB_STARTING.value)
    at_work = [each["status"] for each in world.bedrock.jobs()]
    granted = world.grants()

    world.bedrock.let_go(*keys)

    executions = world.executions()
    assert at_work == ["IN_PROGRESS"] * 3
    assert sorted(granted) == sorted(world.catalog(key).catalog_id for key in keys)
    assert {each.states[-1] for each in executions} == {"WorklistSettled"}
    assert [world.status(key) for key in keys] == ["indexed"] * 3
    assert world.bedrock.refusals == []
    assert world.grants() == []
