"""When users have signed out everywhere: the latest such moment of each, and no earlier one."""

from datetime import timedelta
from typing import Any

from stackroom.aws.sign_outs import DynamoSignOuts
from tests.aws.stores import CONTROL_TABLE
from tests.records import NOW


def test_the_latest_moment_is_kept_for_its_user_alone(dynamodb: Any) -> None:
    kept = DynamoSignOuts(client=dynamodb, table=CONTROL_TABLE)

    before = kept.get("alice")
    kept.keep("alice", NOW)
    kept.keep("alice", NOW - timedelta(microseconds=1))
    first = kept.get("alice")
    kept.keep("alice", NOW + timedelta(seconds=1))

    assert before is None
    assert first == NOW
    assert kept.get("alice") == NOW + timedelta(seconds=1)
    assert kept.get("bob") is None
