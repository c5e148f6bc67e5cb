"""A catalog's run on a data source of its own: by direct calls, as a rule, or by ingestion jobs."""

import pytest

from stackroom.keys import Location, locate
from stackroom.runs.placement import data_source_name
from stackroom.settlement.verdicts import MAX_ATTEMPTS
from stackroom_local.simulator.disturbances import Kind
from tests.workflow.bedrock import Bedrock, pool
from tests.workflow.world import World

KEY = "alice/research/report.txt"
OTHER = "alice/research/notes.txt"
INGEST = "IngestKnowledgeBaseDocuments"
ENSURED = ["EnsureDataSource", "IsDataSourceReady"]
STARTED = ["StartIngestion", "IsIngestionStarted"]
POLLED = ["WaitForIngestion", "PollIngestion", "IsIngestionOver"]
RELEASED = ["ReleaseRun", "IsWorklistSettled", "WorklistSettled"]


@pytest.fixture(params=["one_knowledge_base", "by_jobs"])
def either(request: pytest.FixtureRequest) -> None:
    """By direct calls, and by jobs."""
    request.getfixturevalue(request.param)


def found(world: World) -> list[str]:
    """The names of the files that a search finds."""
    return sorted(str(each["filename"]) for each in world.bedrock.passages())


def test_a_first_file_is_indexed_by_one_execution_that_makes_a_data_source(world: World) -> None:
    world.drop(KEY)

    [execution] = world.executions()
    # Bedrock's word comes with the first poll, a search's with the next.
    assert execution.states == [*ENSURED, *STARTED, *POLLED, *POLLED, *RELEASED]
    assert execution.status == "SUCCEEDED"
    assert (world.status(KEY), world.catalog(KEY).status) == ("indexed", "ready")
    [source] = world.bedrock.sources()
    assert source["name"] == data_source_name(world.catalog(KEY))
    assert source["dataSourceConfiguration"] == {"type": "CUSTOM"}
    assert not world.lease(KEY).held
    assert world.grants() == []


def test_a_second_file_finds_the_data_source_there(either: None, world: World) -> None:
    world.drop(KEY)
    world.executions()

    world.drop(OTHER)

    first, second = world.executions()
    assert (first.input["epoch"], second.input["epoch"]) == (1, 2)
    assert second.name == f"{world.catalog(KEY).catalog_id}-2"
    assert len(world.bedrock.sources()) == 1
    assert found(world) == ["notes.txt", "report.txt"]
    assert {each["user_id"] for each in world.bedrock.passages()} == {"alice"}


def test_an_ingestion_is_polled_until_it_is_over(either: None, world: World) -> None:
    world.bedrock.hold(KEY)
    world.at("poll", 4, lambda: world.bedrock.let_go(KEY))

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states.count("PollIngestion") >= 4
    assert execution.states.count("StartIngestion") == len(world.functions.calls_of("start"))
    assert world.status(KEY) == "indexed"


def test_files_that_come_while_one_is_at_work_are_sent_beside_it(world: World) -> None:
    keys = [f"alice/research/{number}.txt" for number in range(5)]
    world.bedrock.hold(KEY)
    before: list[str | None] = []

    def look() -> None:
        if not before and {world.status(key) for key in keys} == {"indexed"}:
            before.append(world.status(KEY))
            world.bedrock.let_go(KEY)

    world.at("poll", 1, lambda: world.drop_all(*keys))
    world.functions.before["poll"].extend([look] * 100)

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states[-1] == "WorklistSettled"
    assert before == ["indexing"]
    assert world.status(KEY) == "indexed"


def test_files_that_come_during_a_job_share_the_next_one(by_jobs: str, world: World) -> None:
    keys = [f"alice/research/{number}.txt" for number in range(5)]
    world.at("poll", 1, lambda: world.drop_all(*keys))

    world.drop(KEY)

    [execution] = world.executions()
    assert execution.states[-1] == "WorklistSettled"
    assert len(world.bedrock.jobs()) == 2
    assert {world.status(key) for key in (KEY, *keys)} == {"indexed"}


def test_a_removed_file_leaves_index_and_table(either: None, world: World) -> None:
    world.drop(KEY)
    world.drop(OTHER)
    world.executions()

    world.remove(KEY)

    assert {each.status for each in world.executions()} == {"SUCCEEDED"}
    assert world.document(KEY) is None
    assert found(world) == ["notes.txt"]
    assert world.catalog(KEY).document_count == 1


def test_a_failed_document_says_why_and_leaves_the_others_alone(world: World) -> None:
    place = locate(KEY)
    assert isinstance(place, Location)
    world.bedrock.fail(INGEST, Kind.FAILED, where=place.document_id, times=MAX_ATTEMPTS)
    world.at("ensure", 1, lambda: world.drop(OTHER))

    world.drop(KEY)

    [execution] = world.executions()
    document = world.document(KEY)
    assert execution.states[-1] == "WorklistSettled"
    assert document is not None
    assert document.status == "failed"
    assert "Bedrock could not ingest the file" in str(document.status_reason)
    assert world.status(OTHER) == "indexed"


def test_a_direct_call_that_is_refused_is_waited_for_however_often(world: World) -> None:
    for kind in (Kind.THROTTLE, Kind.BUSY):
        world.bedrock.fail(INGEST, kind, times=5)

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
