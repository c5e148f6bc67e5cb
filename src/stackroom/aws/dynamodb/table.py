"""
A DynamoDB table with consistent reads, and conditional writes that recognise their own repetition.

boto3 repeats a call whose answer got lost. If the first one had its effect, the condition of the
second meets what the first has written. So each call leaves an id of its own in the item,
`write_id`, which its repetitions share; a refusal shows the present item (that reads nothing, and
costs nothing), and one with our id is what we wrote. A removal leaves nothing to show: what is gone
has been removed as requested, whoever did it.

A caller that gives up, or dies, writes with another id when trying again, and decides by what is
there.
"""

import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import ClientError

from stackroom.aws.dynamodb.items import WRITE_ID, Item, from_item, query, to_item
from stackroom.aws.error_mapping import code_of, store_errors
from stackroom.concurrency import random_pauses
from stackroom.errors import CatalogFull, StoreUnavailable

if TYPE_CHECKING:
    from types_boto3_dynamodb.client import DynamoDBClient

_Answer = TypeVar("_Answer")
_SIGNED = f"SET {WRITE_ID} = :{WRITE_ID}"
_NOT_OWN = f"attribute_not_exists({WRITE_ID}) OR {WRITE_ID} <> :{WRITE_ID}"


@dataclass(frozen=True, kw_only=True)
class DynamoTable:
    """One table. In conditions and expressions a name that DynamoDB reserves is written `#name`."""

    client: "DynamoDBClient"
    table: str

    def _get(self, key: Item) -> dict[str, Any] | None:
        """Get the item with a consistent read, because a decision to write may follow."""
        with store_errors():
            answer = self.client.get_item(TableName=self.table, Key=key, ConsistentRead=True)
        return from_item(answer["Item"]) if "Item" in answer else None

    def _query(
        self, condition: str, values: Mapping[str, Any], **request: Any
    ) -> Iterator[dict[str, Any]]:
        """
        Yield every item, page by page; consistently, except from an index, because a global one
        can't be read so.
        """
        consistently = {} if "IndexName" in request else {"ConsistentRead": True}
        return query(
            self.client,
            TableName=self.table,
            KeyConditionExpression=condition,
            ExpressionAttributeValues=to_item(values),
            **consistently,
            **request,
        )

    def _partition(self, pk: str, **request: Any) -> Iterator[dict[str, Any]]:
        return self._query("pk = :pk", {":pk": pk}, **request)

    def _keep(self, item: Item) -> None:
        """Put the item, whatever it replaces."""
        with store_errors():
            self.client.put_item(TableName=self.table, Item=item)

    def _remove(self, key: Item) -> None:
        """Delete the item, whatever it is, if it exists."""
        with store_errors():
            self.client.delete_item(TableName=self.table, Key=key)

    def _put(self, item: Item, *, condition: str, values: Mapping[str, Any] | None = None) -> bool:
        """Put the item; return False if the one that exists doesn't meet the condition."""
        signed = item | to_item({WRITE_ID: secrets.token_hex(8)})
        request = conditional(condition, values or {})
        try:
            with store_errors():
                outlasting_conflicts(
                    lambda: self.client.put_item(TableName=self.table, Item=signed, **request)
                )
        except self.client.exceptions.ConditionalCheckFailedException as refusal:
            return _own(refusal, signed[WRITE_ID]) is not None
        return True

    def _put_next(self, item: Item, *, version: int) -> bool:
        """
        Put the item's next version; return False unless that version exists, or with 0 if any does.
        """
        if version == 0:
            return self._put(item, condition="attribute_not_exists(pk)")
        return self._put(item, condition="#version = :read", values={":read": version})

    def _update(
        self, key: Item, expression: str, values: Mapping[str, Any], *, condition: str = ""
    ) -> dict[str, Any] | None:
        """
        Update the item and return it; None if it doesn't meet the condition. Additions happen once,
        unless someone else writes between a call and its repetition.
        """
        signed = {**values, f":{WRITE_ID}": secrets.token_hex(8)}
        request = conditional(condition or _NOT_OWN, signed, update=_signed(expression))
        try:
            with store_errors():
                answer = outlasting_conflicts(
                    lambda: self.client.update_item(
                        TableName=self.table, Key=key, ReturnValues="ALL_NEW", **request
                    )
                )
        except self.client.exceptions.ConditionalCheckFailedException as refusal:
            own = _own(refusal, request["ExpressionAttributeValues"][f":{WRITE_ID}"])
            return from_item(own) if own is not None else None
        return from_item(answer["Attributes"])

    def _delete(self, key: Item, *, condition: str, values: Mapping[str, Any]) -> bool:
        """
        Delete the item, if there is one (still); return False if it doesn't meet the condition.
        """
        request = conditional(condition, values)
        try:
            with store_errors():
                outlasting_conflicts(
                    lambda: self.client.delete_item(TableName=self.table, Key=key, **request)
                )
        except self.client.exceptions.ConditionalCheckFailedException as refusal:
            return "Item" not in refusal.response
        return True


def _signed(expression: str) -> str:
    if "SET " in expression:
        return expression.replace("SET ", f"{_SIGNED}, ", 1)
    return f"{expression} {_SIGNED}"


def _own(refusal: Any, write_id: Any) -> Item | None:
    """Return the item that met the write, if the write itself has made it."""
    there: Item = refusal.response.get("Item", {})
    return there if there.get(WRITE_ID) == write_id else None


# Several items written together or not at all, and what is written beside them.
#
# Whoever writes an item that a transaction is writing is refused at once, with a conflict. That
# says nothing of what stands there: it is tried again after a while of random length. So is a
# transaction that comes to a busy partition, for boto3 repeats throttled calls, but no canceled
# ones.

# Cancellation reasons [DynamoDB API reference: TransactWriteItems]
CONDITION_FAILED = "ConditionalCheckFailed"
_CONFLICT = "TransactionConflict"
_PASSING = frozenset({_CONFLICT, "ProvisionedThroughputExceeded", "ThrottlingError"})
# A table with local indexes holds 10 GB under one partition key, including the indexes [DynamoDB
# developer guide: Item collections].
_FULL = "ItemCollectionSizeLimitExceeded"
# The error of a single write [DynamoDB API reference: PutItem, UpdateItem, DeleteItem].
_CONFLICTED = "TransactionConflictException"

# Some three seconds in all, or five. A transaction holds its items for some ten milliseconds, but
# whoever registers or settles documents of a catalog writes that catalog's counters, and its
# partition takes about two hundred and forty documents a second.
_TRIES = 12
_among_writers = random_pauses(0.02, 0.8)
# A busy partition stays so for as long as others want more than it takes, and each try that comes
# too soon takes units of theirs.
_while_busy = random_pauses(0.8, 0.8)


def transact(client: Any, *items: dict[str, Any]) -> None:
    """
    Send the transaction. Raises TransactionCanceledException for a condition that isn't met,
    StoreUnavailable for errors that will pass. Its retries count once: the client adds a token.
    """

    def write() -> None:
        with store_errors():
            client.transact_write_items(TransactItems=list(items))

    outlasting_conflicts(write)


def outlasting_conflicts(write: Callable[[], _Answer]) -> _Answer:
    """
    Return the result of `write`. Raises StoreUnavailable if others keep it from its items, and
    CatalogFull if no more fit under their key.
    """
    for attempt in range(_TRIES):
        try:
            return write()
        except ClientError as error:
            if code_of(error) == f"{_FULL}Exception" or _FULL in reasons_of(error):
                raise CatalogFull from error
            if (obstacle := _obstacle(error)) is None:
                raise
            if attempt == _TRIES - 1:
                raise StoreUnavailable(error.operation_name, obstacle) from error
            (_among_writers if obstacle == _CONFLICT else _while_busy)(attempt)
    raise AssertionError("the last try answers or raises")


def reasons_of(error: ClientError) -> list[str | None]:
    """Return the reasons why a transaction was canceled, in the order of its items."""
    return [each.get("Code") for each in error.response.get("CancellationReasons", [])]


def _obstacle(error: ClientError) -> str | None:
    """
    Return the obstacle that will pass by itself, if any; a failed condition rules out another try.
    """
    if code_of(error) == _CONFLICTED:
        return _CONFLICT
    reasons = reasons_of(error)
    if CONDITION_FAILED in reasons:
        return None
    return next((each for each in reasons if each in _PASSING), None)


def conditional(condition: str, values: Mapping[str, Any], *, update: str = "") -> dict[str, Any]:
    """Return the part of a request that says how to write, and on which condition."""
    names = {name: name[1:] for name in re.findall(r"#\w+", update + condition)}
    parts: dict[str, Any] = {
        "UpdateExpression": update,
        "ConditionExpression": condition,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": to_item(values),
    }
    return {name: each for name, each in parts.items() if each}  # DynamoDB refuses what is empty
