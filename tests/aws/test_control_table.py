"""The control table's items, beyond what tests/contract/ports requires of every store."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import TypeAdapter

from stackroom.aws.dynamodb.admission_records import DynamoAdmissionBook
from stackroom.aws.dynamodb.inspection_records import DynamoInspections
from stackroom.aws.dynamodb.items import instant, to_item
from stackroom.aws.dynamodb.lease_records import DynamoLeases, DynamoWorklists
from stackroom.aws.dynamodb.receipt_records import DynamoReceipts
from stackroom.aws.dynamodb.user_records import DynamoSelections
from stackroom.errors import RecordChanged
from stackroom.model.records import Receipt
from stackroom.model.repositories import Inspected
from stackroom.runs.ledger import Grant, Ledger, Mode, Waiter
from stackroom.runs.run_leases import Lease
from tests.aws.stores import CONTROL_TABLE
from tests.support.records import NOW, a_receipt


@pytest.fixture
def leases(dynamodb: Any) -> DynamoLeases:
    return DynamoLeases(client=dynamodb, table=CONTROL_TABLE)


LONG = timedelta(days=4000)


def taken(leases: DynamoLeases, worklist_id: str) -> Lease:
    lease = leases.take(leases.ask(worklist_id), until=NOW, failures=0)
    assert lease is not None
    return lease


def test_held_leases_are_listed_over_all_pages(leases: DynamoLeases, dynamodb: Any) -> None:
    held = {taken(leases, f"cat-{number}").worklist_id for number in range(12)}
    leases.ask("cat-free")
    taken(leases, "cat-done")
    leases.release("cat-done", 1, served=1)
    for number in range(12):  # Scan answers 1 MB at a time, before it filters
        item = {"pk": {"S": f"INSPECTION#{number}"}, "sk": {"S": "x"}, "reason": {"S": "x" * 2**17}}
        dynamodb.put_item(TableName=CONTROL_TABLE, Item=item)

    assert {lease.worklist_id for lease in leases.held()} == held


@pytest.fixture
def receipts(dynamodb: Any) -> DynamoReceipts:
    return DynamoReceipts(client=dynamodb, table=CONTROL_TABLE)


def test_receipt_expires_after_400_days_and_is_not_a_lease(
    receipts: DynamoReceipts, dynamodb: Any
) -> None:
    receipts.keep(a_receipt(1))

    key = {"pk": {"S": "RECEIPTS#alice"}, "sk": {"S": "r-0001"}}
    item = dynamodb.get_item(TableName=CONTROL_TABLE, Key=key)["Item"]
    leases = DynamoLeases(client=dynamodb, table=CONTROL_TABLE)
    assert int(item["expires_at"]["N"]) == int((NOW + timedelta(days=400)).timestamp())
    assert list(leases.held()) == list(leases.expired(NOW + timedelta(days=1))) == []


def test_open_receipts_of_all_users_are_listed_oldest_first_until_closed(
    receipts: DynamoReceipts,
) -> None:
    late, closed = a_receipt(1), a_receipt(3)
    early = a_receipt(2, user_id="bob", asked_at=NOW - timedelta(hours=1))
    for each in (late, early, closed):
        receipts.keep(each)
    receipts.keep(closed.model_copy(update={"unsearchable_since": NOW}))

    assert receipts.open_ones(limit=10) == [early, late]
    assert receipts.open_ones(limit=1) == [early]


def test_receipts_that_a_search_closed_are_listed_until_they_are_let_go_of(
    receipts: DynamoReceipts,
) -> None:
    def closed(number: int) -> Receipt:
        at = NOW - timedelta(minutes=number)
        return a_receipt(number, not_found_at=at, unsearchable_since=at)

    first, *others = kept = [closed(number) for number in range(1, 31)]
    for each in (*kept, a_receipt(31, unsearchable_since=NOW), a_receipt(32)):
        receipts.keep(each)
    page = receipts.proven(None)
    listed = [*page.items, *receipts.proven(page.next).items]

    receipts.reopen(first, at=NOW)
    with pytest.raises(RecordChanged):
        receipts.reopen(first, at=NOW)
    for each in kept:
        receipts.end_checks(each)

    reopened = a_receipt(1, found_again_at=NOW)
    assert listed == [first, *others]
    assert receipts.proven(None).items == []
    assert receipts.get("alice", others[0].receipt_id) == others[0]
    assert receipts.get("alice", first.receipt_id) == reopened
    assert reopened in receipts.open_ones(limit=9)


UNTIL = NOW + timedelta(hours=12)


@pytest.fixture
def selections(dynamodb: Any) -> DynamoSelections:
    return DynamoSelections(client=dynamodb, table=CONTROL_TABLE)


def test_a_selection_is_of_one_session_of_one_user(selections: DynamoSelections) -> None:
    selections.keep("alice", "s1", "cat-1", until=UNTIL)

    asked = [("alice", "s1"), ("alice", "s2"), ("bob", "s1")]
    assert [selections.get(*each, at=NOW) for each in asked] == ["cat-1", None, None]


def test_selection_expires_before_dynamodb_removes_it(
    selections: DynamoSelections, dynamodb: Any
) -> None:
    selections.keep("alice", "s1", "cat-1", until=UNTIL)

    last = selections.get("alice", "s1", at=UNTIL - timedelta(seconds=1))
    over = selections.get("alice", "s1", at=UNTIL)

    [item] = dynamodb.scan(TableName=CONTROL_TABLE)["Items"]
    assert (last, over) == ("cat-1", None)
    assert int(item["expires_at"]["N"]) == UNTIL.timestamp()


LONGEST_TOKEN = "t" * 2048  # TaskToken [API model Step Functions]


@pytest.fixture
def book(dynamodb: Any) -> DynamoAdmissionBook:
    return DynamoAdmissionBook(client=dynamodb, table=CONTROL_TABLE)


def a_grant(number: int) -> Grant:
    return Grant(
        worklist_id=f"cat-{number:016}",
        epoch=number,
        knowledge_base_id="KB12345678",
        mode=Mode.JOB if number < 5 else Mode.DIRECT,
        slots=1,
        granted_at=NOW,
        until=NOW,
        start_at=NOW if number < 5 else None,
        claimed=True,
    )


def dump(grant: Grant) -> dict[str, Any]:
    kept: dict[str, Any] = TypeAdapter(Grant).dump_python(grant, mode="json", exclude_none=True)
    return kept


def a_waiter(number: int) -> Waiter:
    return Waiter(
        worklist_id=f"cat-{number:04}",
        epoch=1,
        knowledge_base_id="KB12345678",
        mode=Mode.DIRECT,
        since=NOW + timedelta(microseconds=number),
        calls=1,
        token=LONGEST_TOKEN,
    )


def test_a_queue_is_read_over_all_pages(book: DynamoAdmissionBook, dynamodb: Any) -> None:
    waiters = [a_waiter(number) for number in range(12)]
    for waiter in waiters:
        book.enqueue(waiter)
    dynamodb.meta.events.register(  # Query answers 1 MB at a time, which is some 500 as a rule
        "before-parameter-build.dynamodb.Query", lambda params, **_: params.update(Limit=4)
    )

    assert book.waiting("KB12345678", Mode.DIRECT, limit=11) == waiters[:11]


def spoil(dynamodb: Any, pk: str, sk: str, **values: Any) -> None:
    """Leave the item in a form that no code of ours writes."""
    key = {"pk": {"S": pk}, "sk": {"S": sk}}
    found = dynamodb.get_item(TableName=CONTROL_TABLE, Key=key).get("Item", key)
    dynamodb.put_item(TableName=CONTROL_TABLE, Item=found | to_item(values))


def test_invalid_items_are_skipped_alone_and_their_keys_logged(
    dynamodb: Any,
    book: DynamoAdmissionBook,
    leases: DynamoLeases,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for worklist_id in ("cat-a", "cat-b", "cat-c"):
        taken(leases, worklist_id)
    spoil(dynamodb, "RUN#cat-a", "RUN", epoch="many")
    spoil(dynamodb, "RUN#cat-b", "RUN", until="2020-02-03T10:30:00")  # without a zone
    first, *others = map(a_waiter, range(3))
    for waiter in (first, *others):
        book.enqueue(waiter)
    queue, place = "QUEUE#KB12345678#shared", f"{instant(first.since)}#{first.worklist_id}"
    spoil(dynamodb, queue, place, since="soon")
    worklists = DynamoWorklists(client=dynamodb, table=CONTROL_TABLE)
    worklists.add("shared-KB12345678", "cat-z")
    spoil(dynamodb, "WORKLIST#shared-KB12345678", "cat-y")
    good = a_grant(2)
    book.write(Ledger(grants=(a_grant(1), good)))
    broken = {"worklist_id": "cat-x", "token": LONGEST_TOKEN}
    spoil(dynamodb, "ADMISSION", "LEDGER", grants=["none", broken, dump(good)])

    assert [each.worklist_id for each in leases.held()] == ["cat-c"]
    assert [each.worklist_id for each in leases.expired(NOW + LONG)] == ["cat-c"]
    assert book.waiting("KB12345678", Mode.DIRECT, limit=2) == others
    entries = worklists.entries("shared-KB12345678", limit=2)
    assert [each.catalog_id for each in entries] == ["cat-z"]
    ledger = book.read()
    assert ledger.grants == (good,)
    assert book.write(ledger).version == ledger.version + 1

    keys = {(vars(each)["pk"], vars(each)["sk"]) for each in caplog.records}
    assert keys == {
        ("RUN#cat-a", "RUN"),
        ("RUN#cat-b", "RUN"),
        (queue, place),
        ("WORKLIST#shared-KB12345678", "cat-y"),
        ("ADMISSION", "LEDGER None"),
        ("ADMISSION", "LEDGER cat-x"),
    }
    assert LONGEST_TOKEN not in caplog.text


def test_items_that_decide_on_grants_are_read_consistently(
    book: DynamoAdmissionBook, dynamodb: Any
) -> None:
    asked: list[dict[str, Any]] = []
    dynamodb.meta.events.register(
        "before-parameter-build.dynamodb", lambda params, **_: asked.append(params)
    )

    book.read()
    book.waiting("KB12345678", Mode.DIRECT, limit=1)

    assert [each["ConsistentRead"] for each in asked] == [True, True]


def test_a_result_is_kept_for_thirty_days(dynamodb: Any) -> None:
    inspections = DynamoInspections(
        client=dynamodb, table=CONTROL_TABLE, now=lambda: datetime(2026, 2, 3, tzinfo=UTC)
    )

    inspections.record("doc-1", "e1", Inspected(reason="the PDF is damaged"))

    (item,) = dynamodb.scan(TableName=CONTROL_TABLE)["Items"]
    assert item["expires_at"] == {"N": str(int(datetime(2026, 3, 5, tzinfo=UTC).timestamp()))}
