"""Deleting: a word about it is given only when no search finds the document any more."""

import pytest

import functions.upload_handler.handler as upload_handler
from stackroom.aws import session
from stackroom.aws.bucket import S3DocumentBucket
from stackroom.aws.receipts import DynamoReceipts
from stackroom.deletions.deletions import Deletions
from stackroom_local.simulator.disturbances import Kind
from stackroom_local.simulator.rules import DATA_SOURCE_DELETION
from tests.aws.stores import BUCKET, CONTROL_TABLE
from tests.workflow.world import World

KEY = "alice/research/report.txt"
NOTES = "alice/research/notes.txt"
OTHER = "bob/letters/first.txt"


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


@pytest.fixture(params=["one_knowledge_base", "by_jobs"])
def either(request: pytest.FixtureRequest) -> None:
    """By direct calls, and by jobs."""
    request.getfixturevalue(request.param)


def is_completed(deletions: Deletions, receipt_id: str) -> bool:
    receipt = deletions.receipts.get("alice", receipt_id)
    assert receipt is not None
    return not receipt.is_open and receipt.unsearchable_since is not None


def test_a_deleted_document_has_its_receipt_completed(
    either: None, world: World, deletions: Deletions
) -> None:
    world.drop_all(KEY, NOTES)
    world.executions()
    document = world.document(KEY)
    assert document is not None

    asked = deletions.delete_document("alice", document.catalog_id, document.document_id)

    assert asked.is_open
    world.executions()
    assert is_completed(deletions, asked.receipt_id)
    assert world.document(KEY) is None
    assert [each["filename"] for each in world.bedrock.passages()] == ["notes.txt"]


def test_a_deleted_catalog_goes_with_its_data_source_by_one_call(
    either: None, world: World, deletions: Deletions
) -> None:
    world.drop_all(KEY, NOTES)
    world.executions()
    catalog = world.catalog(KEY)

    deletion = deletions.delete_catalog("alice", catalog.catalog_id)

    *_, execution = world.executions()
    assert "StartIngestion" not in execution.states
    assert execution.states[-1] == "WorklistSettled"
    assert world.catalogs.get(catalog.catalog_id) is None
    assert [world.document(KEY), world.document(NOTES)] == [None, None]
    assert len(world.bedrock.accepted("DeleteDataSource")) == 1
    assert world.bedrock.accepted("DeleteKnowledgeBaseDocuments") == []
    assert (world.bedrock.sources(), world.bedrock.passages()) == ([], [])
    assert [is_completed(deletions, each) for each in deletion.receipt_ids] == [True, True]
    assert world.slots.taken(str(catalog.knowledge_base_id)) == 0
    assert not world.lease(KEY).held
    assert world.grants() == []


@pytest.mark.usefixtures("all_shared")
def test_a_deleted_catalog_leaves_a_shared_data_source_to_the_others(
    world: World, deletions: Deletions
) -> None:
    world.drop_all(KEY, OTHER)
    world.executions()
    catalog = world.catalog(KEY)

    deletions.delete_catalog("alice", catalog.catalog_id)

    assert {each.states[-1] for each in world.executions()} == {"WorklistSettled"}
    assert world.catalogs.get(catalog.catalog_id) is None
    assert world.status(OTHER) == "indexed"
    assert [each["filename"] for each in world.bedrock.passages()] == ["first.txt"]


def test_a_data_source_that_goes_slowly_is_waited_for(world: World, deletions: Deletions) -> None:
    world.drop(KEY)
    world.executions()
    catalog_id = world.catalog(KEY).catalog_id
    a_look = DATA_SOURCE_DELETION.value / 3.5 / 2  # of two calls, three times while it goes
    world.bedrock.look_every(a_look)

    deletions.delete_catalog("alice", catalog_id)

    execution = world.executions()[-1]
    assert execution.states.count("WaitForDataSource") == 4
    assert world.catalogs.get(catalog_id) is None
    assert world.bedrock.sources() == []


def test_a_file_dropped_into_a_catalog_that_is_going_has_it_placed_again(
    world: World, deletions: Deletions
) -> None:
    world.drop(KEY)
    world.executions()
    going = world.catalog(KEY).data_source_id
    world.at("ensure", 2, lambda: world.drop(NOTES))

    deletions.delete_catalog("alice", world.catalog(KEY).catalog_id)

    assert {each.status for each in world.executions()} == {"SUCCEEDED"}
    assert world.catalog(NOTES).data_source_id != going
    assert world.catalog(NOTES).status == "ready"
    assert world.status(NOTES) == "indexed"
    assert world.document(KEY) is None


@pytest.mark.parametrize("operation", ["DeleteDataSource", "ListDataSources", "Retrieve"])
def test_a_takedown_that_bedrock_is_too_busy_for_is_gone_on_with(
    world: World, deletions: Deletions, operation: str
) -> None:
    world.drop(KEY)
    world.executions()
    world.bedrock.fail(operation, Kind.THROTTLE, times=3)

    deletions.delete_catalog("alice", world.catalog(KEY).catalog_id)

    assert {each.status for each in world.executions()} == {"SUCCEEDED"}
    assert world.bedrock.refusals == [operation] * 3
    assert (world.bedrock.sources(), world.bedrock.passages()) == ([], [])
    assert world.document(KEY) is None
