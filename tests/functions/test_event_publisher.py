"""Tests of the function that reads the tables' streams, with records as DynamoDB sends them."""

from typing import Any

import pytest

import functions.event_publisher.handler as event_publisher
from stackroom.aws import session
from stackroom.aws.dynamodb.cap_records import REACHED as CAPS_REACHED
from stackroom.aws.dynamodb.cap_records import DynamoCaps
from stackroom.aws.dynamodb.event_records import DynamoEvents
from stackroom.aws.dynamodb.items import to_item
from tests.aws.stores import CATALOG_TABLE, CONTROL_TABLE
from tests.functions.tools import Tools, text_of
from tests.support.lambda_context import Context
from tests.support.records import NEAR, REACHED
from tests.support.table_streams import recorded


@pytest.fixture
def queue_url(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> str:
    client = session.client("sqs")
    url = client.create_queue(QueueName="webhooks.fifo", Attributes={"FifoQueue": "true"})
    monkeypatch.setenv("WEBHOOKS_QUEUE_URL", url["QueueUrl"])
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "event_publisher")
    event_publisher.publishing.cache_clear()
    return str(url["QueueUrl"])


def deliver(records: list[Any]) -> list[str]:
    answer = event_publisher.handler({"Records": records}, Context())
    return [each["itemIdentifier"] for each in answer["batchItemFailures"]]


def states(user_id: str = "alice") -> list[str]:
    book = DynamoEvents(client=session.client("dynamodb"), table=CONTROL_TABLE)
    return [str(each.event.detail.state) for each in book.after(user_id, 0)]


def test_changes_by_tools_and_uploads_are_published_once_if_redelivered(
    tools: Tools, queue_url: str
) -> None:
    with recorded() as streams:
        catalog_id = tools.create()
        document_id = tools.upload(catalog_id, "a.txt")
        tools.call("delete_catalog_document", catalog_id=catalog_id, document_id=document_id)
    records = [*streams[CATALOG_TABLE], *streams[CONTROL_TABLE]]

    for _ in range(2):
        assert deliver(records) == []

    assert states() == ["ready", "pending", "indexing", "deleting", "ready", "asked"]
    listed = tools.call("list_events")["metadata"]["events"]
    assert [each["detail"]["state"] for each in listed] == states()
    assert all(each["detail"]["catalog_id"] == catalog_id for each in listed)


def test_reached_cap_is_reported_once_to_its_user(tools: Tools, queue_url: str) -> None:
    book = DynamoCaps(client=session.client("dynamodb"), table=CONTROL_TABLE)
    with recorded() as streams:
        for reached in (NEAR, REACHED, REACHED):
            book.note(reached)

    assert deliver(streams[CONTROL_TABLE]) == []

    listed = tools.call("list_events")
    details = [each["detail"] for each in listed["metadata"]["events"]]
    assert [(each["state"], each["percent"], each["cap"]) for each in details] == [
        ("near", 80, "bytes"),
        ("reached", 100, "bytes"),
    ]
    assert "cap on bytes reached (100 %): 4 of 5 in 2026-02" in text_of(listed)


@pytest.mark.parametrize(
    ("table", "key"),
    [
        (CATALOG_TABLE, {"catalog_id": "cat-1", "sk": "DOC#1"}),
        (CONTROL_TABLE, {"pk": f"{CAPS_REACHED}alice", "sk": "2026-02#bytes#80"}),
    ],
)
def test_foreign_record_does_not_stop_the_others(
    table: str,
    key: dict[str, str],
    tools: Tools,
    queue_url: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with recorded() as streams:
        tools.create()
        session.client("dynamodb").put_item(
            TableName=table, Item=to_item({**key, "secret": "marmots"})
        )
        tools.create("Another")

    assert deliver([*streams[CATALOG_TABLE], *streams[CONTROL_TABLE]]) == []

    assert states() == ["ready", "ready"]
    [line] = [each for each in caplog.records if each.message == "malformed item left out"]
    assert "marmots" not in str(vars(line))


def test_lambda_resumes_at_the_failed_record(
    tools: Tools, queue_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with recorded() as streams:
        tools.create()
        tools.create("Another")
    taken = event_publisher.publishing().bus
    monkeypatch.setattr(type(taken), "put", lambda _, events: 1)

    records = streams[CATALOG_TABLE]
    assert deliver(records) == [records[1]["dynamodb"]["SequenceNumber"]]
    monkeypatch.undo()

    assert states() == ["ready", "ready"]
