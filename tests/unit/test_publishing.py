"""Who is told of an event, in which order, and what comes again when somebody couldn't be told."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import pytest

from stackroom.catalogs.changes import Event, Stated, change_of
from stackroom.catalogs.event_log import EventLog, Numbered
from stackroom.catalogs.publishing import Publishing
from stackroom.catalogs.webhooks import Webhook, WebhookCall, WebhookType
from stackroom.concurrency import at_once
from stackroom.errors import StoreUnavailable
from tests.fakes.events import FakeEvents
from tests.fakes.webhooks import FakeWebhooks
from tests.support.records import NOW, a_catalog, a_document


class Unforeseen(Exception):
    """An error of AWS's that nothing maps."""


THROTTLED = StoreUnavailable("SendMessage", "RequestThrottled")


@dataclass
class Bus:
    """`refuses` is the id of an event that it doesn't take; with an `error` it raises that."""

    refuses: str = ""
    error: Exception | None = None
    is_down: bool = False
    heard: list[str] = field(default_factory=list)

    def put(self, events: Sequence[Event]) -> int:
        if self.is_down:
            raise StoreUnavailable("PutEvents", "ThrottlingException")
        taken = 0
        for each in events:
            if each.id == self.refuses:
                if self.error is not None:
                    raise self.error
                break
            taken += 1
        self.heard += [each.id for each in events if each.id != self.refuses]
        return taken


@dataclass
class Queue:
    refuses: str = ""
    error: Exception = THROTTLED
    put_in: list[tuple[str, str, str]] = field(default_factory=list)

    def put(self, call: WebhookCall, *, record: str) -> None:
        if call.event["id"] == self.refuses:
            raise self.error
        self.put_in.append((call.webhook_id, call.event["id"], record))


@dataclass
class FailingEvents(FakeEvents):
    refuses: str = ""
    error: Exception = THROTTLED

    def add(self, user_id: str, numbered: Numbered, *, until: datetime) -> bool:
        if numbered.event.id == self.refuses:
            raise self.error
        return super().add(user_id, numbered, until=until)


def event(number: int, user_id: str = "alice", record: Stated | None = None) -> Event:
    made = change_of(
        None,
        record or a_document(number, s3_key=f"{user_id}/research/{number}.pdf"),
        event_id=f"e-{number}",
        at=NOW,
    )
    assert made is not None
    return made


@dataclass
class World:
    book: FailingEvents = field(default_factory=FailingEvents)
    bus: Bus = field(default_factory=Bus)
    webhooks: FakeWebhooks = field(default_factory=FakeWebhooks)
    queue: Queue = field(default_factory=Queue)

    def publish(self, *events: Event) -> int:
        log = EventLog(book=self.book, now=lambda: NOW, pause=at_once)
        publishing = Publishing(log=log, bus=self.bus, webhooks=self.webhooks, queue=self.queue)
        published = publishing.publish(events)
        assert (published.error is None) == (published.delivered == len(events))
        return published.delivered

    def logged(self, user_id: str = "alice") -> list[str]:
        return [each.event.id for each in self.book.after(user_id, 0)]


def test_webhooks_for_all_get_every_event_and_owners_only_their_own() -> None:
    world = World()
    hook = Webhook(owner="alice", url="https://example.com", types=(WebhookType.DOCUMENT,))
    operators = Webhook(owner="*", url="https://example.org")
    for each in (hook, operators):
        world.webhooks.add(each)

    told = world.publish(event(1), event(2, "bob"), event(3, record=a_catalog()))

    assert told == 3
    assert (world.logged(), world.logged("bob")) == (["e-1", "e-3"], ["e-2"])
    assert world.bus.heard == ["e-1", "e-2", "e-3"]
    assert world.queue.put_in == [
        (hook.id, "e-1", "doc-0001"),
        (operators.id, "e-1", "doc-0001"),
        (operators.id, "e-2", "doc-0002"),
        (operators.id, "e-3", "cat-alice-1"),
    ]


def refuse_in_log(world: World) -> None:
    world.book.refuses = "e-12"


def refuse_on_bus(world: World) -> None:
    world.bus.refuses = "e-12"


def refuse_in_queue(world: World) -> None:
    world.queue.refuses = "e-12"


@pytest.mark.parametrize("refuse", [refuse_in_log, refuse_on_bus, refuse_in_queue])
@pytest.mark.parametrize("error", [None, Unforeseen()])
def test_failed_event_stops_later_ones_and_all_are_published_next_time(
    refuse: Callable[[World], None], error: Exception | None
) -> None:
    world = World()
    if error is not None:
        world.book.error = world.bus.error = world.queue.error = error
    world.webhooks.add(Webhook(owner="*", url="https://example.org"))
    # Bob's are written before alice's fail; nobody else hears of them before it is their turn.
    events = [event(number, "bob" if number % 2 else "alice") for number in range(1, 16)]
    ids = [each.id for each in events]
    refuse(world)

    told = world.publish(*events)

    assert told <= 11
    assert [each for _, each, _ in world.queue.put_in] == ids[: len(world.queue.put_in)]
    world.book.refuses = world.bus.refuses = world.queue.refuses = ""
    assert world.publish(*events[told:]) == 15 - told
    assert world.logged() == [f"e-{number}" for number in range(2, 16, 2)]
    assert world.logged("bob") == [f"e-{number}" for number in range(1, 16, 2)]
    assert list(dict.fromkeys(each for _, each, _ in world.queue.put_in)) == ids
    assert set(world.bus.heard) == set(ids)


def test_a_bus_that_is_down_keeps_webhooks_waiting_and_not_the_log() -> None:
    world = World()
    world.webhooks.add(Webhook(owner="*", url="https://example.org"))
    world.bus.is_down = True

    assert world.publish(event(1)) == 0
    assert (world.logged(), world.queue.put_in) == (["e-1"], [])
