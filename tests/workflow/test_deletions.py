"""Deleting: a word about it is given only when no search finds the document any more."""

import pytest

import functions.upload_handler.handler as upload_handler
from stackroom.aws import session
from stackroom.aws.bucket import S3DocumentBucket
from stackroom.aws.receipts import DynamoReceipts
from stackroom.deletions.deletions import Deletions
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
