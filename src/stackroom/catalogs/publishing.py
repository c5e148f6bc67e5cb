"""
Deliver each event to its owner's log, EventBridge, and webhooks.

They follow in this order, and none of an event before all of the one before it, so that a batch
that is delivered again from where it failed leaves out nothing and keeps the order. Events that
were delivered before are then delivered again with the same id. Each step catches whatever an event
fails with, also what nobody expected: an error that left `publish` would hide how far it came, and
Lambda would deliver the whole batch again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol

from stackroom.catalogs.changes import Event
from stackroom.catalogs.event_log import EventLog
from stackroom.catalogs.webhooks import WebhookCall, WebhookQueue, Webhooks
from stackroom.concurrency import chunks
from stackroom.errors import StoreUnavailable

AT_ONCE = 10  # events of one PutEvents [EventBridge API reference]


class EventBus(Protocol):
    def put(self, events: Sequence[Event]) -> int:
        """
        Put at most AT_ONCE events, and return how many were accepted before the first that wasn't.
        """


class PublishResult(NamedTuple):
    """
    The number of events, from the first, that were delivered everywhere, and the error that stopped
    the next.
    """

    delivered: int
    error: Exception | None = None


@dataclass(frozen=True, kw_only=True)
class Publishing:
    log: EventLog
    bus: EventBus
    webhooks: Webhooks
    queue: WebhookQueue

    def publish(self, events: Sequence[Event]) -> PublishResult:
        error = None
        for tell in (self._to_owners, self._to_bus, self._to_webhooks):
            count, failure = tell(events)
            events, error = events[:count], failure or error
        return PublishResult(len(events), error)

    def _to_owners(self, events: Sequence[Event]) -> PublishResult:
        """
        Append each owner's events at once. If one log fails, the others may be ahead; they
        recognise repeated events.
        """
        by_owner: dict[str, list[Event]] = {}
        for each in events:
            by_owner.setdefault(each.detail.user_id, []).append(each)
        done = PublishResult(len(events))
        for owner, own in by_owner.items():
            try:
                self.log.append(owner, own)
            except Exception as error:
                done = min(
                    done,
                    PublishResult(events.index(own[0]), error),
                    key=lambda each: each.delivered,
                )
        return done

    def _to_bus(self, events: Sequence[Event]) -> PublishResult:
        count = 0
        for some in chunks(events, of=AT_ONCE):
            try:
                taken = self.bus.put(some)
            except Exception as error:
                return PublishResult(count, error)
            count += taken
            if taken < len(some):
                return PublishResult(count, StoreUnavailable("PutEvents", "FailedEntryCount"))
        return PublishResult(count)

    def _to_webhooks(self, events: Sequence[Event]) -> PublishResult:
        webhooks_of = cache(self.webhooks.of)
        for count, event in enumerate(events):
            try:
                for each in webhooks_of(event.detail.user_id):
                    if each.takes(event.detail_type):
                        call = WebhookCall(webhook_id=each.id, event=event.to_json())
                        self.queue.put(call, record=event.detail.record)
            except Exception as error:
                return PublishResult(count, error)
        return PublishResult(len(events))
