"""
The messages of an SQS batch, each answered or failed on its own.

Every failure, whatever its kind, is reported in `batchItemFailures`: SQS delivers the message again
and, after as many receives as the queue allows, moves it to the dead-letter queue. So a message
that can never be answered ends there, too, and none is lost. Answers go to their queue, if there is
one; a message whose answer can't be sent has failed.

In a FIFO queue, everything after a failure counts as failed, so that nothing overtakes it.
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stackroom.access.tool import encodable
from stackroom.aws.s3.foreign_objects import SqsAnswers
from stackroom.errors import MalformedEvent, StackroomError
from stackroom_agents.batch.agent_events import event_of
from stackroom_agents.batch.event_conversation import Json
from stackroom_agents.observability import tell_breakage

# How an answer is told, or why there is none.

Reply = dict[str, object]


def success(result: str | Json) -> Reply:
    reply: Reply = encodable({"success": True, "result": result})
    return reply


def failure(error: StackroomError) -> Reply:
    reply: Reply = encodable(
        {"success": False, "result": None, "error": str(error), "errorType": type(error).__name__}
    )
    return reply


logger = logging.getLogger(__name__)

_SOURCE = "aws:sqs"


@dataclass(frozen=True, kw_only=True)
class Queue:
    """Answers messages. `answer` answers one event; `answers` is None if no answers are sent."""

    answer: Callable[[object], str | Json]
    answers: SqsAnswers | None = None

    def work(self, records: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, str]]]:
        """Answer a batch, and return the messages that failed, in Lambda's form."""
        failed: list[str] = []
        for record in records:
            message_id = str(record["messageId"])
            if failed and _is_fifo(record):
                logger.error("message not begun", extra={"message_id": message_id})
            elif self._is_done(record, message_id):
                continue
            failed.append(message_id)
        return {"batchItemFailures": [{"itemIdentifier": each} for each in failed]}

    def _is_done(self, record: Mapping[str, Any], message_id: str) -> bool:
        fields: dict[str, object] = {"message_id": message_id}
        try:
            result = self.answer(event_of(str(record["body"])))
            if self.answers is not None:
                reply = {"messageId": message_id, **success(result)}
                self.answers.send(json.dumps(reply, ensure_ascii=False), message_id=message_id)
        except StackroomError as error:
            logger.error("message failed", extra={**fields, "error_type": type(error).__name__})
            return False
        except Exception as error:
            tell_breakage(logger, "message failed", error, **fields)
            return False
        logger.info("message answered", extra=fields)
        return True


def records_of(event: object) -> Sequence[Mapping[str, Any]] | None:
    """
    Return the messages of an SQS event, or None for any other event.

    Raises MalformedEvent for records of another service, which hold no question.
    """
    if not isinstance(event, Mapping) or not isinstance(event.get("Records"), list):
        return None
    records: list[Mapping[str, Any]] = event["Records"]
    for each in records:
        source = each.get("eventSource") if isinstance(each, Mapping) else None
        if source != _SOURCE:
            raise MalformedEvent(f"Records: of {source!r:.60}; allowed: messages of {_SOURCE}")
    return records


def _is_fifo(record: Mapping[str, Any]) -> bool:
    return str(record.get("eventSourceARN", "")).endswith(".fifo")
