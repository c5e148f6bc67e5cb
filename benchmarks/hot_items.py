"""
The other items that many write: the lease that every request for a run counts in, and the record
of a catalog, whose counters every document that is registered or settled changes.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from botocore.exceptions import ClientError

from benchmarks.metering import DOCUMENT_BYTES
from benchmarks.observation import percentile
from benchmarks.simulated_time.hub import Hub
from benchmarks.simulated_time.table import Item, Table
from stackroom.aws.dynamodb.items import to_item
from stackroom.aws.dynamodb.lease_records import DynamoLeases
from stackroom.errors import StoreUnavailable

_METADATA_BYTES = 600
# How conflicts of transactions are outlasted (aws/dynamodb/table.py): so many tries, a
# pause of at most 20 ms after the first, twice as long after each further one, at most 0.8 s.
_TRIES, _FIRST, _LONGEST = 12, 0.02, 0.8
TOGETHER = 33  # documents of one catalog in a transaction (aws/dynamodb/document_items.py)


@dataclass(frozen=True, kw_only=True)
class Point:
    """At `rate` writers a second: sorted seconds that each took, and how they fared."""

    rate: float
    seconds: list[float]
    refused: float  # for each that was written
    failed: int

    @property
    def bends(self) -> bool:
        return self.failed > 0 or self.refused > 1 or percentile(self.seconds, 0.99) > 1.0


def asks(rate: float, *, worklists: int, seconds: float, seed: int) -> Point:
    """Requests for runs, Poisson, each of any worklist, all of whose runs are live."""
    hub = Hub()
    table = Table(hub=hub, chance=random.Random(seed), index=("live", "until"))
    leases = DynamoLeases(client=table, table="control")  # type: ignore[arg-type]
    chance = random.Random(seed + 1)
    names = [f"shared-KB{number:08}" for number in range(worklists)]

    def begin(name: str) -> None:
        lease = leases.claim(name, until=hub.now() + timedelta(minutes=15))
        assert lease is not None, "nobody else takes it"
        leases.mark_started(lease)

    def ask() -> None:
        """As `Runs.ask` does where the lease is held."""
        name = chance.choice(names)
        assert leases.claim(name, until=hub.now()) is None, "a run is live"
        leases.ask(name)

    for name in names:
        hub.spawn(partial(begin, name))
    hub.run(until=10.0)
    return _observed(table, rate, seconds, ask, chance)


def counted(rate: float, *, together: int, seconds: float, seed: int) -> Point:
    """Transactions, Poisson, each of so many documents of one catalog and its counters."""
    hub = Hub()
    table = Table(hub=hub, chance=random.Random(seed), keys=("catalog_id", "sk"))
    chance = random.Random(seed + 1)
    made = iter(range(10**9))

    def write() -> None:
        actions = [action for _ in range(together) for action in _registration(next(made))]
        actions.append({"Update": _counting(together)})
        for attempt in range(_TRIES):
            try:
                table.transact_write_items(TransactItems=actions)
            except ClientError as error:
                if attempt == _TRIES - 1:
                    raise StoreUnavailable("TransactWriteItems", "TransactionConflict") from error
                hub.sleep(chance.uniform(0, min(_FIRST * 2**attempt, _LONGEST)))
            else:
                return

    return _observed(table, rate, seconds, write, chance)


def _observed(
    table: Table, rate: float, seconds: float, write: Callable[[], object], chance: random.Random
) -> Point:
    hub = table.hub
    took: list[float] = []
    failed = 0

    def one() -> None:
        nonlocal failed
        began = hub.time
        try:
            write()
        except StoreUnavailable:
            failed += 1
        took.append(hub.time - began)

    def people() -> None:
        end = hub.time + seconds
        while hub.time < end:
            hub.sleep(chance.expovariate(rate))
            hub.spawn(one)

    hub.spawn(people)
    hub.run()
    # Every request is counted once by its operation, and once more by what refused it.
    refused = sum(number for what, number in table.calls.items() if _is_refusal(what))
    written = max(1, len(took) - failed)
    return Point(rate=rate, seconds=sorted(took), refused=refused / written, failed=failed)


def _is_refusal(what: str) -> bool:
    return "Conflict" in what or "Throughput" in what or "ConditionalCheck" in what


def _registration(number: int) -> list[Item]:
    """A document's own item, and the one that lists it among the open."""
    key = {"catalog_id": "cat-1", "sk": f"DOC#{number:032}"}
    open_key = {"catalog_id": "cat-1", "sk": f"OPEN#2026-01-01T00:00:00.000000+00:00#{number:032}"}
    document = key | {"record": "x" * (DOCUMENT_BYTES - 60)}
    return [
        {"Put": {"Item": to_item(document), "ConditionExpression": "attribute_not_exists(sk)"}},
        {"Put": {"Item": to_item(open_key | {"document_id": f"{number:032}"})}},
    ]


def _counting(documents: int) -> Item:
    key = to_item({"catalog_id": "cat-1", "sk": "METADATA", "record": "x" * _METADATA_BYTES})
    return {
        "Key": key,
        "UpdateExpression": "ADD document_count :count, open_count :count",
        "ExpressionAttributeValues": to_item({":count": documents}),
    }
