"""
Tells SQS the user of each message, so that one user's thousand files delay nobody else's.

SQS prefers messages of tenants with few messages in flight, where a message group names the tenant
[SQS developer guide: sqs-fair-queues]. EventBridge, which delivers S3's events, can set the group
only to a constant or a field of the event [EventBridge API reference: SqsParameters], and no field
of S3's events is the user alone: the key starts with it. So the function names the group: it sends
each message of a full batch, behind which more may be waiting, to the same queue again with its
user as the group. That takes a moment, however long the files will take. Where a batch is one
message, only messages that have waited are sent again. SQS treats a message without a group as of a
tenant of its own [sqs-fair-queues-detailed], so new messages don't queue behind a busy user's.
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

WAITED = 2.0  # seconds in the queue after which other messages must be ahead


class QueueSettings(Settings):
    """The queues that a function consumes, and how many messages a full batch of them has."""

    queue_urls: JsonList = ()
    queue_batch: int = 10


@cache
def settings() -> QueueSettings:
    return QueueSettings.from_env()


def resend_by_user(event: dict[str, Any], *, logger: Logger) -> dict[str, Any]:
    """
    Return the event with the messages to handle now.

    These are all messages of a batch that is not full; of a full one, those that were sent again
    before, name no key, or could not be sent again.
    """
    records = event["Records"]
    url = _queue_url(records)
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
    except Exception:  # handle them now, out of turn
        logger.exception("messages could not be sent again")
        return event
    logger.info("messages sent again in their users' names", sent=len(taken))
    return {**event, "Records": [each for each in records if each["messageId"] not in taken]}


def _queue_url(records: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the URL of the queue that the records came from."""
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
