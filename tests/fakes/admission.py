"""The ledger of grants, its queues, who is woken and what runs, in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from stackroom.errors import RecordChanged
from stackroom.runs.ledger import Ledger, Mode, Waiter
from tests.fakes.disturbed import Disturbed
from tests.support.records import NOW

Place = tuple[str, Mode, str, str]  # knowledge base, mode, since, catalog


@dataclass
class FakeAdmissionBook(Disturbed):
    ledger: Ledger = field(default_factory=Ledger)
    places: dict[Place, Waiter] = field(default_factory=dict)

    def read(self) -> Ledger:
        return self.ledger

    def write(self, ledger: Ledger) -> Ledger:
        if ledger.version != self.ledger.version:
            raise RecordChanged("the admission ledger")
        self.ledger = replace(ledger, version=ledger.version + 1)
        return self.ledger

    def enqueue(self, waiter: Waiter) -> None:
        self.places[_place(waiter)] = waiter

    def dequeue(self, waiter: Waiter) -> bool:
        there = self.places.get(_place(waiter))
        if there is not None and there.token != waiter.token:
            return False
        self.places.pop(_place(waiter), None)
        return True

    def waiting(self, knowledge_base_id: str, mode: Mode, *, limit: int) -> list[Waiter]:
        queue = [place for place in self.places if place[:2] == (knowledge_base_id, mode)]
        return [self.places[place] for place in sorted(queue)[:limit]]


@dataclass
class FakeTaskTokens(Disturbed):
    """A token wakes once; one that is `dead` wakes nobody. `failure` is raised instead."""

    woken: list[str] = field(default_factory=list)
    dead: set[str] = field(default_factory=set)
    failure: Exception | None = None

    def wake(self, token: str) -> bool:
        if self.failure is not None:
            raise self.failure
        if token in self.dead or token in self.woken:
            return False
        self.woken.append(token)
        return True


def _place(waiter: Waiter) -> Place:
    since = waiter.since.isoformat(timespec="microseconds")
    return (waiter.knowledge_base_id, waiter.mode, since, waiter.worklist_id)


@dataclass
class FakeExecutions(Disturbed):
    started: dict[str, Mapping[str, object]] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    refuse: Exception | None = None

    def start(self, name: str, payload: Mapping[str, object]) -> bool:
        if self.refuse is not None:
            raise self.refuse
        self.started.setdefault(name, payload)
        return name not in self.ended

    def is_running(self, name: str) -> bool:
        return name in self.started and name not in self.ended


def a_waiter(name: str, at: float, mode: Mode = Mode.DIRECT, **fields: object) -> Waiter:
    """Waiting since so many seconds before NOW."""
    values: dict[str, object] = {
        "worklist_id": name,
        "epoch": 1,
        "knowledge_base_id": "KB1",
        "mode": mode,
        "since": NOW - timedelta(seconds=at),
        "calls": 1,
        "token": f"token of {name}",
    }
    return Waiter(**{**values, **fields})  # type: ignore[arg-type] # values by field name


def a_job(name: str, at: float, **fields: object) -> Waiter:
    return a_waiter(name, at, Mode.JOB, **fields)
