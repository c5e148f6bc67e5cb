"""Convert records to DynamoDB items and back, for the low-level client, which loads faster."""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

from stackroom.aws.error_mapping import store_errors
from stackroom.concurrency import chunks

logger = logging.getLogger(__name__)

Item = dict[str, Any]
_Made = TypeVar("_Made")

WRITE_ID = "write_id"  # the attribute that tells whose write made the item (aws/dynamodb/table.py)

_MOST_KEYS = 100  # of one BatchGetItem [DynamoDB API reference]

_serializer = TypeSerializer()
_deserializer = TypeDeserializer()


def to_item(values: Mapping[str, Any]) -> Item:
    """
    Return the attribute values of everything that is not None; DynamoDB's NULL is never stored.
    """
    return {
        name: _serializer.serialize(value) for name, value in values.items() if value is not None
    }


def from_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record, without the id of its last write."""
    return {
        name: _deserializer.deserialize(value) for name, value in item.items() if name != WRITE_ID
    }


def instant(at: datetime) -> str:
    """Format a time as ISO 8601 of one width and one zone, so that keys sort by time."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def record_timestamp(at: datetime) -> str:
    """Format a time as saved records have it, because conditions compare texts."""
    return at.isoformat().replace("+00:00", "Z")


def readable(
    found: Iterable[Mapping[str, Any]], make: Callable[[Mapping[str, Any]], _Made]
) -> Iterator[_Made]:
    """
    Yield what `make` makes of each item. An item that it can't read is logged by its key and left
    out, so that it stops nobody else's work. Its other values are not logged, because some wake a
    run.
    """
    for each in found:
        try:
            made = make(each)
        except (KeyError, TypeError, ValueError) as error:
            key = {name: str(each[name]) for name in ("pk", "sk") if name in each}
            logger.error("malformed item left out", extra={**key, "error": type(error).__name__})
        else:
            yield made


def query(client: Any, **request: Any) -> Iterator[dict[str, Any]]:
    """Yield every item of a Query, page by page."""
    yield from _pages(client, "query", request)


def scan(client: Any, **request: Any) -> Iterator[dict[str, Any]]:
    """Yield every item of a Scan, page by page."""
    yield from _pages(client, "scan", request)


def get_all(
    client: Any, table: str, keys: Iterable[Item], *, consistent: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield the existing items of these keys, a hundred at a time, in no order."""
    for batch in chunks(keys, of=_MOST_KEYS):
        wanted: dict[str, Any] = {table: {"Keys": batch, "ConsistentRead": consistent}}
        while wanted:
            with store_errors():
                answer = client.batch_get_item(RequestItems=wanted)
            yield from map(from_item, answer["Responses"].get(table, []))
            wanted = answer.get("UnprocessedKeys", {})


def start_at(cursor: str | None) -> dict[str, Any]:
    """Return the parameters with which a Query or Scan continues at a cursor from `cursor_in`."""
    return {} if cursor is None else {"ExclusiveStartKey": to_item(json.loads(cursor))}


def cursor_in(answer: Mapping[str, Any]) -> str | None:
    last = answer.get("LastEvaluatedKey")
    return json.dumps(from_item(last)) if last else None


def _pages(client: Any, operation: str, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    pages = iter(client.get_paginator(operation).paginate(**request))
    while True:
        with store_errors():
            page = next(pages, None)
        if page is None:
            return
        yield from map(from_item, page["Items"])
