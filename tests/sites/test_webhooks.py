"""Webhooks as an operator of a deployment has them, over AWS in memory."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from moto import mock_aws

from stackroom.aws.sqs.webhook_queue import SqsWebhookQueue
from stackroom.catalogs.webhooks import WebhookCall, WebhookType, secret_of
from stackroom.errors import WebhookRefused
from stackroom_cli import health_checks
from stackroom_cli import webhook_administration as webhooks
from stackroom_cli.output import create_output
from stackroom_cli.sites import site as sites
from stackroom_cli.sites.site import AwsSite

PLACE = "https://hook.example.com/changes?key=1"
KEY = "what AWS has made"


@pytest.fixture
def site(site: AwsSite, monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsSite]:
    """Deployed: its control table, queues and key."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    sites.client_in.cache_clear()
    with mock_aws():
        keys = {"pk": "HASH", "sk": "RANGE"}
        site.client("dynamodb").create_table(
            TableName=site.control_table,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in keys],
            KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys.items()],
        )
        site.client("secretsmanager").create_secret(
            Name=f"{site.project}-webhook-key", SecretString=KEY
        )
        for name in ("webhooks", "webhooks-dead"):
            site.client("sqs").create_queue(
                QueueName=f"{site.project}-{name}.fifo", Attributes={"FifoQueue": "true"}
            )
        yield site
    sites.client_in.cache_clear()


@pytest.fixture
def json_answer(capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a verb's JSON answer."""

    def answer(verb: Any, *given: Any, **more: Any) -> Any:
        verb(*given, **more, output=create_output(True))
        return json.loads(capsys.readouterr().out)

    return answer


def queue_url(site: AwsSite, name: str) -> str:
    answer = site.client("sqs").get_queue_url(QueueName=f"{site.project}-{name}.fifo")
    return str(answer["QueueUrl"])


def test_added_webhook_is_listed_with_owner_and_its_secret_shown_again(
    site: AwsSite, json_answer: Any
) -> None:
    mine = json_answer(webhooks.add, site, PLACE, user="alice", types="deletion, catalog")
    everybodys = json_answer(webhooks.add, site, PLACE, user=None, types="document")

    listed = json_answer(webhooks.show, site)["webhooks"]
    again = json_answer(webhooks.secret, site, mine["webhook"]["id"])

    assert listed == [mine["webhook"], everybodys["webhook"]]
    assert [each["owner"] for each in listed] == ["alice", "*"]
    assert listed[0]["types"] == [WebhookType.DELETION, WebhookType.CATALOG]
    assert again == mine
    assert mine["secret"] == secret_of(mine["webhook"]["id"], key=KEY) != everybodys["secret"]
    # It is derived: no table has it.
    kept = site.client("dynamodb").scan(TableName=site.control_table)["Items"]
    assert mine["secret"] not in str(kept)


@pytest.mark.parametrize("url", ["http://hook.example.com/", "https://127.0.0.1/", "https://0/"])
def test_webhook_address_reserved_for_the_local_mode_is_refused(site: AwsSite, url: str) -> None:
    with pytest.raises(WebhookRefused):
        webhooks.add(site, url, user=None, types="document", output=create_output(True))


def test_dead_letters_return_in_their_order_and_group(site: AwsSite, json_answer: Any) -> None:
    sqs, dead = site.client("sqs"), queue_url(site, "webhooks-dead")
    queue = SqsWebhookQueue(client=sqs, url=dead)
    for number in range(3):
        call = WebhookCall(webhook_id="wh-1", event={"id": f"event-{number}"})
        queue.put(call, record="record")

    answers = [json_answer(webhooks.redeliver, site) for _ in range(2)]

    assert answers == [{"calls": 3}, {"calls": 0}]
    taken = sqs.receive_message(
        QueueUrl=queue_url(site, "webhooks"), MaxNumberOfMessages=10, AttributeNames=["All"]
    )["Messages"]
    events = [json.loads(each["Body"])["event"]["id"] for each in taken]
    assert events == ["event-0", "event-1", "event-2"]
    assert len({each["Attributes"]["MessageGroupId"] for each in taken}) == 1


def test_dead_letters_are_reported_with_the_command_to_return_them(site: AwsSite) -> None:
    queue = SqsWebhookQueue(client=site.client("sqs"), url=queue_url(site, "webhooks-dead"))
    call = WebhookCall(webhook_id="wh-1", event={"id": "event-1"})

    [before] = health_checks.dead_letters(site, health_checks.deployment_remedies(site))
    queue.put(call, record="record")
    [after] = health_checks.dead_letters(site, health_checks.deployment_remedies(site))

    assert (before.good, after.good) == (True, False)
    assert "docs-webhooks-dead.fifo has 1 event that failed several times" in after.text
    assert after.text.endswith(f"stackroom --deployment {site.name} webhooks redeliver")


@pytest.mark.parametrize(
    ("queue", "remedy"),
    [
        ("events", "no event tells of these changes"),
        ("agent-runs", "have the users ask again"),
        ("recovery", "repair the files with"),
    ],
)
def test_each_dead_letter_queue_has_its_own_remedy(site: AwsSite, queue: str, remedy: str) -> None:
    sqs = site.client("sqs")
    url = sqs.create_queue(QueueName=f"{site.project}-{queue}-dead")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="{}")

    [found] = health_checks.dead_letters(site, health_checks.deployment_remedies(site))

    assert remedy in found.text
    assert ("reconcile" in found.text) == (queue == "recovery")
    assert found.text.endswith(f"sqs purge-queue --queue-url {url}")
