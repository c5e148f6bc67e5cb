"""How events are numbered, and that those who read on by the number miss none."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from stackroom.catalogs.changes import Event, change_of
from stackroom.catalogs.event_log import KEPT, EventLog, LogEntry, Numbered
from stackroom.concurrency import at_once
from stackroom.errors import RecordChanged
from tests.fakes.events import FakeEvents
from tests.support.records import NOW, a_catalog, a_document

MIDNIGHT = int(datetime(2026, 2, 3, tzinfo=UTC).timestamp() * 1000)


class Clock:
    at = NOW

    def __call__(self) -> datetime:
        return self.at


class Contended(FakeEvents):
    """Each number that is looked up is somebody else's at once, so many times."""

    times = 0
    looked_at = 0

    def newest_first(self, user_id: str) -> Iterator[LogEntry]:
        for each in super().newest_first(user_id):
            self.looked_at += 1
            yield each

    def add(self, user_id: str, numbered: Numbered, *, until: datetime) -> bool:
        if self.times:
            self.times -= 1
            super().add(user_id, Numbered(numbered.number, event(900 + self.times)), until=until)
        return super().add(user_id, numbered, until=until)


def event(number: int, catalog: int = 1) -> Event:
    made = change_of(
        None, a_document(number, catalog_id=f"cat-{catalog}"), event_id=f"e-{number}", at=NOW
    )
    assert made is not None
    return made


@pytest.fixture
def book() -> Contended:
    return Contended()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def log(book: Contended, clock: Clock) -> EventLog:
    return EventLog(book=book, now=clock, pause=at_once)


def ids(log: EventLog, after: int = 0) -> list[str]:
    page = log.page("alice", after=after, catalog_id=None, limit=100)
    return [each.event.id for each in page.events]


def test_event_appended_twice_is_logged_once(log: EventLog) -> None:
    log.append("alice", [event(number) for number in range(1, 300)])

    log.append("alice", [event(1)])

    assert len(log.page("alice", after=0, catalog_id=None, limit=999).events) == 299


def test_append_does_not_search_entries_older_than_the_event(
    log: EventLog, book: Contended, clock: Clock
) -> None:
    log.append("alice", [event(number) for number in range(1, 300)])
    before, clock.at = book.looked_at, NOW + timedelta(hours=1)

    log.append("alice", [event(300).model_copy(update={"time": clock.at})])

    assert book.looked_at == before + 1
    assert ids(log, after=MIDNIGHT + 298) == ["e-300"]


def test_append_restarts_after_another_writers_event(log: EventLog, book: Contended) -> None:
    log.append("alice", [event(1)])
    book.times = 2

    log.append("alice", [event(2), event(3)])

    assert ids(log) == ["e-1", "e-901", "e-900", "e-2", "e-3"]


def test_append_gives_up_after_repeated_conflicts(log: EventLog, book: Contended) -> None:
    book.times = 1_000

    with pytest.raises(RecordChanged):
        log.append("alice", [event(1)])


@pytest.mark.parametrize("is_deleted", [True, False])
def test_after_an_idle_week_numbers_go_on_above_all_that_were_read(
    log: EventLog, book: Contended, clock: Clock, is_deleted: bool
) -> None:
    log.append("alice", [event(number) for number in range(1, 4)])
    read = log.page("alice", after=0, catalog_id=None, limit=100).next_after
    clock.at = NOW + KEPT + timedelta(hours=1)
    if is_deleted:
        book.kept.clear()

    log.append("alice", [event(9)])

    assert ids(log, after=read) == ["e-9"]


def test_reader_ahead_of_a_restored_log_gets_all_events_again(
    log: EventLog, book: Contended
) -> None:
    log.append("alice", [event(1)])
    before = dict(book.kept)
    log.append("alice", [event(2), event(3)])
    read = log.page("alice", after=0, catalog_id=None, limit=100).next_after

    book.kept = before
    log.append("alice", [event(4)])

    assert ids(log, after=read) == ["e-1", "e-4"]
    assert ids(log, after=MIDNIGHT + 1) == []


def test_next_page_begins_after_the_last_event(log: EventLog) -> None:
    log.append("alice", [event(number, catalog=number % 2) for number in range(1, 8)])

    first = log.page("alice", after=0, catalog_id="cat-1", limit=2)
    second = log.page("alice", after=first.next_after, catalog_id="cat-1", limit=9)
    last = log.page("alice", after=second.next_after, catalog_id="cat-1", limit=9)

    assert [each.event.id for each in first.events] == ["e-1", "e-3"]
    assert [each.event.id for each in second.events] == ["e-5", "e-7"]
    assert (last.events, last.next_after) == ((), second.next_after)


def test_page_without_matches_moves_on_past_what_was_searched(log: EventLog) -> None:
    made = change_of(None, a_catalog(), event_id="e-1", at=NOW)
    assert made is not None
    log.append("alice", [made])

    page = log.page("alice", after=0, catalog_id="cat-other", limit=9)

    assert (page.events, page.next_after) == ((), MIDNIGHT)


def test_history_of_a_document_outlasts_events_of_others(log: EventLog) -> None:
    log.append("alice", [event(number) for number in range(1, 700)])

    assert [each.id for each in log.of_document("alice", "doc-0001")] == ["e-1"]
