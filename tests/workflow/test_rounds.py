"""Runs from a drop to the end: on a source of their own or a shared one, broken, or deleting."""

import pytest

import functions.upload_handler.handler as upload_handler
from stackroom.aws import session
from stackroom.aws.bucket import S3DocumentBucket
from stackroom.aws.receipts import DynamoReceipts
from stackroom.deletions.deletions import Deletions
from stackroom.runs.placement import data_source_name
from stackroom.runs.worklists import shared_worklist
from stackroom_local.simulator.disturbances import Kind
from tests.aws.stores import BUCKET, CONTROL_TABLE
from tests.workflow.bedrock import Bedrock, pool
from tests.workflow.world import World

KEY = "alice/research/report.txt"
OTHER = "alice/research/notes.txt"
BOBS = "bob/letters/first.txt"
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


# On a data source that catalogs share.


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
    assert sixth.states == [*ENSURED, *STARTED, *POLLED, *POLLED, *RELEASED]
    shared = [world.catalog(key).data_source_id for key in keys[4:]]
    assert shared == [world.bedrock.shared[one_knowledge_base]] * 2
    assert len({world.catalog(key).data_source_id for key in keys}) == 5
    assert len(world.bedrock.sources()) == 4
    assert {world.status(key) for key in keys} == {"indexed"}
    assert world.grants() == []


@pytest.mark.usefixtures("all_shared")
def test_a_catalog_that_comes_later_is_served_by_the_run_that_is_under_way(world: World) -> None:
    world.drop("carol/notes/first.txt")
    world.executions()
    world.bedrock.hold(KEY)
    before: list[str | None] = []

    def look() -> None:
        if not before and world.status(BOBS) == "indexed":
            before.append(world.status(KEY))
            world.bedrock.let_go(KEY)

    polls = len(world.functions.calls_of("poll"))
    world.at("poll", 1, lambda: world.drop(BOBS))
    world.functions.before["poll"].extend([look] * 100)

    world.drop(KEY)

    *_, execution = world.executions()
    assert execution.states[-1] == "WorklistSettled"
    assert execution.states.count("PollIngestion") == len(world.functions.calls_of("poll")) - polls
    assert before == ["indexing"]
    assert [world.status(KEY), world.status(BOBS)] == ["indexed", "indexed"]
    assert world.bedrock.refusals == []


# What broke, was stopped or died.


@pytest.mark.usefixtures("by_jobs")
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


@pytest.mark.usefixtures("by_jobs")
def test_an_execution_that_was_aborted_is_followed(world: World, no_delay: None) -> None:
    world.functions.before["poll"].append(world.machine.stop_at_once)
    world.drop(KEY)
    [aborted] = world.executions()

    world.tell_of_broken_runs()

    assert aborted.status == "ABORTED"
    assert world.executions()[1].status == "SUCCEEDED"
    assert world.status(KEY) == "indexed"


@pytest.mark.usefixtures("by_jobs")
def test_a_start_whose_answer_and_token_are_forgotten_adopts_its_own_job(world: World) -> None:
    world.bedrock.fail("StartIngestionJob", Kind.LOST)
    world.bedrock.fail("StartIngestionJob", Kind.CONFLICT)  # its own job is in the way

    world.drop(KEY)

    [execution] = world.executions()
    assert "WaitForKnowledgeBase" not in execution.states
    assert len(world.bedrock.jobs()) == 1
    assert world.status(KEY) == "indexed"


# Deleting.


@pytest.fixture
def deletions(world: World) -> Deletions:
    return Deletions(
        catalogs=world.catalogs,
        documents=world.documents,
        bucket=S3DocumentBucket(client=session.client("s3"), bucket=BUCKET),
        receipts=DynamoReceipts(client=session.client("dynamodb"), table=CONTROL_TABLE),
        uploads=upload_handler.uploads(),
        requests=upload_handler.requests(),
    )


def is_completed(deletions: Deletions, receipt_id: str) -> bool:
    receipt = deletions.receipts.get("alice", receipt_id)
    assert receipt is not None
    return not receipt.is_open and receipt.unsearchable_since is not None


def test_a_deleted_catalog_goes_with_its_data_source_by_one_call(
    either: None, world: World, deletions: Deletions
) -> None:
    world.drop_all(KEY, OTHER)
    world.executions()
    catalog = world.catalog(KEY)

    deletion = deletions.delete_catalog("alice", catalog.catalog_id)

    *_, execution = world.executions()
    assert "StartIngestion" not in execution.states
    assert execution.states[-1] == "WorklistSettled"
    assert world.catalogs.get(catalog.catalog_id) is None
    assert [world.document(KEY), world.document(OTHER)] == [None, None]
    assert len(world.bedrock.accepted("DeleteDataSource")) == 1
    assert world.bedrock.accepted("DeleteKnowledgeBaseDocuments") == []
    assert (world.bedrock.sources(), world.bedrock.passages()) == ([], [])
    assert [is_completed(deletions, each) for each in deletion.receipt_ids] == [True, True]
    assert world.slots.taken(str(catalog.knowledge_base_id)) == 0
    assert not world.lease(KEY).held
    assert world.grants() == []
