"""Tests which messages of a busy queue are resent in their user's group, and which handled."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from moto import mock_aws

from functions.batch import resend_by_user, settings
from functions.telemetry import logger_for
from stackroom.aws import session
from tests.aws.stores import ENVIRONMENT
from tests.functions.pipeline import body

FULL = 4


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    session.client.cache_clear()
    with mock_aws():
        url = session.client("sqs").create_queue(QueueName="uploads")["QueueUrl"]
        others = session.client("sqs").create_queue(QueueName="others")["QueueUrl"]
        monkeypatch.setenv("QUEUE_URLS", json.dumps([others, url]))
        monkeypatch.setenv("QUEUE_BATCH", str(FULL))
        settings.cache_clear()
        yield url
    settings.cache_clear()
    session.client.cache_clear()


SOURCE = "arn:aws:sqs:us-east-1:123456789012:uploads"


def batch(*bodies: str, waited: float = 0.0) -> dict[str, Any]:
    """Return a batch as SQS delivers it, whose messages have waited for `waited` seconds."""
    sent_at = str(int((time.time() - waited) * 1000))
    return {
        "Records": [
            {
                "messageId": f"m{at}",
                "body": each,
                "eventSourceARN": SOURCE,
                "attributes": {"SentTimestamp": sent_at},
            }
            for at, each in enumerate(bodies)
        ]
    }


def left_of(event: dict[str, Any]) -> list[str]:
    left = resend_by_user(event, logger=logger_for("test"))
    return [each["messageId"] for each in left["Records"]]


def received(url: str) -> list[dict[str, Any]]:
    answer = session.client("sqs").receive_message(
        QueueUrl=url,
        MaxNumberOfMessages=10,
        MessageAttributeNames=["All"],
        MessageSystemAttributeNames=["All"],
    )
    return list(answer.get("Messages", []))


def test_messages_of_a_full_batch_are_resent_once_in_their_users_group(queue: str) -> None:
    bodies = [body("alice/a/1.txt"), body("alice/b/2.txt"), body("bob/a/1.txt")]

    left = left_of(batch(*bodies, "malformed"))
    again = received(queue)

    groups = {each["Body"]: each["Attributes"]["MessageGroupId"] for each in again}
    assert left == ["m3"]
    assert sorted(groups) == sorted(bodies)
    assert groups[bodies[0]] == groups[bodies[1]] != groups[bodies[2]]
    come_back = [
        {
            "messageId": each["MessageId"],
            "body": each["Body"],
            "messageAttributes": each["MessageAttributes"],
            "eventSourceARN": SOURCE,
        }
        for each in again
    ]
    come_back += batch("malformed")["Records"]
    assert len(left_of({"Records": come_back})) == FULL
    assert received(queue) == []


def test_batch_that_is_not_full_is_handled_at_once(queue: str) -> None:
    assert left_of(batch(*map(body, ["alice/a/1.txt"] * (FULL - 1)))) == ["m0", "m1", "m2"]
    assert received(queue) == []


@pytest.mark.parametrize(("waited", "left"), [(0.0, ["m0"]), (1.0, ["m0"]), (3.0, [])])
def test_single_message_is_resent_if_it_has_waited(
    queue: str, monkeypatch: pytest.MonkeyPatch, waited: float, left: list[str]
) -> None:
    monkeypatch.setenv("QUEUE_BATCH", "1")
    settings.cache_clear()

    assert left_of(batch(body("alice/a/1.txt"), waited=waited)) == left
    assert len(received(queue)) == 1 - len(left)


def test_message_that_cannot_be_resent_is_handled(queue: str) -> None:
    session.client("sqs").delete_queue(QueueUrl=queue)

    assert left_of(batch(*map(body, ["alice/a/1.txt"] * FULL))) == ["m0", "m1", "m2", "m3"]
