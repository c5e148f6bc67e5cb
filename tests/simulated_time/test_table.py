"""A table under simulated time: its conditions, its units, its transactions."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from benchmarks.simulated_time.hub import Hub
from benchmarks.simulated_time.table import HELD, WRITE_UNITS, Table, units_of
from stackroom.aws.dynamodb.items import from_item, to_item

KEY = to_item({"pk": "ONE", "sk": "ONLY"})


@pytest.fixture
def table() -> Table:
    return Table(hub=Hub(), chance=random.Random(1), index=("live", "until"))


def during(table: Table, *actions: Callable[[], Any]) -> list[Any]:
    """What each answers or is refused with, all beginning at the same moment."""
    answers: list[Any] = [None] * len(actions)

    def one(number: int, action: Callable[[], Any]) -> None:
        try:
            answers[number] = action()
        except ClientError as error:
            answers[number] = error.response["Error"]["Code"]

    for number, action in enumerate(actions):
        table.hub.spawn(lambda number=number, action=action: one(number, action))  # type: ignore[misc]
    table.hub.run()
    return answers


def put(table: Table, version: int, **condition: Any) -> Callable[[], Any]:
    return lambda: table.put_item(Item=KEY | to_item({"version": version}), **condition)


def if_at(version: int) -> dict[str, Any]:
    return {
        "ConditionExpression": "#version = :version",
        "ExpressionAttributeNames": {"#version": "version"},
        "ExpressionAttributeValues": to_item({":version": version}),
    }


def test_of_two_who_read_the_same_version_one_is_refused(table: Table) -> None:
    during(table, put(table, 1, ConditionExpression="attribute_not_exists(pk)"))

    answers = during(table, put(table, 2, **if_at(1)), put(table, 3, **if_at(1)))

    assert [isinstance(each, dict) for each in answers] == [True, False]
    assert answers[1] == "ConditionalCheckFailedException"
    assert from_item(table.items[("ONE", "ONLY")])["version"] == 2
    assert table.used["write ONE"] == 3


def row(name: str) -> Any:
    return to_item({"pk": "QUEUE", "sk": name})


def test_a_partition_takes_a_thousand_units_a_second_and_then_makes_wait(table: Table) -> None:
    kilobytes = 10
    large = KEY | to_item({"text": "x" * (kilobytes * 1024 - 50)})
    writers = 2 * round(WRITE_UNITS) // kilobytes

    answers = during(table, *[lambda: table.put_item(Item=large)] * writers)

    throttled = table.calls["PutItem ProvisionedThroughputExceededException"]
    assert units_of(large) == kilobytes
    assert throttled >= writers / 2
    assert answers.count("ProvisionedThroughputExceededException") < writers / 2
    # It had a second's units to begin with, and gave as many again each second.
    assert table.used["write ONE"] <= WRITE_UNITS * (1 + table.hub.time) + kilobytes


def test_write_during_a_transaction_is_refused_and_a_later_one_is_not(table: Table) -> None:
    def transaction() -> Any:
        counting = {
            "Key": KEY,
            "UpdateExpression": "ADD asked :one",
            "ExpressionAttributeValues": to_item({":one": 1}),
        }
        return table.transact_write_items(
            TransactItems=[{"Update": counting}, {"Put": {"Item": row("beside")}}]
        )

    both = during(table, transaction, transaction)
    later = during(table, transaction)
    # A single write comes to its item after 6 ms, a transaction after 7.5 ms and HELD from then on.
    table.hub.spawn(transaction)
    table.hub.run(until=table.hub.time + HELD / 2)
    plain = during(table, put(table, 9))

    assert both == [{}, "TransactionCanceledException"]
    assert later == [{}]
    assert plain == ["TransactionConflictException"]
    assert from_item(table.items[("ONE", "ONLY")])["asked"] == 3
    assert ("QUEUE", "beside") in table.items


def test_an_index_of_names_costs_a_write_only_where_what_it_has_changes() -> None:
    names = ("pk", "filename", "size")
    table = Table(hub=Hub(), chance=random.Random(1), names=names)
    item = KEY | to_item({"filename": "a.txt", "size": 5, "status": "pending"})

    def written(new: dict[str, Any]) -> float:
        before = table.used["index ONE"]
        table.put_item(Item=item | to_item(new))
        table.transact_write_items(TransactItems=[{"Put": {"Item": item | to_item(new)}}])
        return table.used["index ONE"] - before

    def deleted() -> None:
        table.put_item(Item=KEY)

    units: list[float] = []
    for new in ({}, {"status": "indexed"}, {"size": 6}):
        during(table, lambda new=new: units.append(written(new)))  # type: ignore[misc]
    during(table, deleted)

    assert units == [1, 0, 1]
    assert table.used["index ONE"] == 3
