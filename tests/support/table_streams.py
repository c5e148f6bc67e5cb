"""
The streams of moto's tables: a record for each write that changed an item, as DynamoDB keeps them.

moto's own have none of what UpdateItem changes.
"""

import json
from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import RLock
from typing import Any, cast

import pytest
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.responses import DynamoHandler

from tests.aws.stores import take_one_call_at_a_time

Item = dict[str, Any]
Record = dict[str, Any]
_WRITES = ("PutItem", "UpdateItem", "DeleteItem")


@contextmanager
def recorded(
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Iterator[Mapping[str, list[Record]]]:
    """Record the writes within, by table, in order."""
    take_one_call_at_a_time()
    answer = DynamoHandler.call_action
    streams: dict[str, list[Record]] = defaultdict(list)
    lock = RLock()

    def answered(handler: DynamoHandler) -> Any:
        with lock:
            written = list(_written(handler))
            before = [_image(handler, *each) for each in written]
            try:
                return answer(handler)
            finally:
                for (table, key), old in zip(written, before, strict=True):
                    new = _image(handler, table, key)
                    if old != new:
                        number = sum(map(len, streams.values())) + 1
                        streams[table].append(_record(number, now(), key, old, new))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DynamoHandler, "call_action", answered)
        yield streams


def _written(handler: DynamoHandler) -> Iterator[tuple[str, Item]]:
    """Yield the table and key of each item that the call may write."""
    operation = handler.headers["X-Amz-Target"].rpartition(".")[2]
    asked = json.loads(handler.body)
    if operation in _WRITES:
        yield _table_and_key(asked)
    elif operation == "TransactWriteItems":
        for action in asked["TransactItems"]:
            yield from map(_table_and_key, action.values())


def _table_and_key(asked: Mapping[str, Any]) -> tuple[str, Item]:
    given = asked.get("Key") or asked["Item"]
    partition = "pk" if "pk" in given else "catalog_id"
    return asked["TableName"], {name: given[name] for name in (partition, "sk")}


def _image(handler: DynamoHandler, table: str, key: Item) -> Item | None:
    kept = dynamodb_backends[handler.current_account][handler.region].tables[table]
    partition, sort = map(DynamoType, key.values())
    found = kept.get_item(partition, sort)
    if found is None:
        return None
    # Bytes as DynamoDB sends them.
    written = json.dumps(
        found.to_json()["Attributes"], default=lambda each: b64encode(each).decode()
    )
    return cast(Item, json.loads(written))


def _record(number: int, at: datetime, key: Item, old: Item | None, new: Item | None) -> Record:
    images = {"OldImage": old, "NewImage": new}
    return {
        "eventID": f"{number:032x}",
        "eventSource": "aws:dynamodb",
        "eventName": "INSERT" if old is None else "REMOVE" if new is None else "MODIFY",
        "dynamodb": {
            # "rounded down to the closest second" [DynamoDB API reference: StreamRecord]
            "ApproximateCreationDateTime": int(at.timestamp()),
            "SequenceNumber": f"{number:021}",
            "Keys": key,
            **{name: each for name, each in images.items() if each is not None},
        },
    }
