"""
Batches of SQS messages: each message succeeds or fails on its own, and each user gets turns.

Powertools' batch processor neither watches the remaining time nor returns each message's outcome,
and the upload handler requests one run per catalog of a batch.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from aws_lambda_powertools import Logger
from pydantic import BaseModel, ConfigDict, Field
from pydantic import ValidationError as Malformed

from stackroom.app.function_settings import JsonList, Settings
from stackroom.aws.session import client
from stackroom.aws.sqs.object_events import Message, SqsObjectEvents, was_sent_by_us
from stackroom.errors import MalformedEvent

_Outcome = TypeVar("_Outcome")


def handle_each(
    event: dict[str, Any],
    handle: Callable[[str], _Outcome],
    *,
    logger: Logger,
    time_left: Callable[[], int] = lambda: 0,
    needed: int = 0,
) -> tuple[dict[str, _Outcome], list[str]]:
    """
    Return the result of `handle` for each body, by message id, and the ids of failed messages.

    Handling of a message starts only while `needed` milliseconds are left. The others fail and are
    delivered again; otherwise a slow moment would fail the whole batch, including what was done.
    """
    outcomes: dict[str, _Outcome] = {}
    failed: list[str] = []
    for record in event["Records"]:
        message_id = record["messageId"]
        if time_left() < needed:
            failed.append(message_id)
            continue
        with logger.append_context_keys(message_id=message_id, correlation_id=None):
            try:
                outcomes[message_id] = handle(record["body"])
            except Exception:  # one bad message must not fail the others
                logger.exception("message failed")
                failed.append(message_id)
    return outcomes, failed


def response(failed: list[str]) -> dict[str, Any]:
    """Return the response that makes SQS deliver only these again (ReportBatchItemFailures)."""
    return {"batchItemFailures": [{"itemIdentifier": each} for each in failed]}


# S3's notifications as EventBridge wraps them and SQS delivers them.


class _Named(BaseModel):
    name: str = Field(min_length=1)


class _Keyed(BaseModel):
    key: str = Field(min_length=1)
    sequencer: str | None = None  # logged only: deletes of old versions carry newer ones


class _Detail(BaseModel):
    bucket: _Named
    object: _Keyed


class ObjectEvent(BaseModel):
    """
    A hint that something happened to an object.

    The key is not URL-encoded, unlike in notifications that S3 sends directly
    [S3 user guide: ev-events].
    """

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    id: str = Field(min_length=1)
    detail_type: str = Field(alias="detail-type")
    detail: _Detail

    @property
    def key(self) -> str:
        return self.detail.object.key

    @property
    def correlation_id(self) -> str:
        """The id in every log line and record that results from the upload."""
        return self.id


def object_event(body: str) -> ObjectEvent:
    """Parse the event in an SQS message's body. Raises MalformedEvent, naming the problem."""
    try:
        return ObjectEvent.model_validate_json(body)
    except Malformed as error:
        problems = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'body'}: {each['msg']}" for each in error.errors()
        )
        raise MalformedEvent(problems) from error


# Tell SQS the user of each message, so that one user's thousand files delay nobody else's.
#
# SQS prefers messages of tenants with few messages in flight, where a message group names the
# tenant [SQS developer guide: sqs-fair-queues]. EventBridge, which delivers S3's events, can set
# the group only to a constant or a field of the event [EventBridge API reference: SqsParameters],
# and no field of S3's events is the user alone: the key starts with it. So the function names the
# group: it sends each message of a full batch, behind which more may be waiting, to the same queue
# again with its user as the group. That takes a moment, however long the files will take. Where a
# batch is one message, only messages that have waited are sent again. SQS treats a message without
# a group as of a tenant of its own [sqs-fair-queues-detailed], so new messages don't queue behind a
# busy user's.

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
