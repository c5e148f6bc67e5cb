"""Tests of the webhook sender as SQS calls it, with moto's queues and real receivers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from moto import mock_aws

from functions.webhook_sender import handler as function
from stackroom.aws import session
from stackroom.aws.dynamodb.webhook_records import DynamoWebhooks
from stackroom.aws.sqs.webhook_queue import SqsWebhookQueue
from stackroom.catalogs.guarded_post import TOO_SLOW, Answer, GuardedPost
from stackroom.catalogs.webhooks import (
    OPERATORS,
    PUT_OFF,
    Webhook,
    WebhookCall,
    WebhookCalls,
    pause_after,
    secret_of,
)
from stackroom_client import verify_webhook
from stackroom_client.errors import WebhookNotVerified
from tests.aws.stores import CONTROL_TABLE, ENVIRONMENT, create_tables
from tests.fakes.webhooks import FakeWebhooks
from tests.functions.printed import Printed, listening
from tests.support.lambda_context import Context
from tests.support.webhook_receivers import Receiver, receiving

pytestmark = pytest.mark.processes

KEY = "what AWS has made"


def event(number: int, *, user_id: str = "alice", text: str = "") -> dict[str, Any]:
    return {
        "id": f"event-{number}",
        "source": "stackroom",
        "detail-type": "Document State Changed",
        "time": "2026-11-26T08:00:00Z",
        "detail": {"user_id": user_id, "state": "indexed", "filename": text},
    }


@dataclass(frozen=True, kw_only=True)
class Sending:
    """Does Lambda's part: receives messages, calls the function, and deletes those handled."""

    queue: str
    webhooks: DynamoWebhooks

    def put(self, webhook: Webhook, content: dict[str, Any], *, record: str = "record") -> None:
        queue = SqsWebhookQueue(client=session.client("sqs"), url=self.queue)
        queue.put(WebhookCall(webhook_id=webhook.id, event=content), record=record)

    def once(self) -> int:
        """Receive at most ten messages, handle the first, and return their number."""
        sqs = session.client("sqs")
        taken = sqs.receive_message(
            QueueUrl=self.queue, MaxNumberOfMessages=10, AttributeNames=["All"]
        ).get("Messages", [])
        for each in taken[:1]:
            record = {
                "messageId": each["MessageId"],
                "receiptHandle": each["ReceiptHandle"],
                "body": each["Body"],
                "attributes": each["Attributes"],
            }
            answer = function.handler({"Records": [record]}, Context())
            if not answer["batchItemFailures"]:
                sqs.delete_message(QueueUrl=self.queue, ReceiptHandle=each["ReceiptHandle"])
        for each in taken[1:]:
            sqs.change_message_visibility(
                QueueUrl=self.queue, ReceiptHandle=each["ReceiptHandle"], VisibilityTimeout=0
            )
        return len(taken)

    def all(self) -> None:
        while self.once() or self.once():  # a hidden message shows as none at first
            pass


@pytest.fixture
def sending(monkeypatch: pytest.MonkeyPatch, printed: Printed) -> Iterator[Sending]:
    def forget() -> None:
        session.client.cache_clear()
        session._session.cache_clear()
        function.settings.cache_clear()
        function.calls.cache_clear()

    # Even a pause of an hour is skipped here.
    more = {"WEBHOOK_REACH": "anywhere", "INGEST_SPEED": "1e9"}
    for name, value in {**ENVIRONMENT, **more}.items():
        monkeypatch.setenv(name, value)
    forget()
    with mock_aws():
        create_tables(session.client("dynamodb"))
        sqs = session.client("sqs")
        fifo = {"FifoQueue": "true", "VisibilityTimeout": "180"}
        queue = sqs.create_queue(QueueName="q.fifo", Attributes=fifo)["QueueUrl"]
        made = session.client("secretsmanager").create_secret(Name="key", SecretString=KEY)
        monkeypatch.setenv("WEBHOOKS_QUEUE_URL", queue)
        monkeypatch.setenv("WEBHOOK_KEY_ARN", made["ARN"])
        webhooks = DynamoWebhooks(client=session.client("dynamodb"), table=CONTROL_TABLE)
        yield Sending(queue=queue, webhooks=webhooks)
    forget()


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printed:
    return listening([function.logger], monkeypatch, capsys)


def added(sending: Sending, receiver: Receiver, owner: str = "alice") -> Webhook:
    webhook = Webhook(owner=owner, url=receiver.url)
    sending.webhooks.add(webhook)
    return webhook


def ids(receiver: Receiver) -> list[str]:
    return [headers["webhook-id"] for headers, _ in receiver.got]


def test_webhook_delivers_the_event_signed_with_its_own_secret(sending: Sending) -> None:
    sent = event(1, text="r\u00e9sum\u00e9.pdf")
    with receiving() as receiver:
        webhook = added(sending, receiver)
        sending.put(webhook, sent)
        sending.all()

    [(headers, body)] = receiver.got
    assert json.loads(body) == sent
    assert (headers["webhook-id"], headers["content-type"]) == ("event-1", "application/json")
    # tests/client/test_webhooks.py covers forged and replayed calls.
    assert verify_webhook(body, headers, secret_of(webhook.id, key=KEY)).id == "event-1"
    with pytest.raises(WebhookNotVerified):
        verify_webhook(body, headers, secret_of("wh-another", key=KEY))


def test_event_with_any_valid_filename_is_delivered(sending: Sending) -> None:
    sent = event(1, text="caf\u00e9 \uffff\x01.txt")
    with receiving() as receiver:
        sending.put(added(sending, receiver), sent)
        [waiting] = session.client("sqs").receive_message(
            QueueUrl=sending.queue, VisibilityTimeout=0
        )["Messages"]
        sending.all()

    # AWS refuses a message with U+FFFF in it, and then all that comes behind would wait
    # [SQS API reference: SendMessage].
    assert waiting["Body"].isascii()
    [(_, body)] = receiver.got
    assert json.loads(body) == sent


def test_failing_webhook_keeps_record_order_and_next_record_is_sent(
    sending: Sending,
) -> None:
    with receiving() as receiver:
        receiver.statuses = [500, 503, 307, 200]
        webhook = added(sending, receiver)
        for number in (1, 2, 3):
            sending.put(webhook, event(number))
        sending.all()
        in_order = ids(receiver)
        receiver.got.clear()
        receiver.statuses = [200]
        sending.put(webhook, event(4), record="another")
        sending.all()

    assert in_order == ["event-1"] * 4 + ["event-2", "event-3"]
    assert ids(receiver) == ["event-4"]


def test_log_has_ids_and_outcomes_but_no_url_body_or_secret(
    sending: Sending, printed: Printed
) -> None:
    with receiving() as receiver:
        receiver.statuses = [500, 200]
        webhook = added(sending, receiver)
        sending.put(webhook, event(1, text="plans.pdf"))
        sending.all()

    first, second = printed.lines("webhook called")
    assert (first["outcome"], first["status"]) == ("failed", 500)
    assert (second["outcome"], second["status"]) == ("delivered", 200)
    assert (first["webhook_id"], first["event_id"]) == (webhook.id, "event-1")
    for name, values in (("WebhookFailed", (1.0, 0.0)), ("WebhookDelivered", (0.0, 1.0))):
        assert [each.values for each in printed.figures(name)] == [(each,) for each in values]
    log = printed.log.getvalue()
    for hidden in ("hidden", "127.0.0.1", "plans.pdf", KEY, secret_of(webhook.id, key=KEY)):
        assert hidden not in log


def test_webhook_never_delivers_events_of_another_user(sending: Sending, printed: Printed) -> None:
    with receiving() as receiver:
        bobs, everybodys = added(sending, receiver, "bob"), added(sending, receiver, OPERATORS)
        removed = added(sending, receiver)
        sending.webhooks.remove(removed)
        for number, webhook in enumerate((bobs, everybodys, removed)):
            sending.put(webhook, event(number), record=webhook.id)
        sending.all()

    assert ids(receiver) == ["event-1"]
    assert len(printed.lines("webhook gone")) == 2


@pytest.mark.parametrize("body", ["", "{}", '{"webhook_id":"x","event":{}}', "[]", "null"])
def test_invalid_message_fails_alone(sending: Sending, body: str) -> None:
    record = {"messageId": "m0", "receiptHandle": "r", "body": body, "attributes": {}}

    answer = function.handler({"Records": [record]}, Context())

    assert answer["batchItemFailures"] == [{"itemIdentifier": "m0"}]


def test_slow_webhook_is_delayed_without_delaying_others() -> None:
    webhooks, tried = FakeWebhooks(), list[str]()

    def post(url: str, *_: object) -> Answer:
        tried.append(url)
        return TOO_SLOW if "slow" in url else Answer(status=200)

    for name in ("slow", "quick"):
        webhooks.add(Webhook(id=name, owner="alice", url=f"https://{name}.example.com/"))
    calls = WebhookCalls(webhooks=webhooks, post=post, key=KEY)

    answers = [
        calls.make(WebhookCall(webhook_id=name, event=event(1)))
        for name in ("slow", "slow", "quick", "quick")
    ]

    assert answers == [TOO_SLOW, PUT_OFF, Answer(status=200), Answer(status=200)]
    assert len(tried) == 3


def test_pauses_double_up_to_an_hour_with_ten_percent_jitter() -> None:
    for tries, seconds in ((1, 10), (2, 20), (9, 2560), (10, 3600), (33, 3600)):
        assert seconds <= pause_after(tries) <= 1.1 * seconds


def test_private_receiver_is_not_called_on_aws(
    sending: Sending, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WEBHOOK_REACH")
    with receiving() as receiver:
        webhook = added(sending, receiver)
        sending.put(webhook, event(1))
        assert sending.once() == 1

    assert isinstance(function.calls().post, GuardedPost)
    assert printed.line("webhook called")["problem"] == "address refused"
    assert receiver.got == []
