"""
Events of objects, sent to the queue of a function that processes them.

Each is sent in its user's name, so that SQS lets users have their turns [SQS developer guide:
sqs-fair-queues], and is marked as sent by us.
"""

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stackroom.aws.error_mapping import store_errors
from stackroom.errors import StoreUnavailable

if TYPE_CHECKING:
    from types_boto3_sqs.client import SQSClient

_OURS = "sent_by_stackroom"


@dataclass(frozen=True, kw_only=True)
class Message:
    """An S3 event as JSON text, and the key that it is about."""

    key: str
    body: str


@dataclass(frozen=True, kw_only=True)
class SqsObjectEvents:
    client: "SQSClient"
    url: str

    def send(self, messages: Mapping[str, Message]) -> set[str]:
        """
        Send at most ten messages, by their ids, and return the ids of those that SQS has accepted.
        """
        with store_errors():
            answer = self.client.send_message_batch(
                QueueUrl=self.url,
                Entries=[
                    {
                        "Id": message_id,
                        "MessageBody": each.body,
                        "MessageGroupId": _group_of(each.key),
                        "MessageAttributes": {_OURS: {"DataType": "String", "StringValue": "yes"}},
                    }
                    for message_id, each in messages.items()
                ],
            )
        return {each["Id"] for each in answer.get("Successful", ())}


@dataclass(frozen=True, kw_only=True)
class SqsInspectionRequests:
    """
    Requests for inspections. `url` is the queue of the function that inspects, `bucket` that of the
    documents.
    """

    client: "SQSClient"
    url: str
    bucket: str

    def ask(self, key: str) -> None:
        detail = {"bucket": {"name": self.bucket}, "object": {"key": key}}
        event_id = str(uuid.uuid4())
        event = {"id": event_id, "detail-type": "Object Created", "detail": detail}
        message = Message(key=key, body=json.dumps(event))
        if not SqsObjectEvents(client=self.client, url=self.url).send({event_id: message}):
            raise StoreUnavailable("SendMessageBatch", "message not taken")


def was_sent_by_us(record: Mapping[str, Any]) -> bool:
    """Return True if we sent a message, given as Lambda hands it to a function."""
    return _OURS in record.get("messageAttributes", {})


def _group_of(key: str) -> str:
    """
    Return a group's name for the user, whose id may be too long for one, or have other letters.
    """
    user_id = key.partition("/")[0]
    return hashlib.sha256(user_id.encode(errors="surrogatepass")).hexdigest()
