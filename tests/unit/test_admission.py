"""Grants are given, claimed, kept, given back and never lost, whoever dies in between."""

from dataclasses import replace

import pytest

from stackroom.errors import StoreUnavailable
from stackroom.runs.admission import GRANT, Admission, State
from stackroom.runs.ledger import Mode, Waiter
from tests.fakes.admission import FakeAdmissionBook, FakeTaskTokens, a_waiter
from tests.fakes.clock import FakeClock


class Desk:
    """An admission over fakes, and short ways to queue up."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.book = FakeAdmissionBook()
        self.task_tokens = FakeTaskTokens()
        self.admission = Admission(
            book=self.book,
            task_tokens=self.task_tokens,
            pool=["KB1", "KB2"],
            now=self.clock,
            pause=lambda _: None,
        )

    def waiter(self, name: str, mode: Mode = Mode.JOB, **fields: object) -> Waiter:
        self.clock.pass_by(1)
        return a_waiter(name, 0, mode, **{"since": self.clock(), **fields})

    def enter(self, name: str, mode: Mode = Mode.JOB, **fields: object) -> Waiter:
        waiter = self.waiter(name, mode, **fields)
        self.admission.enter(waiter)
        return waiter

    def dies_before_it_wakes(self, name: str) -> None:
        """The dispatcher, once the run has its grant."""
        self.task_tokens.failure = StoreUnavailable("SendTaskSuccess", "InternalServerError")
        with pytest.raises(StoreUnavailable):
            self.enter(name)
        self.task_tokens.failure = None

    def holders(self) -> list[str]:
        return [each.worklist_id for each in self.book.read().grants]

    def queue(self, mode: Mode = Mode.JOB) -> list[str]:
        return [each.worklist_id for each in self.book.waiting("KB1", mode, limit=100)]


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_the_first_is_woken_at_once_and_the_next_when_it_leaves(desk: Desk) -> None:
    desk.enter("first")
    desk.enter("second")
    before = list(desk.task_tokens.woken)

    desk.clock.pass_by(60)
    desk.admission.leave("first", 1)

    assert before == ["token of first"]
    assert desk.task_tokens.woken == ["token of first", "token of second"]
    assert desk.queue() == []


def test_a_run_claims_its_grant_once_it_is_woken_and_no_other_can(desk: Desk) -> None:
    desk.enter("first")

    mine = desk.admission.claim("first", 1)
    others = desk.admission.claim("second", 1)
    older = desk.admission.claim("first", 0)

    assert mine is not None
    assert mine.claimed
    assert (others, older) == (None, None)


def test_next_dispatcher_wakes_the_run_that_a_dead_one_did_not(desk: Desk) -> None:
    desk.dies_before_it_wakes("first")

    desk.admission.dispatch()

    assert desk.holders() == ["first"]
    assert desk.task_tokens.woken == ["token of first"]


def test_a_grant_of_a_run_that_died_before_it_was_woken_goes_to_the_next(desk: Desk) -> None:
    desk.dies_before_it_wakes("dead")
    desk.task_tokens.dead.add("token of dead")
    desk.book.enqueue(desk.waiter("alive"))

    desk.clock.pass_by(600)
    desk.admission.dispatch()

    assert desk.holders() == ["alive"]
    assert desk.queue() == []


def test_grant_that_is_not_returned_expires(desk: Desk) -> None:
    desk.enter("lost")
    desk.admission.claim("lost", 1)
    desk.enter("next")

    desk.clock.pass_by(GRANT.total_seconds() + 1)
    desk.admission.dispatch()

    assert desk.holders() == ["next"]
    assert desk.admission.claim("lost", 1) is None


def test_lone_run_extends_its_slots_and_returns_them_when_others_come(desk: Desk) -> None:
    desk.enter("big", Mode.DIRECT, calls=2)
    mine = desk.admission.claim("big", 1)
    assert mine is not None

    alone = desk.admission.extend(mine, calls=40)
    desk.enter("other", Mode.DIRECT, calls=40)
    assert alone is not None
    beside = desk.admission.extend(alone, calls=40)

    assert alone.slots == 10
    assert beside is not None
    assert beside.slots == 5


def test_concurrent_ledger_writes_do_not_overwrite_each_other(desk: Desk) -> None:
    desk.book.before("write", lambda _: desk.enter("quicker"), times=1)

    desk.enter("slower")

    assert desk.holders() == ["slower"]  # it queued up first
    assert desk.queue() == ["quicker"]


def test_the_oldest_wait_is_that_of_the_head_of_any_queue(desk: Desk) -> None:
    before = desk.admission.state()
    desk.enter("busy")
    desk.enter("waits")

    desk.clock.pass_by(120)

    assert before == State(waiting=0, grants=0, oldest_wait_seconds=0)
    assert desk.admission.state() == State(waiting=1, grants=1, oldest_wait_seconds=120)


@pytest.mark.parametrize("before", [[], ["calls"]])
def test_run_cannot_enter_at_once_while_a_job_works_or_waits(desk: Desk, before: list[str]) -> None:
    for name in before:
        desk.enter(name, Mode.DIRECT)
    desk.enter("job")

    assert desk.admission.enter_at_once(desk.waiter("late", Mode.DIRECT)) is None
    assert desk.holders() == (before or ["job"])


def test_acquire_grants_at_once_and_later_extends_the_same_grant(desk: Desk) -> None:
    waiter = desk.waiter("calls", Mode.DIRECT, calls=4)

    first = desk.admission.acquire(waiter)
    desk.clock.pass_by(600)
    again = desk.admission.acquire(replace(waiter, calls=6))

    assert first is not None
    assert again is not None
    assert (first.mode, first.claimed, desk.task_tokens.woken) == (Mode.DIRECT, True, [])
    assert (first.slots, again.slots) == (4, 6)
    assert again.until > first.until
    assert again.granted_at == first.granted_at


def test_acquiring_run_yields_to_a_due_job(desk: Desk) -> None:
    waiter = desk.waiter("calls", Mode.DIRECT, calls=4)
    desk.admission.acquire(waiter)
    desk.enter("job")

    assert desk.admission.acquire(waiter) is None
    assert desk.holders() == ["calls"]  # its calls at work are yet to end
    desk.admission.leave("calls", 1)
    assert desk.admission.acquire(waiter) is None
    assert desk.holders() == ["job"]


def test_a_dispatcher_that_died_after_it_woke_the_run_costs_it_no_grant(desk: Desk) -> None:
    waiter = desk.enter("first")
    desk.admission.claim("first", 1)
    desk.book.enqueue(waiter)  # the dispatcher died before it took the waiter out

    desk.clock.pass_by(600)
    desk.admission.dispatch()

    assert desk.holders() == ["first"]
    assert desk.queue() == []


def test_a_retried_task_keeps_its_position_under_its_new_token(desk: Desk) -> None:
    desk.enter("busy")
    first = desk.enter("first")
    desk.enter("second")

    desk.admission.enter(replace(first, token="newer"))
    desk.clock.pass_by(60)
    desk.admission.leave("busy", 1)

    assert desk.task_tokens.woken == ["token of busy", "newer"]
