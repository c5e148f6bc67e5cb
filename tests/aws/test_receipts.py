"""Receipts in DynamoDB, beyond what tests/contract/ports holds every `Receipts` to."""

from datetime import timedelta
from typing import Any

import pytest

from stackroom.aws.leases import DynamoLeases
from stackroom.aws.receipts import DynamoReceipts
from stackroom.model import Receipt
from tests.aws.stores import CONTROL_TABLE
from tests.records import NOW


@pytest.fixture
def receipts(dynamodb: Any) -> DynamoReceipts:
    return DynamoReceipts(client=dynamodb, table=CONTROL_TABLE)


def a_receipt(number: int, filename: str = "report.pdf") -> Receipt:
    return Receipt(
        receipt_id=f"r-{number:04}",
        user_id="alice",
        catalog_id="cat-1",
        document_id=f"doc-{number}",
        filename=filename,
        asked_at=NOW,
    )


def test_a_receipt_is_kept_for_400_days_after_it_was_asked_for_and_is_no_run(
    receipts: DynamoReceipts, dynamodb: Any
) -> None:
    receipts.keep(a_receipt(1))

    key = {"pk": {"S": "RECEIPTS#alice"}, "sk": {"S": "r-0001"}}
    item = dynamodb.get_item(TableName=CONTROL_TABLE, Key=key)["Item"]
    leases = DynamoLeases(client=dynamodb, table=CONTROL_TABLE)
    assert int(item["expires_at"]["N"]) == int((NOW + timedelta(days=400)).timestamp())
    assert list(leases.held()) == list(leases.expired(NOW + timedelta(days=1))) == []


def test_receipts_are_listed_over_all_pages(receipts: DynamoReceipts) -> None:
    kept = [a_receipt(number, "x" * 100_000) for number in range(20)]  # Query answers 1 MB at most
    for each in kept:
        receipts.keep(each)

    assert list(receipts.of_user("alice")) == kept[::-1]


def test_everybodys_open_receipts_are_listed_the_oldest_first_until_they_are_closed(
    receipts: DynamoReceipts,
) -> None:
    late, early, closed = a_receipt(1), a_receipt(2), a_receipt(3)
    early = early.model_copy(update={"user_id": "bob", "asked_at": NOW - timedelta(hours=1)})
    for each in (late, early, closed):
        receipts.keep(each)
    receipts.keep(closed.model_copy(update={"unsearchable_since": NOW}))

    assert receipts.open_ones(limit=10) == [early, late]
    assert receipts.open_ones(limit=1) == [early]
