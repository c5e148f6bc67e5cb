"""The book of events keeps each user's own, in their order, and gives each number once."""

from datetime import timedelta
from itertools import pairwise

import pytest

from stackroom.aws.dynamodb.event_records import PAGE, DynamoEvents
from stackroom.catalogs.changes import Event, change_of
from stackroom.catalogs.event_log import EventBook, Numbered
from stackroom.model.records import DocumentStatus
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.events import FakeEvents
from tests.support.records import NOW, a_catalog, a_document, a_receipt

UNTIL = NOW + timedelta(days=7)
HOSTILE = '\N{CYRILLIC SMALL LETTER O}?\n{"nothing": true}\n<script>\'; {{ 7*7 }} # pk'


def an_event(number: int = 1) -> Event:
    event = change_of(None, a_document(number), event_id=f"e-{number}", at=NOW)
    assert event is not None
    return event


def add(book: EventBook, number: int, event: Event | None = None, user_id: str = "alice") -> bool:
    return book.add(user_id, Numbered(number, event or an_event(number)), until=UNTIL)


@pytest.fixture(params=["fake", "dynamodb"])
def book(request: pytest.FixtureRequest) -> EventBook:
    if request.param == "fake":
        return FakeEvents()
    return DynamoEvents(client=request.getfixturevalue("dynamodb"), table=CONTROL_TABLE)


def test_each_kind_of_event_reads_back_whole_and_for_its_user_alone(book: EventBook) -> None:
    failed = a_document(
        filename=HOSTILE, status=DocumentStatus.FAILED, status_reason=HOSTILE, receipt_id="r-1"
    )
    states = (failed, a_document(2), a_catalog(name=HOSTILE), a_receipt(filename=HOSTILE))
    told = [change_of(None, each, event_id=f"e-{each}", at=NOW) for each in states]
    events = [each for each in told if each is not None]

    for number, each in enumerate(events, start=1):
        add(book, number, each)
    add(book, 1, user_id="bob")

    assert len(events) == len(states)
    assert list(book.after("alice", 0)) == [Numbered(*each) for each in enumerate(events, start=1)]
    assert [each.number for each in book.after("alice", 2)] == [3, 4]
    assert list(book.after("carol", 0)) == []


def test_a_number_is_given_once(book: EventBook) -> None:
    assert add(book, 7)

    assert not add(book, 7, an_event(8))
    assert [each.event.id for each in book.after("alice", 0)] == ["e-7"]


def test_history_of_a_document_ends_with_its_first_event(book: EventBook) -> None:
    states = [DocumentStatus.PENDING, DocumentStatus.INDEXING, DocumentStatus.INDEXED]
    versions = [a_document(1, status=each, version=at) for at, each in enumerate(states, start=1)]
    changes = [
        change_of(old, new, event_id=f"e-{new.status}", at=NOW)
        for old, new in pairwise([None, *versions])
        if new is not None
    ]
    receipt = a_receipt(document_id=versions[0].document_id)
    deletion = change_of(None, receipt, event_id="e-deleted", at=NOW)

    for number, each in enumerate([*changes, deletion], start=1):
        assert add(book, number, each)
        assert not add(book, number, each)  # told again after a crash
    add(book, 5, an_event(2))
    add(book, 5, an_event(1), user_id="bob")

    history = book.of_document("alice", receipt.document_id)
    assert [each.id for each in history] == ["e-deleted", "e-indexed", "e-indexing", "e-pending"]


def test_newest_events_are_listed_first(book: EventBook) -> None:
    numbers = range(95, 95 + 2 * PAGE + 1)
    for number in numbers:
        add(book, number)

    newest = list(book.newest_first("alice"))

    assert [each.number for each in newest] == list(reversed(numbers))
    assert newest[0].event_id == f"e-{numbers[-1]}"
    assert newest[0].until == UNTIL
    assert list(book.newest_first("bob")) == []
