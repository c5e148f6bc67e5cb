"""What every `Receipts` promises: kept as told, for their user alone."""

from datetime import timedelta

import pytest

from stackroom.aws.receipts import DynamoReceipts
from stackroom.model import Receipt
from stackroom.ports.receipts import Receipts
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.pipeline import FakeReceipts
from tests.records import NOW

LATER = NOW + timedelta(minutes=1)


@pytest.fixture(params=["fake", "dynamodb"])
def receipts(request: pytest.FixtureRequest) -> Receipts:
    if request.param == "fake":
        return FakeReceipts()
    return DynamoReceipts(client=request.getfixturevalue("dynamodb"), table=CONTROL_TABLE)


def a_receipt(number: int = 1, user_id: str = "alice") -> Receipt:
    return Receipt(
        receipt_id=f"20260203T10300{number}-{number}",
        user_id=user_id,
        catalog_id="cat-1",
        document_id=f"doc-{number}",
        filename="Résumé.pdf",
        asked_at=NOW,
    )


def test_a_receipt_reads_back_whole_and_no_other(receipts: Receipts) -> None:
    receipts.keep(a_receipt(1))

    assert receipts.get("alice", a_receipt(1).receipt_id) == a_receipt(1)
    assert receipts.get("alice", a_receipt(2).receipt_id) is None
    assert receipts.get("bob", a_receipt(1).receipt_id) is None


def test_a_receipt_that_is_kept_again_is_as_told_last(receipts: Receipts) -> None:
    receipts.keep(a_receipt())
    times = {"searchable_before": NOW, "not_found_at": LATER, "unsearchable_since": LATER}
    closed = a_receipt().model_copy(update=times)

    receipts.keep(closed)

    assert receipts.get("alice", closed.receipt_id) == closed
    assert list(receipts.of_user("alice")) == [closed]


@pytest.mark.parametrize("how", ["unsearchable_since", "superseded_at"])
def test_a_closed_receipt_stays_as_it_was_closed(receipts: Receipts, how: str) -> None:
    closed = a_receipt().model_copy(update={how: NOW})
    receipts.keep(closed)

    receipts.keep(a_receipt())
    receipts.keep(a_receipt().model_copy(update={"unsearchable_since": LATER}))

    assert receipts.get("alice", closed.receipt_id) == closed


def test_a_user_sees_the_own_receipts_the_newest_first(receipts: Receipts) -> None:
    for number in (2, 1, 3):
        receipts.keep(a_receipt(number))
    receipts.keep(a_receipt(4, user_id="bob"))

    listed = list(receipts.of_user("alice"))

    assert listed == [a_receipt(3), a_receipt(2), a_receipt(1)]
    assert list(receipts.of_user("carol")) == []
