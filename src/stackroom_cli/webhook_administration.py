"""The `webhooks` commands, for operators."""

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from stackroom.aws.session import secret_text
from stackroom.catalogs.guarded_post import checked as checked_url
from stackroom.catalogs.webhooks import OPERATORS, Webhook, WebhookType, add_webhook, secret_of
from stackroom.errors import NotFound, ValidationError
from stackroom_cli.callers import checked
from stackroom_cli.json_output import (
    DoneAnswer,
    RedeliveredAnswer,
    WebhookAnswer,
    WebhooksAnswer,
)
from stackroom_cli.output import Output, table
from stackroom_cli.sites.site import AwsSite, Site
from stackroom_cli.sites.site_services import SiteServices

# As infra/webhooks.py and infra/data.py name them.
_QUEUE, _DEAD, _KEY = "webhooks.fifo", "webhooks-dead.fifo", "webhook-key"


def add(site: Site, url: str, *, user: str | None, types: str, output: Output) -> None:
    """Add a webhook. Raises WebhookRefused, LimitReached, or ValidationError."""
    checked_url(url, anywhere=not isinstance(site, AwsSite))
    webhook = Webhook(
        owner=OPERATORS if user is None else checked(user), url=url, types=_types(types)
    )
    key = _key(site)  # whoever may not read it adds nothing
    add_webhook(SiteServices(site).webhooks, webhook)
    output.people.print(f"added {webhook.id}: {_about(webhook)}")
    _tell_secret(webhook, key, output)


def show(site: Site, *, output: Output) -> None:
    found = sorted(SiteServices(site).webhooks.all(), key=lambda each: each.created_at)
    shown = table("Webhook", "Changes", "URL")
    for each in found:
        shown.add_row(*map(Text, (each.id, _about(each), each.url)))
    none = "no webhooks yet; add one with: stackroom webhooks add https://..."
    output.people.print(shown if found else none)
    output.answer(WebhooksAnswer(webhooks=found))


def remove(site: Site, webhook_id: str, *, output: Output) -> None:
    SiteServices(site).webhooks.remove(_found(site, webhook_id))
    output.people.print(f"removed {webhook_id}")
    output.answer(DoneAnswer())


def secret(site: Site, webhook_id: str, *, output: Output) -> None:
    _tell_secret(_found(site, webhook_id), _key(site), output)


def redeliver(site: Site, *, output: Output) -> None:
    """
    Move the messages that were set aside back into the queue, one by one.

    The local mode's AWS lacks SQS's own StartMessageMoveTask. If it is interrupted, at most one
    message is moved twice, which SQS drops.
    """
    sqs = site.client("sqs")
    names = (f"{site.project}-{each}" for each in (_DEAD, _QUEUE))
    dead, queue = (sqs.get_queue_url(QueueName=each)["QueueUrl"] for each in names)
    count = 0
    for message in _taken(sqs, dead):
        sqs.send_message(
            QueueUrl=queue,
            MessageBody=message["Body"],
            MessageGroupId=message["Attributes"]["MessageGroupId"],
            MessageDeduplicationId=message["MessageId"],
        )
        sqs.delete_message(QueueUrl=dead, ReceiptHandle=message["ReceiptHandle"])
        count += 1
    calls = "1 delivery" if count == 1 else f"{count} deliveries"
    output.people.print(f"retrying {calls}" if count else "no deliveries were set aside")
    output.answer(RedeliveredAnswer(calls=count))


def _taken(sqs: Any, url: str) -> Iterator[dict[str, Any]]:
    while messages := sqs.receive_message(
        QueueUrl=url,
        MaxNumberOfMessages=10,
        WaitTimeSeconds=1,
        VisibilityTimeout=60,
        AttributeNames=["MessageGroupId"],
    ).get("Messages"):
        yield from messages


def _types(text: str) -> tuple[WebhookType, ...]:
    try:
        return tuple(dict.fromkeys(WebhookType(each.strip()) for each in text.split(",")))
    except ValueError:
        allowed = ", ".join(WebhookType)
        raise ValidationError(f"--types {text!r} must be one or more of {allowed}") from None


def _found(site: Site, webhook_id: str) -> Webhook:
    for each in SiteServices(site).webhooks.all():
        if each.id == webhook_id:
            return each
    raise NotFound("Webhook", f"Webhook '{webhook_id}'")


def _key(site: Site) -> str:
    return secret_text(site.client("secretsmanager"), f"{site.project}-{_KEY}")


def _about(webhook: Webhook) -> str:
    whose = "everybody's" if webhook.owner == OPERATORS else f"{webhook.owner}'s"
    return f"{whose} {', '.join(webhook.types)}"


def _tell_secret(webhook: Webhook, key: str, output: Output) -> None:
    secret = secret_of(webhook.id, key=key)
    output.people.print(f"secret that signs its deliveries: {secret}")
    output.answer(WebhookAnswer(webhook=webhook, secret=secret))
