"""Every `AdmissionBook` overwrites no ledger unread, and has fair queues."""

from dataclasses import replace
from datetime import timedelta

import pytest

from stackroom.aws.dynamodb.admission_records import DynamoAdmissionBook
from stackroom.errors import RecordChanged
from stackroom.runs.ledger import AdmissionBook, Grant, Ledger, Mode, Waiter
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.pipeline import FakeAdmissionBook
from tests.support.records import NOW

LATER = NOW + timedelta(minutes=15)
JOB = Grant(
    worklist_id="cat-1",
    epoch=3,
    knowledge_base_id="KB1",
    mode=Mode.JOB,
    slots=1,
    granted_at=NOW,
    until=LATER,
    start_at=NOW + timedelta(seconds=7),
)
DIRECT = Grant(
    worklist_id="cat-2",
    epoch=1,
    knowledge_base_id="KB2",
    mode=Mode.DIRECT,
    slots=4,
    granted_at=NOW,
    until=LATER,
    claimed=True,
)
LEDGER = Ledger(grants=(JOB, DIRECT), next_start=LATER)


@pytest.fixture(params=["fake", "dynamodb"])
def book(request: pytest.FixtureRequest) -> AdmissionBook:
    if request.param == "fake":
        return FakeAdmissionBook()
    return DynamoAdmissionBook(client=request.getfixturevalue("dynamodb"), table=CONTROL_TABLE)


def a_waiter(
    worklist_id: str = "cat-1", *, seconds: float = 0, mode: Mode = Mode.DIRECT, token: str = "t"
) -> Waiter:
    return Waiter(
        worklist_id=worklist_id,
        epoch=1,
        knowledge_base_id="KB1",
        mode=mode,
        since=NOW + timedelta(seconds=seconds),
        calls=2,
        token=token,
    )


def names(waiters: list[Waiter]) -> list[str]:
    return [each.worklist_id for each in waiters]


def test_ledger_reads_back_as_last_written_and_refuses_stale_writes(
    book: AdmissionBook,
) -> None:
    before = book.read()
    first = book.write(LEDGER)
    read = book.read()
    second = book.write(Ledger(version=first.version))
    for late in (before, first):
        with pytest.raises(RecordChanged):
            book.write(late)

    assert before == Ledger()
    assert read == first == replace(LEDGER, version=1)
    assert book.read() == second == Ledger(version=2)


def test_waiters_are_read_oldest_first_up_to_the_limit(
    book: AdmissionBook,
) -> None:
    for seconds in (2, 0, 0.5, 1, 0.000001):
        book.enqueue(a_waiter(f"cat-{seconds}", seconds=seconds))
    book.enqueue(a_waiter("cat-0-too", seconds=0))

    waiting = book.waiting("KB1", Mode.DIRECT, limit=10)

    expected = ["cat-0", "cat-0-too", "cat-1e-06", "cat-0.5", "cat-1", "cat-2"]
    assert names(waiting) == expected
    assert waiting[0] == a_waiter("cat-0", seconds=0)
    assert names(book.waiting("KB1", Mode.DIRECT, limit=2)) == expected[:2]


def test_each_knowledge_base_and_mode_has_a_queue_of_its_own(book: AdmissionBook) -> None:
    book.enqueue(a_waiter("cat-job", mode=Mode.JOB))
    book.enqueue(a_waiter("cat-direct"))
    book.enqueue(replace(a_waiter("cat-elsewhere"), knowledge_base_id="KB2"))

    assert names(book.waiting("KB1", Mode.JOB, limit=9)) == ["cat-job"]
    assert names(book.waiting("KB1", Mode.DIRECT, limit=9)) == ["cat-direct"]
    assert names(book.waiting("KB2", Mode.DIRECT, limit=9)) == ["cat-elsewhere"]
    assert book.waiting("KB2", Mode.JOB, limit=9) == []


def test_queueing_up_again_keeps_the_position_and_replaces_the_token(book: AdmissionBook) -> None:
    book.enqueue(a_waiter(token="first"))
    book.enqueue(a_waiter("cat-2", seconds=1))

    book.enqueue(a_waiter(token="second"))

    waiting = book.waiting("KB1", Mode.DIRECT, limit=9)
    assert [(each.worklist_id, each.token) for each in waiting] == [
        ("cat-1", "second"),
        ("cat-2", "t"),
    ]


def test_a_position_is_given_up_and_giving_it_up_again_is_safe(book: AdmissionBook) -> None:
    book.enqueue(a_waiter())
    book.enqueue(a_waiter("cat-2"))

    given_up = [book.dequeue(a_waiter()) for _ in range(2)]

    assert given_up == [True, True]
    assert names(book.waiting("KB1", Mode.DIRECT, limit=9)) == ["cat-2"]


def test_a_position_where_another_token_stands_is_kept(book: AdmissionBook) -> None:
    book.enqueue(a_waiter(token="first"))
    book.enqueue(a_waiter(token="second"))

    assert not book.dequeue(a_waiter(token="first"))

    assert book.waiting("KB1", Mode.DIRECT, limit=9) == [a_waiter(token="second")]
