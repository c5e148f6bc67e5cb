"""The ledger and its queues in DynamoDB, beyond what holds every `AdmissionBook`."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.stub import Stubber

from stackroom.aws.admission import DynamoAdmissionBook
from stackroom.aws.items import from_item
from stackroom.errors import StoreUnavailable
from stackroom.ports.admission import Grant, Ledger, Mode, Rate, Waiter
from tests.aws.stores import CONTROL_TABLE
from tests.records import NOW

LONGEST_TOKEN = "t" * 2048  # TaskToken [API model Step Functions]


@pytest.fixture
def book(dynamodb: Any) -> DynamoAdmissionBook:
    return DynamoAdmissionBook(client=dynamodb, table=CONTROL_TABLE)


def a_grant(number: int) -> Grant:
    return Grant(
        worklist_id=f"cat-{number:016}",
        epoch=number,
        knowledge_base_id="KB12345678",
        mode=Mode.EXCLUSIVE if number < 5 else Mode.SHARED,
        slots=1,
        granted_at=NOW,
        until=NOW,
        start_at=NOW if number < 5 else None,
        claimed=True,
        size=50_000_000,
        is_large=number < 10,
    )


def a_waiter(number: int) -> Waiter:
    return Waiter(
        worklist_id=f"cat-{number:04}",
        epoch=1,
        knowledge_base_id="KB12345678",
        mode=Mode.SHARED,
        since=NOW + timedelta(microseconds=number),
        calls=1,
        token=LONGEST_TOKEN,
    )


def test_a_full_ledger_is_read_with_one_capacity_unit(
    book: DynamoAdmissionBook, dynamodb: Any
) -> None:
    phases = {f"KB{number:08}": NOW for number in range(5)}
    grants = tuple(map(a_grant, range(15)))  # five jobs and ten direct calls

    rate = Rate(base_ms=100_000, beyond_ms=10_000_000, size=50_000_000)

    book.write(
        Ledger(grants=grants, next_start=NOW, phases=phases, rates=dict.fromkeys(Mode, rate))
    )

    key = {"pk": {"S": "ADMISSION"}, "sk": {"S": "LEDGER"}}
    found = from_item(dynamodb.get_item(TableName=CONTROL_TABLE, Key=key)["Item"])
    assert len(json.dumps(found, default=str, separators=(",", ":"))) < 4096


def test_a_queue_is_read_over_all_pages(book: DynamoAdmissionBook, dynamodb: Any) -> None:
    waiters = [a_waiter(number) for number in range(12)]
    for waiter in waiters:
        book.enqueue(waiter)
    dynamodb.meta.events.register(  # Query answers 1 MB at a time, which is some 500 as a rule
        "before-parameter-build.dynamodb.Query", lambda params, **_: params.update(Limit=4)
    )

    assert book.waiting("KB12345678", Mode.SHARED, limit=11) == waiters[:11]


def test_what_decides_over_grants_is_read_consistently(
    book: DynamoAdmissionBook, dynamodb: Any
) -> None:
    asked: list[dict[str, Any]] = []
    dynamodb.meta.events.register(
        "before-parameter-build.dynamodb", lambda params, **_: asked.append(params)
    )

    book.read()
    book.waiting("KB12345678", Mode.SHARED, limit=1)

    assert [each["ConsistentRead"] for each in asked] == [True, True]


def test_a_throttled_table_is_asked_again_later(book: DynamoAdmissionBook, dynamodb: Any) -> None:
    operations = ["get_item", "put_item", "put_item", "delete_item", "query"]

    with Stubber(dynamodb) as stub:
        for operation in operations:
            stub.add_client_error(operation, "ThrottlingException", "slow", 400)
        with pytest.raises(StoreUnavailable, match="GetItem"):
            book.read()
        with pytest.raises(StoreUnavailable, match="PutItem"):
            book.write(replace(Ledger(), version=3))
        with pytest.raises(StoreUnavailable, match="PutItem"):
            book.enqueue(a_waiter(1))
        with pytest.raises(StoreUnavailable, match="DeleteItem"):
            book.dequeue(a_waiter(1))
        with pytest.raises(StoreUnavailable, match="Query"):
            book.waiting("KB12345678", Mode.SHARED, limit=1)
