"""Catalogs that share a data source: the pool has no room for more, or all are to share one."""

import pytest

from stackroom.runs.worklists import shared_worklist
from stackroom_local.simulator.disturbances import Kind
from tests.workflow.world import World

KEY = "alice/research/report.txt"
NOTES = "alice/research/notes.txt"
OTHER = "bob/letters/first.txt"
INGEST = "IngestKnowledgeBaseDocuments"
ENSURED = ["EnsureDataSource", "IsDataSourceReady"]
STARTED = ["StartIngestion", "IsIngestionStarted"]
POLLED = ["WaitForIngestion", "PollIngestion", "IsIngestionOver"] * 2
RELEASED = ["ReleaseRun", "IsWorklistSettled", "WorklistSettled"]


def test_four_catalogs_have_data_sources_of_their_own_and_the_others_share_one(
    one_knowledge_base: str, world: World
) -> None:
    keys = [f"alice/shelf {number}/report.txt" for number in range(6)]
    for key in keys:
        world.drop(key)
        world.executions()

    executions = world.executions()

    fifth, sixth = executions[4:]
    assert fifth.input["worklist_id"] == shared_worklist(one_knowledge_base)
    assert sixth.input["worklist_id"] == shared_worklist(one_knowledge_base)
    assert sixth.states == [*ENSURED, *STARTED, *POLLED, *RELEASED]
    shared = [world.catalog(key).data_source_id for key in keys[4:]]
    assert shared == [world.bedrock.shared[one_knowledge_base]] * 2
    assert len({world.catalog(key).data_source_id for key in keys}) == 5
    assert len(world.bedrock.sources()) == 4
    assert {world.status(key) for key in keys} == {"indexed"}
    assert world.grants() == []


@pytest.mark.usefixtures("all_shared")
def test_where_all_are_to_share_one_nobody_has_any_else(world: World) -> None:
    world.drop(KEY)
    first, second = world.executions()

    world.drop_all(OTHER, NOTES)

    assert {each.states[-1] for each in world.executions()} == {"WorklistSettled"}
    # The first of all finds out that there is no room.
    assert first.states == [*ENSURED, *RELEASED]
    assert second.states == [*ENSURED, *STARTED, *POLLED, *RELEASED]
    assert world.bedrock.sources() == []
    owners = sorted(str(each["user_id"]) for each in world.bedrock.passages())
    assert owners == ["alice", "alice", "bob"]


@pytest.mark.usefixtures("all_shared")
def test_a_catalog_that_comes_later_is_served_by_the_run_that_is_under_way(world: World) -> None:
    world.drop("carol/notes/first.txt")
    world.executions()
    world.bedrock.hold(KEY)
    before: list[str | None] = []

    def look() -> None:
        if not before and world.status(OTHER) == "indexed":
            before.append(world.status(KEY))
            world.bedrock.let_go(KEY)

    polls = len(world.functions.calls_of("poll"))
    world.at("poll", 1, lambda: world.drop(OTHER))
    world.functions.before["poll"].extend([look] * 100)

    world.drop(KEY)

    *_, execution = world.executions()
    assert execution.states[-1] == "WorklistSettled"
    assert execution.states.count("PollIngestion") == len(world.functions.calls_of("poll")) - polls
    assert before == ["indexing"]
    assert [world.status(KEY), world.status(OTHER)] == ["indexed", "indexed"]
    assert world.bedrock.refusals == []


@pytest.mark.usefixtures("all_shared")
def test_a_call_whose_answer_got_lost_is_sent_again(world: World) -> None:
    for _ in range(2):
        world.bedrock.fail(INGEST, Kind.DROPPED)

    world.drop(KEY)

    assert {each.status for each in world.executions()} == {"SUCCEEDED"}
    assert world.status(KEY) == "indexed"
    assert world.grants() == []
