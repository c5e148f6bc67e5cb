"""
A batch of SQS messages, each on its own: what becomes of one is no other's affair.

Powertools' batch processor neither minds the time that is left nor hands back what became of each
message, and the upload handler asks for one run per catalog of what it got.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from aws_lambda_powertools import Logger

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
    What `handle` answered to each body, by message id, and the ids of the messages that failed.

    A message is begun only while the `needed` milliseconds are left for it; the others fail and
    come back, or a slow moment would fail the whole batch, done and undone alike.
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
            except Exception:  # one bad message must not take its neighbours along
                logger.exception("message failed")
                failed.append(message_id)
    return outcomes, failed


def response(failed: list[str]) -> dict[str, Any]:
    """SQS delivers just these again, and sets them aside in the end (ReportBatchItemFailures)."""
    return {"batchItemFailures": [{"itemIdentifier": each} for each in failed]}
