"""
A tenant's move from one cell to another, while files are dropped and questions are asked.

A cell is an account with Stackroom on it; both run the product's own code. The move is a script,
which uses what any cell has: its bucket, its records' statuses, its catalogs. docs/scaling.md,
"Beyond one account", tells the steps and why they come in that order.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Any

from bedrock_kb_simulator.rules import SEARCHABLE_LAG
from benchmarks.observation import ETAG
from benchmarks.simulated_time.bill import Bill
from benchmarks.simulated_time.hub import Hub
from benchmarks.stage import Stage
from benchmarks.traffic import Upload
from stackroom.catalogs.transfers import FORM_SECONDS
from stackroom.documents.filters import Has
from stackroom.documents.keys import catalog_id_of
from stackroom.documents.model import DocumentStatus
from stackroom.stores.bedrock.bedrock_adapter import BedrockKnowledgeBase

TENANT, NEIGHBOUR = "user-0", "user-1"
CATALOGS = 5
_MOST_FOUND = 100  # results of one Retrieve [API model]
# Seconds, assumed: a CopyObject as a function sees it, and between two passes over both buckets.
_COPY, _PASS = 0.06, 20.0
_COPIERS = 10
ROUTE_KEPT = 30.0  # seconds for which whoever has asked the router needn't ask again
_LOOK = 5.0
_STALE = 0.1  # of the uploads come by a form that was fetched some time ago
# Seconds, assumed, until a bucket's policy holds everywhere; AWS documents none.
_POLICY = 30.0


class Phase(StrEnum):
    """Of a tenant's row in the router's table; between them nothing stands."""

    AT_HOME = "at home"
    COPYING = "copying"
    SWITCHING = "switching"  # uploads go to the new cell
    FOLLOWING = "following"  # questions too; late uploads are brought after
    CLEARING = "clearing"


@dataclass
class Route:
    """The tenant's row: where its uploads and its questions go."""

    uploads: Stage
    questions: Stage
    phase: Phase = Phase.AT_HOME
    since: dict[Phase, float] = field(default_factory=dict)


@dataclass
class Asker:
    """
    One who asks again and again. `found` is the newest version of each document that its questions
    have found, and `missed` counts what a later question did not find any more, `twice` what one
    answer held in two copies.
    """

    route: Route
    cell: Stage
    asked_at: float  # of the router
    found: dict[str, int] = field(default_factory=dict)
    questions: int = 0
    missed: int = 0
    twice: int = 0


@dataclass(frozen=True, kw_only=True)
class Move:
    """Seconds of each phase, and what came of everything; `waits` are from a drop to an answer."""

    phases: dict[Phase, float]
    documents: int
    copied: int
    late: int  # of those, such as came to the old cell after the switch
    dropped: int
    deleted: int
    questions: int
    missed: int
    twice: int
    lost: int  # what lies in the new cell's bucket and is not found there in that version
    left: int  # what is found in the old cell in the end
    waits_before: list[float]
    waits_during: list[float]
    bills: tuple[Bill, Bill]

    @property
    def took(self) -> float:
        return sum(self.phases.values())


class Moving:
    """`drops` is files a second of the tenant; 0 for a tenant that sleeps, as do its neighbours."""

    def __init__(self, *, documents: int, drops: float, askers: int, seed: int) -> None:
        self.hub = Hub()
        self.old, self.new = (Stage(seed=seed + each, hub=self.hub) for each in range(2))
        self.chance = random.Random(seed)
        self.route = Route(uploads=self.old, questions=self.old)
        self._documents = documents
        self._drops = drops
        self._askers = [
            Asker(route=self.route, cell=self.old, asked_at=self.chance.uniform(-ROUTE_KEPT, 0))
            for _ in range(askers)
        ]
        self._versions = 0
        self._dropped: dict[int, tuple[str, float]] = {}  # key and when, by version
        self._newest: dict[str, int] = {}  # of the tenant's files as they should be
        self._found_after: dict[int, float] = {}
        self._deleted = self._copied = self._late = 0
        self._at_work = True

    def run(self) -> Move:
        """A quiet time, the move, and a while after it."""
        hub = self.hub
        for number in range(self._documents):
            hub.spawn(
                partial(self._drop, f"file-{number}.pdf", number % CATALOGS), after=number / 5
            )
        hub.run(until=self._documents / 5 + 1)
        self._wait_for(self.old.is_quiet)
        bills = (_copy_of(self.old.account.bill), _copy_of(self.new.account.bill))
        for each in self._people():
            hub.spawn(each)
        hub.run(until=hub.time + (300 if self._drops else 0))
        began = hub.time
        hub.spawn(self._move)
        self._wait_for(lambda: self.route.phase is Phase.CLEARING and not self._left())
        ended = hub.time
        self._at_work = False
        self._wait_for(lambda: self.old.is_quiet() and self.new.is_quiet())
        hub.run(until=hub.time + SEARCHABLE_LAG.value + 60)
        return self._outcome(began, ended, bills)

    # People, of the tenant and beside it.

    def _people(self) -> Iterator[Callable[[], None]]:
        if self._drops:
            yield self._drop_now_and_then
            yield self._delete_now_and_then
            yield from (partial(self._neighbour, each) for each in (self.old, self.new))
        yield from (partial(self._ask_for_ever, each) for each in self._askers)

    def _drop_now_and_then(self) -> None:
        while self._at_work:
            self.hub.sleep(self.chance.expovariate(self._drops))
            number = self.chance.randrange(2 * self._documents)
            name, catalog = f"file-{number}.pdf", number % CATALOGS
            if self.chance.random() < _STALE:
                # The form was fetched a while ago: it is of the cell of that moment.
                late = self.chance.uniform(0, FORM_SECONDS * 0.9)
                drop = partial(self._drop_late, name, catalog, self.route.uploads)
                self.hub.spawn(drop, after=late)
            else:
                self._drop(name, catalog)

    def _drop(self, name: str, catalog: int, cell: Stage | None = None) -> None:
        self._versions += 1
        key = f"{TENANT}/shelf-{catalog}/{name}"
        self._dropped[self._versions] = (key, self.hub.time)
        self._newest[key] = self._versions
        cell = self.route.uploads if cell is None or self._is_refused() else cell
        cell.upload(self._upload(key, f"{self._versions}"))

    def _drop_late(self, name: str, catalog: int, cell: Stage) -> None:
        if self._at_work:
            self._drop(name, catalog, cell)

    def _is_refused(self) -> bool:
        """Whether the old bucket refuses the tenant's files by now: then a new form is fetched."""
        return self.hub.time > self.route.since.get(Phase.SWITCHING, float("inf")) + _POLICY

    def _delete_now_and_then(self) -> None:
        while self._at_work:
            self.hub.sleep(self.chance.expovariate(self._drops / 10))
            if self._newest:
                self._delete(self.chance.choice(sorted(self._newest)))

    def _delete(self, key: str) -> None:
        """In the old cell first: what a copier reads there after that is gone."""
        del self._newest[key]
        for asker in self._askers:
            asker.found.pop(key, None)
        self._deleted += 1
        for cell in (self.old, self.new):
            if key in cell.bucket.objects:
                cell.delete(key)

    def _neighbour(self, cell: Stage) -> None:
        number = 0
        while self._at_work:
            self.hub.sleep(self.chance.expovariate(self._drops))
            number += 1
            key = f"{NEIGHBOUR}/shelf-{number % CATALOGS}/file-{number}.pdf"
            cell.upload(self._upload(key, f"{NEIGHBOUR}-{number}"))

    def _upload(self, key: str, etag: str) -> Upload:
        return Upload(at=self.hub.time, key=key, size=50_000, etag=etag)

    def _ask_for_ever(self, asker: Asker) -> None:
        while self._at_work:
            self.hub.sleep(self.chance.uniform(2, 4))
            if self.hub.time - asker.asked_at >= ROUTE_KEPT:
                asker.asked_at, asker.cell = self.hub.time, self.route.questions
            self._ask(asker, asker.cell, self.chance.randrange(CATALOGS))

    def _ask(self, asker: Asker, cell: Stage, catalog: int) -> None:
        prefix = f"{TENANT}/shelf-{catalog}/"
        expected = {key: each for key, each in asker.found.items() if key.startswith(prefix)}
        answer = self._answer(cell, catalog_id_of(TENANT, f"shelf-{catalog}"))
        asker.questions += 1
        versions: dict[str, int] = {}
        for version in answer:
            key, dropped_at = self._dropped[version]
            asker.twice += key in versions
            versions[key] = version
            self._found_after.setdefault(version, self.hub.time - dropped_at)
        for key, version in expected.items():
            # Unless it was deleted while the question was on its way.
            if key in asker.found and versions.get(key, 0) < version:
                asker.missed += 1
        asker.found |= {key: each for key, each in versions.items() if key in self._newest}

    def _answer(self, cell: Stage, catalog_id: str) -> list[int]:
        """The versions that a question to the catalog finds, with the product's own adapter."""
        [member] = cell.stackroom.pool
        runtime: Any = cell.account.client("bedrock-agent-runtime")
        knowledge_base = BedrockKnowledgeBase(runtime, member.knowledge_base_id)
        of_catalog = Has("catalog_id", catalog_id)
        passages = knowledge_base.retrieve("anything", of_catalog, _MOST_FOUND).passages
        return [int(match[1]) for each in passages if (match := ETAG.search(each.text))]

    # The move.

    def _move(self) -> None:
        route = self.route
        self._enter(Phase.COPYING)
        self._take_over_catalogs()
        before, copied = float("inf"), self._pass(removes=True)
        while (
            copied and copied < before / 2
        ):  # while it gets less, and not just what came meanwhile
            self._wait_until_indexed()
            before, copied = copied, self._pass(removes=True)
        route.uploads = self.new
        self._enter(Phase.SWITCHING)
        self.hub.sleep(_POLICY)  # from now on nothing new comes to the old cell
        self._pass(removes=False)
        self._wait_until_indexed()
        while self._pass(removes=False):  # what has come since then, nobody can have found yet
            self._wait_until_indexed()
        route.questions = self.new
        self._enter(Phase.FOLLOWING)
        while self.hub.time < route.since[Phase.SWITCHING] + FORM_SECONDS + ROUTE_KEPT:
            self.hub.sleep(_PASS)
            self._late += self._pass(removes=False)
        self._enter(Phase.CLEARING)
        for key in list(_keys(self.old)):
            self.old.delete(key)

    def _enter(self, phase: Phase) -> None:
        self.route.phase = phase
        self.route.since[phase] = self.hub.time

    def _take_over_catalogs(self) -> None:
        """Their records, placed nowhere: a catalog that a tool has made is known by its record."""
        for catalog in list(self.old.stores.catalogs.of_user(TENANT)):
            self.new.stores.catalogs.open(
                catalog.model_copy(update={"knowledge_base_id": None, "data_source_id": None})
            )

    def _pass(self, *, removes: bool) -> int:
        """
        Copy what the new cell lacks, and remove there what is gone here, while nobody else puts
        anything there. How many were copied.
        """
        if removes:
            for key in set(_keys(self.new)) - set(_keys(self.old)):
                self.new.delete(key)
        wanted = iter([key for key in _keys(self.old) if self._is_newer(key)])
        before = self._copied
        copiers = [self.hub.spawn(partial(self._copy_all, wanted)) for _ in range(_COPIERS)]
        while not all(each.dead for each in copiers):
            self.hub.sleep(1.0)
        return self._copied - before

    def _copy_all(self, keys: Iterator[str]) -> None:
        for key in keys:
            self.hub.sleep(_COPY)
            # CopyObject takes If-Match and If-None-Match of the target: nobody comes in between.
            if self._is_newer(key):
                there = self.old.bucket.objects[key]
                self._copied += 1
                self.new.account.bill.add("s3 puts", 1)
                self.new.upload(Upload(at=self.hub.time, key=key, size=there.size, etag=there.etag))

    def _is_newer(self, key: str) -> bool:
        """Whether the old cell has a version that the new one lacks."""
        here, there = self.old.bucket.objects.get(key), self.new.bucket.objects.get(key)
        if here is None or (there is not None and there.etag == here.etag):
            return False
        return there is None or here.last_modified > there.last_modified

    def _wait_until_indexed(self) -> None:
        """In the new cell: all that lies in the old one now, or what takes its place until then."""
        began, wanted = self.hub.now(), set(_keys(self.old))
        while True:
            wanted = {key for key in wanted if not self._is_indexed(key, since=began)}
            if not wanted:
                break
            self.hub.sleep(_LOOK)
        self.hub.sleep(SEARCHABLE_LAG.value + 1)

    def _is_indexed(self, key: str, *, since: datetime) -> bool:
        stored = self.new.bucket.objects.get(key)
        if stored is None:
            return True
        [record] = [*_records(self.new, key)] or [None]
        if record is None:
            return False
        is_present = record.status is DocumentStatus.INDEXED and record.etag == stored.etag
        return is_present or (record.indexed_at is not None and record.indexed_at > since)

    # What came of it.

    def _left(self) -> int:
        """Documents of the tenant that a search in the old cell finds."""
        found = self.old.account.searchable.found()
        return sum(attributes["user_id"] == TENANT for attributes, _ in found)

    def _wait_for(self, done: Callable[[], bool]) -> None:
        while not done():
            self.hub.run(until=self.hub.time + _LOOK)

    def _outcome(self, began: float, ended: float, bills: tuple[Bill, Bill]) -> Move:
        since = self.route.since
        order = list(since)
        ends = [since[each] for each in order[1:]] + [ended]
        waits = {
            version: after
            for version, after in self._found_after.items()
            if version > self._documents
        }
        during = {each for each in waits if began <= self._dropped[each][1] < since[Phase.CLEARING]}
        return Move(
            phases={each: end - since[each] for each, end in zip(order, ends, strict=True)},
            documents=len(list(_keys(self.new))),
            copied=self._copied,
            late=self._late,
            dropped=self._versions - self._documents,
            deleted=self._deleted,
            questions=sum(each.questions for each in self._askers),
            missed=sum(each.missed for each in self._askers),
            twice=sum(each.twice for each in self._askers),
            lost=self._lost(),
            left=self._left(),
            waits_before=sorted(each for n, each in waits.items() if self._dropped[n][1] < began),
            waits_during=sorted(waits[each] for each in during),
            bills=(
                _difference(self.old.account.bill, bills[0]),
                _difference(self.new.account.bill, bills[1]),
            ),
        )

    def _lost(self) -> int:
        """Files as their owner last dropped them that the new cell does not find as they are."""
        found = {
            int(match[1])
            for attributes, text in self.new.account.searchable.found()
            if attributes["user_id"] == TENANT and (match := ETAG.search(text))
        }
        return len(set(self._newest.values()) - found)


def _keys(cell: Stage) -> Iterator[str]:
    """Of the tenant's documents in the cell's bucket."""
    for catalog in range(CATALOGS):
        yield from (
            each
            for each in list(cell.bucket.folders.get(f"{TENANT}/shelf-{catalog}/", ()))
            if each in cell.bucket.objects
        )


def _records(cell: Stage, key: str) -> Iterator[Any]:
    catalog_id = catalog_id_of(TENANT, key.split("/")[1])
    return (each for each in cell.stores.documents.of_catalog(catalog_id) if each.s3_key == key)


def _copy_of(bill: Bill) -> Bill:
    return Bill(amounts=bill.amounts.copy(), calls=bill.calls.copy())


def _difference(after: Bill, before: Bill) -> Bill:
    return Bill(amounts=after.amounts - before.amounts, calls=after.calls - before.calls)
