"""Several items of DynamoDB written together or not at all."""

from typing import Any, NoReturn

from botocore.exceptions import ClientError

from stackroom.aws.translation import store_errors
from stackroom.errors import RecordChanged, StoreUnavailable

# Cancellation reasons [DynamoDB API reference: TransactWriteItems]
CONDITION_FAILED = "ConditionalCheckFailed"
_CONFLICT = "TransactionConflict"
_THROTTLED = frozenset({"ProvisionedThroughputExceeded", "ThrottlingError"})


def transact(client: Any, *items: dict[str, Any]) -> None:
    """Raises TransactionCanceledException. Its retries count once: the client adds a token."""
    with store_errors():
        client.transact_write_items(TransactItems=list(items))


def reasons_of(error: ClientError) -> list[str | None]:
    """Why it was canceled, in the order of the items."""
    return [each.get("Code") for each in error.response.get("CancellationReasons", [])]


def refuse(error: ClientError, key: str) -> NoReturn:
    """Raises, in our words, what canceled a transaction if it was no condition of ours."""
    reasons = reasons_of(error)
    if _CONFLICT in reasons:  # someone else is writing one of the items at this moment
        raise RecordChanged(key) from error
    if not _THROTTLED.isdisjoint(reasons):
        raise StoreUnavailable("TransactWriteItems", "ThrottlingError") from error
    raise error
