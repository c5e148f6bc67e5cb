"""
A batch of SQS messages of which each succeeds or fails on its own.

Powertools' batch processor neither watches the remaining time nor returns each message's outcome,
and the upload handler requests one run per catalog of a batch.
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
