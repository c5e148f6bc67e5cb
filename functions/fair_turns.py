"""
Whose each message is, told to its queue, so that one user's thousand files keep nobody waiting.

SQS delivers first what is of those who have little at work, where messages name their tenants as
groups [SQS developer guide: sqs-fair-queues]. EventBridge, which brings S3's events, takes for a
group a name or a field of the event [EventBridge API reference: SqsParameters], and none of S3's
fields is the user alone: a key begins with it. So the function names the group. Of a full batch,
behind which more may wait, it sends each message to the same queue once more, in its user's name,
which takes a moment whatever the files will take. Where a batch is one message, that is done with
what has waited. A message without a group is to SQS of a tenant
of its own [sqs-fair-queues-detailed], so what has just come is not behind what a busy user has.
"""

import time
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger

from stackroom.app.function_settings import JsonList, Settings
from stackroom.aws.session import client
from stackroom.aws.sqs.object_events import Message, SqsObjectEvents, was_sent_by_us
from stackroom.errors import MalformedEvent
from stackroom.uploads.events import object_event

WAITED = 2.0  # seconds in its queue, by which a message tells that others are before it


class QueueSettings(Settings):
    """The queues that a function takes from, and how many messages a full batch of them has."""

    queue_urls: JsonList = ()
    queue_batch: int = 10


@cache
def settings() -> QueueSettings:
    return QueueSettings.from_env()


def in_turn(event: dict[str, Any], *, logger: Logger) -> dict[str, Any]:
    """
    The event with the messages that are left to handle: those of a batch that is not full, those
    that have been sent again before, that name no key, or that SQS has not taken again.
    """
    records = event["Records"]
    url = _url_of(records)
    if url is None or not _may_be_behind_others(records):
        return event
    messages = {
        record["messageId"]: message
        for record in records
        if not was_sent_by_us(record) and (message := _message(record["body"])) is not None
    }
    if not messages:
        return event
    try:
        taken = SqsObjectEvents(client=client("sqs"), url=url).send(messages)
    except Exception:  # then they are handled now, before others' turn
        logger.exception("messages could not be sent again")
        return event
    logger.info("messages sent again in their users' names", sent=len(taken))
    return {**event, "Records": [each for each in records if each["messageId"] not in taken]}


def _url_of(records: Sequence[Mapping[str, Any]]) -> str | None:
    """Return that of the queue that they are from."""
    name = str(records[0]["eventSourceARN"]).rpartition(":")[2]
    return next((each for each in settings().queue_urls if each.rpartition("/")[2] == name), None)


def _may_be_behind_others(records: Sequence[Mapping[str, Any]]) -> bool:
    if settings().queue_batch > 1:
        return len(records) == settings().queue_batch
    sent_at = int(records[0]["attributes"]["SentTimestamp"]) / 1000
    return time.time() - sent_at >= WAITED


def _message(body: str) -> Message | None:
    try:
        return Message(key=object_event(body).key, body=body)
    except MalformedEvent:
        return None
