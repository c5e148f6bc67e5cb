"""Jobs beside each other in one MANAGED knowledge base, under simulated time."""

import pytest

from tests.workflow.bedrock import Bedrock, pool
from tests.workflow.world import World

KEYS = [f"{user}/research/report.txt" for user in ("alice", "bob", "carol")]


@pytest.fixture
def managed(bedrock: Bedrock, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of the pool's only member."""
    home = bedrock.provision_managed()
    monkeypatch.setenv("KB_POOL", pool({home: bedrock.shared[home]}, type="MANAGED"))
    monkeypatch.setenv("KB_DOCS_OWNER", "123456789012")
    return home


def drop_and_begin(world: World, key: str) -> None:
    """Its run has the grant, and its job is at work."""
    world.drop(key)
    world.machine.await_events(world.lease(key).execution_name, "WaitStateEntered", times=1)


def test_three_jobs_are_at_work_at_once(managed: str, world: World) -> None:
    world.bedrock.hold(*KEYS)
    for key in KEYS:
        drop_and_begin(world, key)
    at_work = [each["status"] for each in world.bedrock.jobs()]
    granted = world.grants()

    world.bedrock.let_go(*KEYS)

    executions = world.executions()
    assert at_work == ["IN_PROGRESS"] * 3
    assert sorted(granted) == sorted(world.catalog(key).catalog_id for key in KEYS)
    assert {each.states[-1] for each in executions} == {"WorklistSettled"}
    assert [world.status(key) for key in KEYS] == ["indexed"] * 3
    assert world.bedrock.refusals == []
    assert world.grants() == []
