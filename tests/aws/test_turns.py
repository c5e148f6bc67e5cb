"""The ledger of turns in DynamoDB, beyond what holds every `TurnBook`."""

from typing import Any

import pytest

from stackroom.aws.turns import DynamoTurnBook
from stackroom.errors import ServiceRefused
from stackroom.ports.turns import Share, Turns
from tests.aws.stores import CONTROL_TABLE

KEY = {"pk": {"S": "TURNS"}, "sk": {"S": "Retrieve"}}


def a_book(dynamodb: Any, *, table: str = CONTROL_TABLE, operation: str = "Retrieve") -> Any:
    return DynamoTurnBook(client=dynamodb, table=table, operation=operation)


def test_each_rate_has_a_ledger_which_leaves_by_itself_an_hour_after_it_was_last_needed(
    dynamodb: Any,
) -> None:
    a_book(dynamodb).write(Turns(at=1_700_000_000.9, free=3.0))

    item = dynamodb.get_item(TableName=CONTROL_TABLE, Key=KEY)["Item"]
    assert item["expires_at"] == {"N": "1700003600"}
    assert a_book(dynamodb, operation="QueryVectors").read() == Turns()


def test_one_that_nobody_understands_is_begun_anew(dynamodb: Any) -> None:
    book = a_book(dynamodb)
    item = {**KEY, "version": {"N": "4"}, "told": {"S": '{"shares": 7}'}}
    dynamodb.put_item(TableName=CONTROL_TABLE, Item=item)

    seen = book.read()
    book.write(seen)

    assert seen == Turns(version=4)
    assert book.read() == Turns(version=5)


def test_two_hundred_tenants_fit_into_three_write_units_when_few_of_them_ask(
    dynamodb: Any,
) -> None:
    asked_lately = {f"{number:08x}": Share(lately=0.779) for number in range(75)}
    shares = {**asked_lately, "ffffffff": Share(lately=49.123, due=1_700_000_001.123)}

    a_book(dynamodb).write(Turns(at=1_700_000_000.123, free=12.345, shares=shares))

    item = dynamodb.get_item(TableName=CONTROL_TABLE, Key=KEY)["Item"]
    size = sum(len(name) + len(str(*value.values())) for name, value in item.items())
    assert size <= 3 * 1024


def test_a_table_that_is_not_there_is_a_refusal_to_go_on_without(dynamodb: Any) -> None:
    book = a_book(dynamodb, table="gone")

    with pytest.raises(ServiceRefused, match="GetItem answered ResourceNotFoundException"):
        book.read()
    with pytest.raises(ServiceRefused, match="PutItem answered ResourceNotFoundException"):
        book.write(Turns())
