"""Deleting: a word about it is given only when no search finds the document any more."""

import pytest

import functions.upload_handler.handler as upload_handler
from stackroom.aws import session
from stackroom.aws.bucket import S3DocumentBucket
from stackroom.aws.receipts import DynamoReceipts
from stackroom.deletions.deletions import Deletions
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


def test_a_deleted_document_has_its_receipt_completed(world: World, deletions: Deletions) -> None:
    world.drop(KEY)
    world.executions()
    document = world.document(KEY)
    assert document is not None

    asked = deletions.delete_document("alice", document.catalog_id, document.document_id)

    world.executions()
    receipt = deletions.receipts.get("alice", asked.receipt_id)
    assert receipt is not None
    assert (asked.is_open, receipt.is_open) == (True, False)
    assert receipt.unsearchable_since is not None
    assert world.document(KEY) is None


@pytest.mark.usefixtures("own_first")
def test_a_deleted_catalog_ends_with_its_data_source_and_its_slot_given_back(
    world: World, deletions: Deletions
) -> None:
    world.drop(KEY)
    world.drop(NOTES)
    world.executions()
    catalog = world.catalog(KEY)

    deletions.delete_catalog("alice", catalog.catalog_id)

    assert {each.states[-1] for each in world.executions()} == {"WorklistSettled"}
    assert world.catalogs.get(catalog.catalog_id) is None
    assert [world.document(KEY), world.document(NOTES)] == [None, None]
    assert world.bedrock.sources() == []
    assert world.slots.taken(str(catalog.knowledge_base_id)) == 0
    assert not world.lease(KEY).held
    assert world.grants() == []


def test_a_deleted_catalog_on_the_shared_data_source_leaves_only_that(
    one_knowledge_base: str, world: World, deletions: Deletions
) -> None:
    world.fill(one_knowledge_base)
    world.drop(KEY)
    world.drop(OTHER)
    world.executions()
    catalog = world.catalog(KEY)

    deletions.delete_catalog("alice", catalog.catalog_id)

    assert {each.states[-1] for each in world.executions()} == {"WorklistSettled"}
    assert world.catalogs.get(catalog.catalog_id) is None
    assert world.status(OTHER) == "indexed"
    assert [each["filename"] for each in world.bedrock.passages()] == ["first.txt"]


@pytest.mark.usefixtures("own_first")
def test_a_data_source_that_goes_slowly_is_waited_for(world: World, deletions: Deletions) -> None:
    world.drop(KEY)
    world.executions()
    catalog_id = world.catalog(KEY).catalog_id
    a_look = DATA_SOURCE_DELETION.value / 3.5 / 2  # of two calls, three times while it goes
    world.at("release", 1, lambda: world.bedrock.look_every(a_look))

    deletions.delete_catalog("alice", catalog_id)

    execution = world.executions()[-1]
    assert execution.states.count("WaitToBegin") == 4
    assert world.catalogs.get(catalog_id) is None
    assert world.bedrock.sources() == []


@pytest.mark.usefixtures("own_first")
def test_a_file_dropped_into_a_catalog_that_is_going_has_it_placed_again(
    world: World, deletions: Deletions
) -> None:
    world.drop(KEY)
    world.executions()
    catalog_id = world.catalog(KEY).catalog_id
    world.functions.before["release"].append(lambda: world.drop(NOTES))

    deletions.delete_catalog("alice", catalog_id)

    assert {each.status for each in world.executions()} == {"SUCCEEDED"}
    assert world.catalog(NOTES).status == "ready"
    assert world.status(NOTES) == "indexed"
    assert world.document(KEY) is None
