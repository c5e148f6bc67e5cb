"""
Several items of DynamoDB written together or not at all, and what is written beside them.

Whoever writes an item that a transaction is writing is refused at once, with a conflict. That says
nothing of what stands there: it is tried again after a while of random length.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from botocore.exceptions import ClientError

from stackroom.aws.translation import code_of, store_errors
from stackroom.errors import StoreUnavailable
from stackroom.retries import random_pauses

_Answer = TypeVar("_Answer")

# Cancellation reasons [DynamoDB API reference: TransactWriteItems]
CONDITION_FAILED = "ConditionalCheckFailed"
_CONFLICT = "TransactionConflict"
_THROTTLED = frozenset({"ProvisionedThroughputExceeded", "ThrottlingError"})
# Of a single write [DynamoDB API reference: PutItem, UpdateItem, DeleteItem]
_CONFLICTED = "TransactionConflictException"

# Some three seconds in all. A transaction holds its items for some ten milliseconds, but whoever
# registers or settles a document of a catalog writes that catalog's counters.
_TRIES = 12
_among_writers = random_pauses(0.02, 0.8)


def transact(client: Any, *items: dict[str, Any]) -> None:
    """
    Raises TransactionCanceledException for a condition that isn't met, StoreUnavailable for what
    will pass. Its retries count once: the client adds a token.
    """

    def write() -> None:
        with store_errors():
            client.transact_write_items(TransactItems=list(items))

    try:
        outlasting_conflicts(write)
    except client.exceptions.TransactionCanceledException as error:
        reasons = reasons_of(error)
        if CONDITION_FAILED not in reasons and not _THROTTLED.isdisjoint(reasons):
            raise StoreUnavailable("TransactWriteItems", "ThrottlingError") from error
        raise


def outlasting_conflicts(write: Callable[[], _Answer]) -> _Answer:
    """What `write` answers. Raises StoreUnavailable if others keep writing the same item."""
    for attempt in range(_TRIES):
        try:
            return write()
        except ClientError as error:
            if not _is_conflict(error):
                raise
            if attempt == _TRIES - 1:
                raise StoreUnavailable(error.operation_name, _CONFLICT) from error
            _among_writers(attempt)
    raise AssertionError("the last try answers or raises")


def reasons_of(error: ClientError) -> list[str | None]:
    """Why it was canceled, in the order of the items."""
    return [each.get("Code") for each in error.response.get("CancellationReasons", [])]


def _is_conflict(error: ClientError) -> bool:
    """And no condition says already that another try would be in vain."""
    reasons = reasons_of(error)
    met_another = _CONFLICT in reasons and CONDITION_FAILED not in reasons
    return met_another or code_of(error) == _CONFLICTED
