"""
The events of each user for up to a week, in the order in which they were recorded.

Each number is one more than the last, so that a reader who has read up to it misses none that comes
later: two writers that want the same number can't both have it. After a week without events the
numbers go on at the day's first millisecond, which no earlier number has reached.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from typing import NamedTuple, Protocol

from stackroom.catalogs.changes import Event
from stackroom.clock import utc_now
from stackroom.concurrency import among_writers
from stackroom.errors import RecordChanged

KEPT = timedelta(days=7)
# The most that two clocks of AWS's may differ, generously: no limit is documented.
_BETWEEN_CLOCKS = timedelta(minutes=1)
_TRIES = 12
_MOST_READ = 1_000  # events at most, to find one catalog's, or what is stored already
_SHOWN = 500  # events at most, of one document


class Numbered(NamedTuple):
    number: int
    event: Event


class LogEntry(NamedTuple):
    """An entry of the log, without the event itself."""

    number: int
    event_id: str
    until: datetime


class EventBook(Protocol):
    def newest_first(self, user_id: str) -> Iterator[LogEntry]:
        """Yield everything that was added before, reading as it is consumed."""

    def add(self, user_id: str, numbered: Numbered, *, until: datetime) -> bool:
        """
        Add the entry, or return False if its number is taken. A document's event enters its history
        in any case.
        """

    def after(self, user_id: str, number: int) -> Iterator[Numbered]: ...

    def of_document(self, user_id: str, document_id: str) -> Iterator[Event]:
        """Yield the document's history, the last event first."""


@dataclass(frozen=True, kw_only=True)
class EventPage:
    """
    A page of events. `next_after` is the number from which to continue; there may be more already.
    """

    events: tuple[Numbered, ...]
    next_after: int


@dataclass(frozen=True, kw_only=True)
class EventLog:
    book: EventBook
    now: Callable[[], datetime] = utc_now
    pause: Callable[[int], None] = among_writers

    def append(self, user_id: str, events: Iterable[Event]) -> None:
        """
        Append the events in their order, without those that are there. Raises RecordChanged or
        StoreUnavailable.
        """
        wanted = list(events)
        for attempt in range(_TRIES):
            if self._appended(user_id, wanted):
                return
            self.pause(attempt)  # somebody else writes the same log
        raise RecordChanged(f"EVENTS#{user_id}")

    def _appended(self, user_id: str, events: Sequence[Event]) -> bool:
        newest = self._since(user_id, min(each.time for each in events) if events else self.now())
        known = {each.event_id for each in newest}
        number = self._following(newest)
        for event in events:
            if event.id in known:
                continue
            until = self.now() + KEPT
            if not self.book.add(user_id, Numbered(number, event), until=until):
                return False
            known.add(event.id)
            number += 1
        return True

    def _since(self, user_id: str, moment: datetime) -> Sequence[LogEntry]:
        """
        Return the last entry and all that may have been added since that moment. Entries that were
        added before an event happened can't be that event.
        """
        found: list[LogEntry] = []
        for each in islice(self.book.newest_first(user_id), _MOST_READ):
            found.append(each)
            if each.until - KEPT < moment - _BETWEEN_CLOCKS:
                break
        return found

    def _following(self, newest: Sequence[LogEntry]) -> int:
        now = self.now()
        if newest and newest[0].until > now:
            return newest[0].number + 1
        today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return int(today.timestamp() * 1000)

    def page(self, user_id: str, *, after: int, catalog_id: str | None, limit: int) -> EventPage:
        """Return a page of events, the oldest first."""
        found: list[Numbered] = []
        for each in islice(self._behind(user_id, after), _MOST_READ):
            after = each.number
            if catalog_id in (None, each.event.detail.catalog_id):
                found.append(each)
            if len(found) == limit:
                break
        return EventPage(events=tuple(found), next_after=after)

    def _behind(self, user_id: str, number: int) -> Iterator[Numbered]:
        """
        Yield the events after that number, or all if the log ends before it, because it was
        restored from a backup.
        """
        found = self.book.after(user_id, max(number - 1, 0))
        first = next(found, None)
        if first is None:
            return self.book.after(user_id, 0)
        return found if first.number == number else chain([first], found)

    def of_document(self, user_id: str, document_id: str) -> tuple[Event, ...]:
        """Return the document's history, the last event first."""
        return tuple(islice(self.book.of_document(user_id, document_id), _SHOWN))
