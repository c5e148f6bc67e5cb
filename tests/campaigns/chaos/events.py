"""
Events: each change is told to its user, and nothing else is.

Once a story is over, all that was written in it is delivered to the publisher as Lambda delivers
streams: each shard in its order and beside the others, in batches of any size, again after a
failure, and now and then though there was none. Meanwhile the publisher dies, and its calls go
astray. What has changed is seen here with own eyes, in the images of the records.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from greenlet import getcurrent

from simulated_time.functions import Crash, FunctionFailed
from stackroom.aws.dynamodb.event_records import DynamoEvents
from stackroom.aws.dynamodb.webhook_records import DynamoWebhooks
from stackroom.catalogs.webhooks import OPERATORS, Webhook
from tests.aws.stores import CONTROL_TABLE
from tests.campaigns.chaos.disruptions import Disruptions
from tests.campaigns.chaos.kills import Kill, Kills, Work
from tests.campaigns.chaos.wire import AccountLine, Outbox
from tests.campaigns.chaos.world import World
from tests.support.table_streams import Record

STEP = "event_publisher"
_SHARDS = 5  # of a table
_OF_CONTROL = ("RECEIPTS#", "CAPS_REACHED#")
_MOST = 12  # records of a batch
# Of calls that go astray, and of those that are the publisher's last: where most go well, nothing
# is told again that was forgotten the first time.
_RATES = (0.005, 0.02, 0.1)
_AGAIN = 0.1  # of batches that are delivered once more
_AFTER_A_FAILURE = 1.0  # seconds
_USERS = ("alice", "bob")

Change = tuple[str, str | None, str]  # the record, how it was, how it is


@dataclass
class Deaths(Kills):
    """Deaths of the publisher alone, at any call."""

    chance: Random = field(default_factory=Random)
    rate: float = 0.0

    @property
    def at_work(self) -> bool:
        work = self._at_work.get(getcurrent())
        return self.armed and work is not None and work.step == STEP

    def _strike(self, work: Work, *, late: bool) -> None:
        if self.at_work and self.chance.random() < self.rate:
            self.done.append(Kill(work.step, work.invocation, work.calls, late))
            work.dead = True
            raise Crash


def untold(world: World, seed: int) -> tuple[list[str], Counter[tuple[str, str]]]:
    """Return the disagreements once everything is delivered, and the injected faults."""
    chance = Random(seed)
    rate = chance.choice(_RATES)
    line = world.wire.line
    assert isinstance(line, AccountLine), "there is a world"
    webhook = Webhook(owner=OPERATORS, url="https://example.com")
    webhooks = DynamoWebhooks(client=world.wire.client("dynamodb"), table=CONTROL_TABLE)
    world.do(partial(webhooks.add, webhook))
    shards = _shards(world.streams)
    outbox = line.outbox = Outbox(chance)
    deaths = world.kills = line.kills = Deaths(chance=chance, rate=rate)
    around = line.disruptions = Disruptions(rate=rate, seed=seed)
    pending = [world.hub.spawn(partial(_deliver, world, each, chance)) for each in shards]
    while not all(each.dead for each in pending):
        world.pass_time(5)
    deaths.armed = around.armed = False
    injected = Counter({("publisher", "death"): len(deaths.done)})
    injected["publisher", "refused entry"] = outbox.refused
    for (_, kind), count in around.asked.counts.items():
        injected["publisher", str(kind)] += count
    problems: list[str] = world.do(lambda: list(_compared(world, shards, outbox)))
    return problems, +injected


def _shards(streams: Mapping[str, list[Record]]) -> list[list[Record]]:
    """
    All records of an item are in one: more is not promised.
    https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
    """
    shards: dict[tuple[str, int], list[Record]] = defaultdict(list)
    for table, records in streams.items():
        for each in records:
            partition, sort = (
                next(iter(key.values())) for key in each["dynamodb"]["Keys"].values()
            )
            if sort.startswith(("DOC#", "METADATA")) or partition.startswith(_OF_CONTROL):
                name = partition + sort
                shards[table, sum(name.encode()) % _SHARDS].append(each)
    return list(shards.values())


def _deliver(world: World, shard: list[Record], chance: Random) -> None:
    position = 0
    while position < len(shard):
        batch = shard[position : position + chance.randint(1, _MOST)]
        try:
            event = {"Records": batch}
            answer = world.account.functions.begin(STEP, event).result()
        except FunctionFailed:
            world.hub.sleep(_AFTER_A_FAILURE)
            continue
        failed = [each["itemIdentifier"] for each in answer["batchItemFailures"]]
        numbers = [each["dynamodb"]["SequenceNumber"] for each in batch]
        if failed:
            position += numbers.index(failed[0])
            world.hub.sleep(_AFTER_A_FAILURE)
        elif chance.random() >= _AGAIN:
            position += len(batch)


def _compared(world: World, shards: list[list[Record]], outbox: Outbox) -> Iterator[str]:
    changed: dict[str, list[Change]] = defaultdict(list)
    for shard in shards:
        for record in shard:
            for user, change in _seen(record):
                changed[user].append(change)
    book = DynamoEvents(client=world.wire.client("dynamodb"), table=CONTROL_TABLE)
    ids: set[str] = set()
    for user in sorted({*changed, *_USERS}):
        logged = list(book.after(user, 0))
        told = [_told(each.event.to_json()) for each in logged]
        yield from _differences(f"the log of {user}", changed[user], told)
        own = [each.event.id for each in logged]
        yield from (f"logged twice: {each}" for each, count in Counter(own).items() if count > 1)
        ids |= set(own)
    everything = [each for own in changed.values() for each in own]
    yield from _differences("webhooks", everything, list(map(_told, outbox.messages)))
    if ids != set(outbox.events):
        yield f"bus: heard {len(set(outbox.events))} events, logged {len(ids)}"


def _differences(where: str, changed: list[Change], told: list[Change]) -> Iterator[str]:
    """Yield the differences of each record, in its order."""
    for record in sorted({each[0] for each in (*changed, *told)}):
        was = [each[1:] for each in changed if each[0] == record]
        heard = [each[1:] for each in told if each[0] == record]
        if was != heard:
            yield f"{where}: {record} changed {was}, told {heard}"


def _told(envelope: Mapping[str, Any]) -> Change:
    detail = envelope["detail"]
    kind = envelope["detail-type"].partition(" ")[0].lower()
    if kind == "cap":
        return (f"cap {detail['month']}#{detail['cap']}#{detail['percent']}", None, detail["state"])
    name = {"document": "document_id", "catalog": "catalog_id", "deletion": "receipt_id"}[kind]
    return (f"{kind} {detail[name]}", detail.get("previous_state"), detail["state"])


def _seen(record: Record) -> Iterator[tuple[str, Change]]:
    """Yield the record's owner and the change that the owner sees."""
    change = record["dynamodb"]
    old, new = (_plain(change.get(image)) for image in ("OldImage", "NewImage"))
    here = new or old
    if here.get("pk", "").startswith("CAPS_REACHED#"):
        state = "reached" if here["sk"].endswith("#100") else "near"
        yield here["pk"].partition("#")[2], (f"cap {here['sk']}", None, state)
        return
    if "receipt_id" in here and "pk" in change["Keys"]:
        user, name = here["user_id"], f"deletion {here['receipt_id']}"
        was, now = _of_receipt(old), _of_receipt(new)
        if not new:
            return
    elif "document_id" in here:
        user, name = here["s3_key"].partition("/")[0], f"document {here['document_id']}"
        was, now = _of_document(old), _of_document(new) or "deleted"
    else:
        user, name = here["user_id"], f"catalog {here['catalog_id']}"
        was, now = _of_catalog(old), _of_catalog(new) or "deleted"
    if was != now:
        assert now is not None, "what is there has a state"
        yield user, (name, was, now)


def _of_catalog(image: Mapping[str, str]) -> str | None:
    if not image or image["status"] == "deleting":
        return image.get("status")
    if image["waiting_count"] != "0":
        return "indexing"
    is_lost = image["failed_count"] == image["document_count"] != "0"
    return "failed" if is_lost else "ready"


def _of_document(image: Mapping[str, str]) -> str | None:
    status = image.get("status")
    return "pending" if status == "uploading" and "etag" in image else status


def _of_receipt(image: Mapping[str, str]) -> str | None:
    if not image:
        return None
    if "superseded_at" in image:
        return "superseded"
    if "unsearchable_since" in image:
        return "removed"
    return "found_again" if "found_again_at" in image else "asked"


def _plain(image: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: next(iter(each.values())) for name, each in (image or {}).items()}
