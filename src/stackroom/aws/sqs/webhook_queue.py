"""The queue of calls to webhooks."""

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stackroom.aws.error_mapping import store_errors
from stackroom.catalogs.webhooks import WebhookCall

if TYPE_CHECKING:
    from types_boto3_sqs.client import SQSClient


@dataclass(frozen=True, kw_only=True)
class SqsWebhookQueue:
    """
    A FIFO queue: a group is one record at one webhook, so that a call that waits delays no other
    group. A message that is sent twice within five minutes is queued once.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-exactly-once-processing.html
    """

    client: "SQSClient"
    url: str

    def put(self, call: WebhookCall, *, record: str) -> None:
        with store_errors():
            self.client.send_message(
                QueueUrl=self.url,
                # In ASCII: SQS refuses U+FFFF, say, which a key of S3's may have.
                MessageBody=json.dumps(call.model_dump()),
                MessageGroupId=_digest(call.webhook_id, record),
                MessageDeduplicationId=_digest(call.webhook_id, str(call.event["id"])),
            )


def _digest(*names: str) -> str:
    """
    Return a digest, because an id of a group or of a message has at most 128 characters, and not
    every letter.
    """
    return hashlib.sha256("\n".join(names).encode()).hexdigest()
