"""
A DynamoDB table under simulated time, for what happens when many write the same few items.

It speaks boto3's low-level client as far as the adapters of the control table need it, so that
these run as they are: their conditions, their retries, and items of the size that they have. Items
with one partition key lie in one partition; adaptive capacity gives a busy one to itself, and no
more than a partition takes: 1,000 write units and 3,000 read units a second.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/burst-adaptive-capacity.html

A write is a unit per KB, and one that is refused by its condition costs as much; a read is a unit
per 4 KB. An index that holds the item takes another, or two if the key there changes.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/WorkingWithItems.html
Left out is burst capacity (up to five minutes' unused units), which AWS doesn't promise.
"""

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError

from benchmarks.simulated_time.client import exception
from benchmarks.simulated_time.hub import Hub

WRITE_UNITS, READ_UNITS = 1_000.0, 3_000.0  # a second, of a partition
LARGEST = 400 * 1024  # bytes of an item [DynamoDB quotas]
# Seconds, assumed, as in benchmarks.metering: what a 512 MB function sees of a call.
_CALL, QUERY = 0.012, 0.015
_TRANSACTION, _EACH_ACTION = 0.022, 0.001
# Of which an item of a transaction is kept from all others, from its preparation until it is
# committed: assumed, for AWS documents nothing.
HELD = 0.010
_ATTEMPTS = 4  # of boto3 as aws/session.py configures it

Item = dict[str, Any]
_Key = tuple[str, str]
_Change = Callable[[Item | None], Item | None]


@dataclass
class Partition:
    """What one takes a second; a request is let in while anything is left, and pays in arrears."""

    rate: float
    left: float
    at: float = 0.0

    def take(self, units: float, now: float, *, in_arrears: bool = False) -> bool:
        self.left = min(self.rate, self.left + (now - self.at) * self.rate)
        self.at = now
        if self.left <= 0 and not in_arrears:
            return False
        self.left -= units
        return True


@dataclass
class Table:
    """
    `keys` are the names of its partition and sort key; `index` those of an index with all
    attributes; `names` those of one with no more than a KB, and what else it has, so that a write
    costs one unit of it where any of these changes. `calls` counts requests by operation and
    outcome; `used` units by partition. The caller spends by `spend` what comes before the effect of
    a call, its own part in it.
    """

    hub: Hub
    chance: random.Random
    keys: tuple[str, str] = ("pk", "sk")
    index: tuple[str, str] | None = None
    names: tuple[str, ...] = ()
    spend: Callable[[float], None] | None = None
    query_seconds: float = QUERY
    items: dict[_Key, Item] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    used: Counter[str] = field(default_factory=Counter)
    largest: int = 0  # bytes of the largest item ever written
    _sorted: dict[str, list[str]] = field(default_factory=dict)
    _partitions: dict[tuple[str, str], Partition] = field(default_factory=dict)
    _held: set[_Key] = field(default_factory=set)  # by transactions under way

    @property
    def exceptions(self) -> Any:
        return _Exceptions()

    def get_item(self, *, Key: Item, **_more: Any) -> Item:  # noqa: N803 - boto3's names
        key = self._key_of(Key)

        def read() -> Item:
            found = self.items.get(key)
            self._read(key[0], size_of(found) if found else 0)
            return {"Item": dict(found)} if found else {}

        return self._call("GetItem", _CALL, read)

    def query(self, *, Limit: int | None = None, **request: Any) -> Item:  # noqa: N803
        """Of one partition of the table, by its key alone."""
        match = re.fullmatch(r"(\w+) = (:\w+)", request["KeyConditionExpression"])
        assert match, "a query that this table does not know"
        assert match[1] == self.keys[0], "a query goes by the key of the partition"
        partition = _text(request["ExpressionAttributeValues"][match[2]])

        def read() -> Item:
            names = self._sorted.get(partition, [])[:Limit]
            found = [dict(self.items[(partition, name)]) for name in names]
            self._read(partition, sum(map(size_of, found)))
            return {"Items": found}

        return self._call("Query", self.query_seconds, read)

    def get_paginator(self, name: str) -> "_OnePage":
        assert name == "query", "nothing else is asked page by page"
        return _OnePage(self.query)

    def put_item(self, *, Item: Item, **request: Any) -> Item:  # noqa: N803
        return self._write("PutItem", self._key_of(Item), lambda _there: Item, request)

    def delete_item(self, *, Key: Item, **request: Any) -> Item:  # noqa: N803
        return self._write("DeleteItem", self._key_of(Key), lambda _there: None, request)

    def update_item(self, *, Key: Item, **request: Any) -> Item:  # noqa: N803
        def updated(there: Item | None) -> Item:
            return _updated(there or dict(Key), request)

        return self._write("UpdateItem", self._key_of(Key), updated, request)

    def transact_write_items(self, *, TransactItems: list[Item], **_more: Any) -> Item:  # noqa: N803
        """
        Two phases, a write unit in each for a KB of every item. Whoever comes to one of its items
        in between is refused, and so is a transaction that comes to an item of another's: that
        ends it in the first phase.
        https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html
        """
        operation = "TransactWriteItems"
        changes = [self._change_of(*action) for each in TransactItems for action in each.items()]
        keys = [key for key, _, _ in changes]
        self._spend((_TRANSACTION - HELD) / 2 + len(changes) * _EACH_ACTION)
        self.calls[operation] += 1
        try:
            reasons = [self._reason_against(*each) for each in changes]
            if any(reasons):
                self.calls[f"{operation} {next(each for each in reasons if each)}"] += 1
                raise _cancellation(operation, reasons, [self.items.get(each) for each in keys])
            self._held.update(keys)
            self.hub.sleep(HELD)
            self._held.difference_update(keys)
            for key, change, _ in changes:
                there = self.items.get(key)
                self._keep(key, new := change(there))
                self._take("write", key[0], max(units_of(there), units_of(new)), in_arrears=True)
                self._pay_names(there, new)
        finally:
            self.hub.sleep((_TRANSACTION - HELD) / 2)
        return {}

    def _change_of(self, kind: str, request: Item) -> tuple[_Key, _Change, Item]:
        match kind:
            case "Put":
                return self._key_of(request["Item"]), lambda _there: request["Item"], request
            case "Delete":
                return self._key_of(request["Key"]), lambda _there: None, request
            case "Update":
                key = request["Key"]
                return self._key_of(key), lambda there: _updated(there or key, request), request
        raise AssertionError(f"a transaction's action that this table does not know: {kind}")

    def _reason_against(self, key: _Key, change: _Change, request: Item) -> str | None:
        there = self.items.get(key)
        if key in self._held:
            return "TransactionConflict"
        if not _meets(there, request):
            return "ConditionalCheckFailed"
        try:
            self._pay(key[0], max(units_of(there), units_of(change(there))))
        except ClientError:
            return "ProvisionedThroughputExceeded"
        return None

    def _write(
        self,
        operation: str,
        key: _Key,
        change: _Change,
        request: Mapping[str, Any],
    ) -> Item:
        def write() -> Item:
            there = self.items.get(key)
            if key in self._held:
                raise _refusal("TransactionConflictException", operation, None)
            if not _meets(there, request):
                self._pay(key[0], units_of(there))
                raise _refusal("ConditionalCheckFailedException", operation, there)
            new = change(there)
            self._pay(key[0], max(units_of(there), units_of(new)))
            self._pay_index(there, new)
            self._pay_names(there, new)
            self._keep(key, new)
            self.calls[f"{operation} of {key[0]}"] += 1
            return {"Attributes": dict(new)} if new else {}

        return self._call(operation, _CALL, write)

    def _call(self, operation: str, seconds: float, effect: Callable[[], Item]) -> Item:
        """The effect comes halfway; a throttle is retried with pauses, as boto3 does."""
        for attempt in range(_ATTEMPTS):
            self._spend(seconds / 2)
            self.calls[operation] += 1
            try:
                answer = effect()
            except ClientError as error:
                code = error.response["Error"]["Code"]
                self.calls[f"{operation} {code}"] += 1
                self.hub.sleep(seconds / 2)
                if code != _THROTTLE or attempt == _ATTEMPTS - 1:
                    raise
                self.hub.sleep(self.chance.random() * 2.0**attempt)
            else:
                self.hub.sleep(seconds / 2)
                return answer
        raise AssertionError("the last attempt has returned or raised")

    def _spend(self, seconds: float) -> None:
        (self.spend or self.hub.sleep)(seconds)

    def _read(self, partition: str, size: int) -> None:
        self._take("read", partition, max(1, math.ceil(size / 4096)))

    def _pay(self, partition: str, units: int) -> None:
        self._take("write", partition, units)

    def _pay_index(self, there: Item | None, new: Item | None) -> None:
        """A busy partition of an index holds up the table's own writes."""
        if self.index is None:
            return
        places = [
            tuple(_text(each[name]) for name in self.index)
            if each and self.index[0] in each
            else ()
            for each in (there, new)
        ]
        before, after = places
        if before and before != after:
            self._take("index", before[0], units_of(there))
        if after:
            self._take("index", after[0], units_of(new))

    def _pay_names(self, there: Item | None, new: Item | None) -> None:
        """Behind the table's own writes: they don't wait for it."""
        told = [
            [each[name] for name in self.names] if each and {*self.names} <= each.keys() else []
            for each in (there, new)
        ]
        if told[0] != told[1]:
            self._take("index", _text((told[1] or told[0])[0]), 1, in_arrears=True)

    def _take(self, what: str, partition: str, units: float, *, in_arrears: bool = False) -> None:
        rate = READ_UNITS if what == "read" else WRITE_UNITS
        mine = self._partitions.setdefault((what, partition), Partition(rate=rate, left=rate))
        if not mine.take(units, self.hub.time, in_arrears=in_arrears):
            raise _refusal(_THROTTLE, what, None)
        self.used[f"{what} {partition}"] += units  # type: ignore[assignment]  # as in Bill.add

    def _keep(self, key: _Key, new: Item | None) -> None:
        partition, name = key
        names = self._sorted.setdefault(partition, [])
        if new is None:
            if self.items.pop(key, None) is not None:
                names.remove(name)
            return
        self.largest = max(self.largest, size_of(new))
        if size_of(new) > LARGEST:
            raise _refusal("ValidationException", "an item beyond 400 KB", None)
        if key not in self.items:
            names.append(name)
            names.sort()
        self.items[key] = new

    def _key_of(self, item: Item) -> _Key:
        return _text(item[self.keys[0]]), _text(item[self.keys[1]])


@dataclass(frozen=True)
class _OnePage:
    call: Callable[..., Item]

    def paginate(self, **request: Any) -> Iterator[Item]:
        yield self.call(**request)


class _Exceptions:
    def __getattr__(self, code: str) -> type[ClientError]:
        return exception(code)


_THROTTLE = "ProvisionedThroughputExceededException"


def size_of(value: Any) -> int:
    """
    Bytes of an item, or of one attribute's value, as DynamoDB counts them.

    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
    """
    return sum(len(name.encode()) + _size(each) for name, each in value.items())


def units_of(item: Item | None) -> int:
    """Write units: one for each KB that was begun."""
    return max(1, math.ceil(size_of(item) / 1024)) if item else 1


def _size(value: Mapping[str, Any]) -> int:
    [(kind, held)] = value.items()
    match kind:
        case "S":
            return len(held.encode())
        case "N":
            return math.ceil(len(held.strip("-").replace(".", "")) / 2) + 1
        case "M":
            return 3 + size_of(held) + len(held)
        case "SS":
            return sum(len(each.encode()) for each in held)
        case "L":
            return 3 + sum(_size(each) + 1 for each in held)
    return 1  # a truth value, or null


def _text(value: Mapping[str, Any]) -> str:
    [held] = value.values()
    return str(held)


def _meets(there: Item | None, request: Mapping[str, Any]) -> bool:
    condition = request.get("ConditionExpression")
    return not condition or _holds(condition, there or {}, request)


def _holds(condition: str, there: Item, request: Mapping[str, Any]) -> bool:
    for word, decide in ((" OR ", any), (" AND ", all)):
        parts = _parted(condition, word)
        if len(parts) > 1:
            return decide(_holds(each, there, request) for each in parts)
    if condition.startswith("("):
        return _holds(condition[1:-1], there, request)
    return _is_true(condition, there, request)


def _parted(condition: str, word: str) -> list[str]:
    """At the words that stand in no parentheses."""
    parts = [""]
    for each in condition.split(word):
        is_open = parts[-1].count("(") > parts[-1].count(")")
        parts = [*parts[:-1], parts[-1] + word + each] if is_open else [*parts, each]
    return parts[1:]


def _is_true(term: str, there: Item, request: Mapping[str, Any]) -> bool:
    names = request.get("ExpressionAttributeNames", {})
    if match := re.fullmatch(r"attribute_not_exists\((\S+)\)", term):
        return names.get(match[1], match[1]) not in there
    if match := re.fullmatch(r"attribute_exists\((\S+)\)", term):
        return names.get(match[1], match[1]) in there
    match = re.fullmatch(r"(\S+) (=|<>|<|>=) (:\S+)", term)
    assert match, f"a condition that this table does not know: {term}"
    held = there.get(names.get(match[1], match[1]))
    value = request["ExpressionAttributeValues"][match[3]]
    match match[2]:
        case "=":
            return bool(held == value)
        case "<>":
            return bool(held != value)
        case "<":
            return held is not None and int(held["N"]) < int(value["N"])
    return held is not None and int(held["N"]) >= int(value["N"])


def _updated(there: Item, request: Mapping[str, Any]) -> Item:
    names, values = (
        request.get("ExpressionAttributeNames", {}),
        request["ExpressionAttributeValues"],
    )
    new = dict(there)
    parts = re.split(r"\s*\b(SET|ADD|REMOVE)\s+", request["UpdateExpression"])[1:]
    for clause, listed in zip(parts[::2], parts[1::2], strict=True):
        for each in listed.split(","):
            name, *operand = each.replace("=", " ").split()
            name = names.get(name, name)
            if clause == "REMOVE":
                new.pop(name, None)
            elif clause == "SET":
                new[name] = values[operand[0]]
            else:
                new[name] = _added(new.get(name), values[operand[0]])
    return new


def _added(there: Item | None, value: Item) -> Item:
    if "SS" in value:
        return {"SS": sorted({*(there or {"SS": ()})["SS"], *value["SS"]})}
    return {"N": str(int((there or {"N": "0"})["N"]) + int(value["N"]))}


def _refusal(code: str, operation: str, there: Item | None) -> ClientError:
    response: Any = {
        "Error": {"Code": code, "Message": code},
        "ResponseMetadata": {"HTTPStatusCode": 400},
    }
    if there is not None:
        response["Item"] = there
    return exception(code)(response, operation)


def _cancellation(
    operation: str, reasons: list[str | None], there: list[Item | None]
) -> ClientError:
    """With what stands there, which our transactions ask for."""
    error = _refusal("TransactionCanceledException", operation, None)
    told: list[Any] = [{"Code": each or "None"} for each in reasons]
    for each, item in zip(told, there, strict=True):
        if item is not None:
            each["Item"] = item
    error.response["CancellationReasons"] = told
    return error
