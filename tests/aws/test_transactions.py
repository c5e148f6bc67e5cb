"""Writes that a transaction of somebody else is in the way of."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from botocore.stub import Stubber

from stackroom.aws import writes
from stackroom.aws.documents import DynamoDocuments
from stackroom.aws.transactions import transact
from stackroom.errors import StoreUnavailable
from stackroom.model import DocumentStatus
from tests.aws.stores import CATALOG_TABLE
from tests.records import NOW, a_document

SERVICE = "dynamodb"  # of the fixture `client`

KEY = {"catalog_id": {"S": "cat-1"}, "sk": {"S": "METADATA"}}
PUT = {"Put": {"TableName": CATALOG_TABLE, "Item": KEY}}

Write = Callable[[Any], object]
WRITES: dict[str, Write] = {
    "transact_write_items": lambda client: transact(client, PUT, PUT),
    "put_item": lambda client: writes.put(client, CATALOG_TABLE, KEY, condition="a = b"),
    "update_item": lambda client: writes.update(
        client, CATALOG_TABLE, KEY, "SET a = :a", {":a": 1}
    ),
    "delete_item": lambda client: writes.delete(
        client, CATALOG_TABLE, KEY, condition="a = :a", values={":a": 1}
    ),
}


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The attempts that were paused after."""
    paused: list[int] = []
    monkeypatch.setattr("stackroom.aws.transactions._among_writers", paused.append)
    return paused


def cancel(stub: Stubber, *reasons: str) -> None:
    canceled = {"CancellationReasons": [{"Code": each} for each in reasons]}
    stub.add_client_error(
        "transact_write_items", "TransactionCanceledException", modeled_fields=canceled
    )


def conflict(stub: Stubber, operation: str) -> None:
    if operation == "transact_write_items":
        cancel(stub, "None", "TransactionConflict")
    else:
        stub.add_client_error(operation, "TransactionConflictException")


@pytest.mark.parametrize("operation", WRITES)
def test_a_write_that_met_another_is_tried_again_until_it_is_for_the_workflow_to_do_so(
    client: Any, pauses: list[int], operation: str
) -> None:
    with Stubber(client) as stub:
        conflict(stub, operation)
        conflict(stub, operation)
        stub.add_response(operation, {"Attributes": KEY} if operation == "update_item" else {})

        WRITES[operation](client)
        stub.assert_no_pending_responses()
        assert pauses == [0, 1]

        pauses.clear()
        for _ in range(12):
            conflict(stub, operation)
        with pytest.raises(StoreUnavailable, match="TransactionConflict"):
            WRITES[operation](client)

    assert len(pauses) == 11


def test_a_transaction_that_came_to_a_busy_partition_is_tried_again_later(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """boto3 repeats throttled calls, but no canceled ones."""
    waited: list[int] = []
    monkeypatch.setattr("stackroom.aws.transactions._while_busy", waited.append)

    with Stubber(client) as stub:
        cancel(stub, "None", "ThrottlingError")
        stub.add_response("transact_write_items", {})
        transact(client, PUT, PUT)
        for _ in range(12):
            cancel(stub, "None", "ProvisionedThroughputExceeded")
        with pytest.raises(StoreUnavailable, match="ProvisionedThroughputExceeded"):
            transact(client, PUT, PUT)
        stub.assert_no_pending_responses()

    assert waited == [0, *range(11)]


def test_a_condition_that_is_not_met_is_no_conflict(client: Any, pauses: list[int]) -> None:
    with Stubber(client) as stub:
        cancel(stub, "ConditionalCheckFailed", "TransactionConflict")

        with pytest.raises(client.exceptions.TransactionCanceledException):
            transact(client, PUT, PUT)

    assert pauses == []


def test_documents_whose_writers_meet_are_all_kept(dynamodb: Any, pauses: list[int]) -> None:
    """A conflict is nobody's change: no RecordChanged, and none is left out of many."""
    documents = DynamoDocuments(client=dynamodb, table=CATALOG_TABLE)
    metadata = {**KEY, "status": {"S": "ready"}}
    dynamodb.put_item(TableName=CATALOG_TABLE, Item=metadata)
    read = documents.save_all(a_document(number) for number in range(3))
    later = NOW + timedelta(minutes=1)

    with Stubber(dynamodb) as stub:
        conflict(stub, "transact_write_items")
        stub.add_response("transact_write_items", {})
        saved = documents.save_all(each.moved(DocumentStatus.INDEXED, at=later) for each in read)
        stub.assert_no_pending_responses()

    assert [each.document_id for each in saved] == ["doc-0000", "doc-0001", "doc-0002"]
    assert pauses == [0]
