"""Runs from a drop to the end: on a data source of their catalog's own, or deleting."""

import pytest

import functions.upload_handler.handler as upload_handler
from bedrock_kb_simulator.rules import JOB_STARTING
from stackroom.aws import session
from stackroom.aws.dynamodb.receipt_records import DynamoReceipts
from stackroom.aws.s3.document_bucket import S3DocumentBucket
from stackroom.catalogs.deletions import Deletions
from stackroom.runs.placement import data_source_name
from tests.aws.stores import BUCKET, CONTROL_TABLE
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
