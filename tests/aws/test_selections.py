from datetime import timedelta
from typing import Any

import pytest

from stackroom.aws.selections import DynamoSelections
from tests.aws.stores import CONTROL_TABLE
from tests.records import NOW

UNTIL = NOW + timedelta(hours=12)


@pytest.fixture
def selections(dynamodb: Any) -> DynamoSelections:
    return DynamoSelections(client=dynamodb, table=CONTROL_TABLE)


def test_a_selection_is_of_one_session_of_one_user(selections: DynamoSelections) -> None:
    selections.keep("alice", "s1", "cat-1", until=UNTIL)
    selections.keep("alice", "s1", "cat-2", until=UNTIL)

    assert selections.get("alice", "s1", at=NOW) == "cat-2"
    assert selections.get("alice", "s2", at=NOW) is None
    assert selections.get("bob", "s1", at=NOW) is None

    for _ in range(2):
        selections.forget("alice", "s1")
    assert selections.get("alice", "s1", at=NOW) is None


def test_it_is_over_in_time_though_dynamodb_removes_it_later(
    selections: DynamoSelections, dynamodb: Any
) -> None:
    selections.keep("alice", "s1", "cat-1", until=UNTIL)

    last = selections.get("alice", "s1", at=UNTIL - timedelta(seconds=1))
    over = selections.get("alice", "s1", at=UNTIL)

    [item] = dynamodb.scan(TableName=CONTROL_TABLE)["Items"]
    assert (last, over) == ("cat-1", None)
    assert int(item["expires_at"]["N"]) == UNTIL.timestamp()
