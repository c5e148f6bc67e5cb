"""
Whose each message is, told to its queue, so that one user's thousand files keep nobody waiting.

SQS delivers first what is of those who have little at work, where messages name their tenants as
groups [SQS developer guide: sqs-fair-queues]. EventBridge, which brings S3's events, takes for a
group a name or a field of the event [EventBridge API reference: SqsParameters], and none of S3's
fields is the user alone: a key begins with it. So the function names the group. Of a full batch,
behind which more may wait, it sends each message to the same queue once more, in its user's name,
which takes a moment whatever the files will take. A message without a group is to SQS of a tenant
of its own [sqs-fair-queues-detailed], so what has just come is not behind what a busy user has.
"""

from functools import cache
from typing import Any

from aws_lambda_powertools import Logger

from stackroom.aws.session import client
from stackroom.aws.sqs.object_events import Message, SqsObjectEvents, was_sent_by_us
from stackroom.errors import MalformedEvent
from stackroom.uploads.events import object_event
from stackroom.wiring.function_settings import Settings


class QueueSettings(Settings):
    """The queue that a function takes from, and how many messages a full batch of it has."""

    queue_url: str | None = None
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
    url = settings().queue_url
    if url is None or len(records) < settings().queue_batch:
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


def _message(body: str) -> Message | None:
    try:
        return Message(key=object_event(body).key, body=body)
    except MalformedEvent:
        return None
