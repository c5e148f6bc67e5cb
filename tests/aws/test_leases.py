"""Leases in DynamoDB, beyond what tests/contract/ports holds every `Leases` to."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from stackroom.aws.leases import DynamoLeases
from stackroom.ports.runs import Lease
from stackroom.runs.leases import Runs
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.pipeline import FakeExecutions

NOW = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)


@pytest.fixture
def leases(dynamodb: Any) -> DynamoLeases:
    return DynamoLeases(client=dynamodb, table=CONTROL_TABLE)


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


def test_expired_leases_are_found_without_reading_the_table(
    leases: DynamoLeases, dynamodb: Any
) -> None:
    expired = {taken(leases, f"cat-{number}").worklist_id for number in range(3)}
    asked: list[tuple[str, str | None]] = []
    dynamodb.meta.events.register(
        "before-parameter-build.dynamodb",
        lambda params, model, **_: asked.append((model.name, params.get("IndexName"))),
    )

    found = {lease.worklist_id for lease in leases.expired(NOW + timedelta(seconds=1))}

    assert found == expired
    assert asked == [("Query", "live-index")]


def test_a_run_of_an_idle_worklist_takes_two_writes_of_its_lease(
    leases: DynamoLeases, dynamodb: Any
) -> None:
    asked: list[str] = []
    dynamodb.meta.events.register(
        "before-parameter-build.dynamodb", lambda model, **_: asked.append(model.name)
    )
    runs = Runs(leases=leases, executions=FakeExecutions(), now=lambda: NOW)

    runs.ask("cat-1")
    runs.renew("cat-1", 1)

    assert asked == ["UpdateItem"] * 2
