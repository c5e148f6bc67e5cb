"""
Writes of several items of DynamoDB, together or not at all, and what is written beside them.

Whoever writes an item that a transaction is writing is refused at once, with a conflict. That
says nothing of what stands there: it is tried again after a while of random length. So is a
transaction that comes to a busy partition, for boto3 repeats throttled calls, but no canceled
ones.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from stackroom.aws.dynamodb.items import to_item
from stackroom.aws.error_mapping import code_of, store_errors
from stackroom.errors import StoreUnavailable
from stackroom.retries import random_pauses

_Answer = TypeVar("_Answer")

# Cancellation reasons [DynamoDB API reference: TransactWriteItems]
CONDITION_FAILED = "ConditionalCheckFailed"
_CONFLICT = "TransactionConflict"
_PASSING = frozenset({_CONFLICT, "ProvisionedThroughputExceeded", "ThrottlingError"})
# Of a single write [DynamoDB API reference: PutItem, UpdateItem, DeleteItem]
_CONFLICTED = "TransactionConflictException"

# Some three seconds in all, or five. A transaction holds its items for some ten milliseconds, but
# whoever registers or settles documents of a catalog writes that catalog's counters, and its
# partition takes about two hundred and forty documents a second.
_TRIES = 12
_among_writers = random_pauses(0.02, 0.8)
# A busy partition stays so for as long as others want more than it takes, and each try that comes
# too soon takes units of theirs: `benchmarks.registration` tells what shorter pauses come to.
_while_busy = random_pauses(0.8, 0.8)


def transact(client: Any, *items: dict[str, Any]) -> None:
    """
    Raises TransactionCanceledException for a condition that isn't met, StoreUnavailable for what
    will pass. Its retries count once: the client adds a token.
    """

    def write() -> None:
        with store_errors():
            client.transact_write_items(TransactItems=list(items))

    outlasting_conflicts(write)


def outlasting_conflicts(write: Callable[[], _Answer]) -> _Answer:
    """What `write` answers. Raises StoreUnavailable if others keep it from its items."""
    for attempt in range(_TRIES):
        try:
            return write()
        except ClientError as error:
            if (obstacle := _obstacle(error)) is None:
                raise
            if attempt == _TRIES - 1:
                raise StoreUnavailable(error.operation_name, obstacle) from error
            (_among_writers if obstacle == _CONFLICT else _while_busy)(attempt)
    raise AssertionError("the last try answers or raises")


def reasons_of(error: ClientError) -> list[str | None]:
    """Why it was canceled, in the order of the items."""
    return [each.get("Code") for each in error.response.get("CancellationReasons", [])]


def _obstacle(error: ClientError) -> str | None:
    """What will pass by itself; no condition says already that another try would be in vain."""
    if code_of(error) == _CONFLICTED:
        return _CONFLICT
    reasons = reasons_of(error)
    if CONDITION_FAILED in reasons:
        return None
    return next((each for each in reasons if each in _PASSING), None)


def conditional(condition: str, values: Mapping[str, Any], *, update: str = "") -> dict[str, Any]:
    """What of a request tells how to write, and when not to."""
    names = {name: name[1:] for name in re.findall(r"#\w+", update + condition)}
    told: dict[str, Any] = {
        "UpdateExpression": update,
        "ConditionExpression": condition,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": to_item(values),
    }
    return {name: each for name, each in told.items() if each}  # DynamoDB refuses what is empty
