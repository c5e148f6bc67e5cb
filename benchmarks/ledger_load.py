"""
Runs that come for a grant, at any rate: the product's admission over an item that takes so much.

The admission code and its adapter of DynamoDB run as they are deployed; their table is a simulated
one. Bedrock is stood for by the seconds that a direct call takes: what it allows at a time are the
`Limits`, which the code holds itself.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heappop, heappush
from typing import TypeVar

from benchmarks.simulated_time.hub import Hub, Signal
from benchmarks.simulated_time.table import QUERY, Table
from stackroom.aws.dynamodb.admission_records import DynamoAdmissionBook
from stackroom.errors import RecordChanged, StoreUnavailable
from stackroom.quota.grants import Admission
from stackroom.quota.ledger import Grant, Mode, Waiter
from stackroom.quota.schedule import Limits
from stackroom.quota.workload import BATCH, Did

# Seconds that a direct call counts among the account's: users' measurements (docs/scaling.md).
CALL = (4.0, 6.0)
# Of a run for a worklist, about as its polls and starts come (runs/run.py): seconds between two
# looks whether it may have more calls, or is to have fewer; and the part of what waits that its
# calls take together (ingestion/direct_calls.py).
_GROWING, _EXTENDING, _EVENLY = 1.0, 5.0, 0.5
_WAKE = 0.03  # seconds, as in benchmarks.metering
# What the state machine does after an error of a task (statemachines/states.py): so many more
# attempts, at any moment within 2 seconds, then within 4, and so on.
_TASK_ATTEMPTS, _TASK_INTERVAL = 6, 2.0
# A point of the curve is broken off after so many tasks that had to be tried again: it has bent.
_ENOUGH_FAILURES = 20
_ENOUGH_WRITES = 60  # of the ledger, after which more refusals than writes are no chance
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, kw_only=True)
class Style:
    """
    Who has a run: every catalog, as once on the shared data source, so that a document that comes
    alone has one, and a call to itself; or every shared data source, whose one run at a time works
    off ten documents a call.
    """

    name: str
    shares_runs: bool

    def calls(self, documents: float) -> float:
        """Direct calls that many documents take where there are enough at a time."""
        return documents / BATCH if self.shares_runs else documents


PER_CATALOG = Style(name="a run per catalog", shares_runs=False)
PER_WORKLIST = Style(name="a run per worklist", shares_runs=True)


@dataclass
class Worklist:
    knowledge_base_id: str
    name: str
    open: int = 0
    epoch: int = 0
    is_live: bool = False


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One point of it. Waits and entries are sorted seconds; the rest is of all the time."""

    rate: float  # documents that came a second
    served: float  # documents a second whose call had ended
    left: int  # documents whose call had not, in the end
    grants: float  # a second
    writes: float  # of the ledger that took effect, a second
    conflicts: float  # refused writes of the ledger for each that took effect
    throttled: int
    given_up: int  # tasks that the state machine had to try again
    entries: list[float]  # how long it took to queue up
    waits: list[float]  # from then until the run had its grant in hand
    bytes: int  # of the ledger at its largest
    writes_per_document: float

    @property
    def bends(self) -> bool:
        """Whether more writes are refused than take effect, or tasks fail for it."""
        return self.conflicts > 1 or self.given_up >= _ENOUGH_FAILURES


class LedgerLoad:
    """
    `reads_at_once` is as if a hand-out read all queues with one Query; today's reads one after the
    other, two for each knowledge base.
    """

    def __init__(
        self, *, style: Style, pool: int, limits: Limits, seed: int, reads_at_once: bool = False
    ) -> None:
        self.hub = Hub()
        seconds = QUERY / (pool * len(Mode)) if reads_at_once else QUERY
        self.table = Table(hub=self.hub, chance=random.Random(seed), query_seconds=seconds)
        self._chance = random.Random(seed + 1)
        self._style = style
        self._limits = limits
        self._tokens: dict[str, Signal] = {}
        self._numbers = 0
        self._pool = [f"KB{number:08}" for number in range(pool)]
        self._shared = [
            Worklist(knowledge_base_id=each, name=f"shared-{each}") for each in self._pool
        ]
        self.entries: list[float] = []
        self.waits: list[float] = []
        self.came = self.served = self.grants = self.given_up = 0
        self.admission = Admission(
            book=DynamoAdmissionBook(client=self.table, table="control"),  # type: ignore[arg-type]
            task_tokens=self,
            pool=self._pool,
            limits=limits,
            now=self.hub.now,
            pause=self._pause,
            beside=_one_after_another,
        )

    def at(self, rate: float, *, seconds: float) -> Curve:
        """Documents come one by one, Poisson, each into any knowledge base."""
        self.hub.spawn(partial(self._people, rate, seconds))
        while self.hub.time < seconds and not self._has_bent:
            self.hub.run(until=min(seconds, self.hub.time + 1))
        seconds = self.hub.time
        writes, refused = self._writes, self._refused
        return Curve(
            rate=rate,
            served=self.served / seconds,
            left=self.came - self.served,
            grants=self.grants / seconds,
            writes=writes / seconds,
            conflicts=refused / max(1, writes),
            throttled=sum(n for what, n in self.table.calls.items() if "Throughput" in what),
            given_up=self.given_up,
            entries=sorted(self.entries),
            waits=sorted(self.waits),
            bytes=self.table.largest,
            writes_per_document=writes / max(1, self.served),
        )

    @property
    def _writes(self) -> int:
        return self.table.calls["PutItem of ADMISSION"]

    @property
    def _refused(self) -> int:
        return self.table.calls["PutItem ConditionalCheckFailedException"]

    @property
    def _has_bent(self) -> bool:
        is_refused = self._writes >= _ENOUGH_WRITES and self._refused > 1.5 * self._writes
        return is_refused or self.given_up >= _ENOUGH_FAILURES

    def wake(self, token: str) -> bool:
        """The port `TaskTokens`."""
        self.hub.sleep(_WAKE)
        signal = self._tokens.pop(token, None)
        if signal is None:
            return False
        signal.set()
        return True

    def _people(self, rate: float, seconds: float) -> None:
        while self.hub.time < seconds:
            self.hub.sleep(self._chance.expovariate(rate))
            worklist = self._worklist()
            worklist.open += 1
            self.came += 1
            if not worklist.is_live:
                worklist.is_live = True
                self.hub.spawn(partial(self._run, worklist))

    def _worklist(self) -> Worklist:
        shared = self._chance.choice(self._shared)
        if self._style.shares_runs:
            return shared
        self._numbers += 1
        name = f"cat-{self._numbers:032x}"
        return Worklist(knowledge_base_id=shared.knowledge_base_id, name=name)

    def _run(self, worklist: Worklist) -> None:
        worklist.epoch += 1
        while worklist.open:
            began = self.hub.time
            grant = self._admitted(worklist)
            if grant is None:
                continue
            self.grants += 1
            self.waits.append(self.hub.time - began)
            if self._style.shares_runs:
                self._work(worklist, grant)
            else:
                self._call(worklist)
            did = Did(mode=Mode.DIRECT, size=0, seconds=sum(CALL) / 2)
            finish = partial(self.admission.finish, worklist.name, worklist.epoch, did=did)
            self._task(finish)
        worklist.is_live = False

    def _admitted(self, worklist: Worklist) -> Grant | None:
        """None if it came too late for its grant."""
        began = self.hub.time
        waiter = self._waiter(worklist)
        if self._style.shares_runs:
            grant = self._task(partial(self.admission.enter_at_once, waiter))
            if grant is not None:
                self.entries.append(self.hub.time - began)
                return grant
        signal = self._tokens[waiter.token] = Signal(self.hub)
        self._task(partial(self.admission.enter, waiter))
        self.entries.append(self.hub.time - began)
        signal.wait()
        claim = partial(self.admission.claim, worklist.name, worklist.epoch, calls=waiter.calls)
        return self._task(claim)

    def _waiter(self, worklist: Worklist) -> Waiter:
        self._numbers += 1
        calls = min(self._limits.direct_calls, worklist.open)
        return Waiter(
            worklist_id=worklist.name,
            epoch=worklist.epoch,
            knowledge_base_id=worklist.knowledge_base_id,
            mode=Mode.DIRECT,
            since=self.hub.now(),
            calls=calls if self._style.shares_runs else 1,
            # As long as one of Step Functions may be: 1,024 characters [API reference].
            token=f"{self._numbers:0>1024}",
        )

    def _call(self, worklist: Worklist) -> None:
        """The one document of a run by a call of its own."""
        self.hub.sleep(self._chance.uniform(*CALL))
        self.served += worklist.open
        worklist.open = 0

    def _work(self, worklist: Worklist, held: Grant) -> None:
        """
        As ingestion/by_direct_calls.py: as many calls at a time as granted, each of its part of
        what is open, until nothing is. It asks for more once a second, and every five whether it is
        to have fewer.
        """
        grant: Grant | None = held
        extended_at = self.hub.time
        at_work: list[tuple[float, int]] = []
        while at_work or (worklist.open and grant is not None):
            while worklist.open and grant is not None and len(at_work) < grant.slots:
                taken = min(BATCH, math.ceil(worklist.open / (grant.slots * _EVENLY)))
                worklist.open -= taken
                heappush(at_work, (self.hub.time + self._chance.uniform(*CALL), taken))
            self.hub.sleep(max(0.0, min(at_work[0][0] - self.hub.time, _GROWING)))
            is_over = at_work[0][0] <= self.hub.time
            if is_over:
                self.served += heappop(at_work)[1]
            if grant is None or not worklist.open:
                continue
            is_full = len(at_work) >= grant.slots
            if self.hub.time - extended_at >= (_GROWING if is_full else _EXTENDING):
                extended_at = self.hub.time
                calls = len(at_work) + worklist.open
                grant = self._task(partial(self.admission.extend, grant, calls=calls))

    def _task(self, once: Callable[[], _Answer]) -> _Answer:
        """As the state machine goes on after an error that passes."""
        for attempt in range(_TASK_ATTEMPTS):
            try:
                return once()
            except (RecordChanged, StoreUnavailable):
                self.given_up += 1
                self.hub.sleep(self._chance.uniform(0, _TASK_INTERVAL * 2**attempt))
        return once()

    def _pause(self, attempt: int) -> None:
        """As `_among_writers` of the admission code does, in simulated time."""
        self.hub.sleep(self._chance.uniform(0, min(0.02 * 2**attempt, 0.4)))


def limits_times(factor: int) -> Limits:
    """As if Bedrock allowed so many times as much."""
    today = Limits()
    return Limits(
        jobs=today.jobs * factor,
        direct_calls=today.direct_calls * factor,
        seconds_between_starts=today.seconds_between_starts / factor,
    )


def bedrocks_end(style: Style, limits: Limits) -> float:
    """Documents a second that the direct calls allowed at a time can take."""
    calls = limits.direct_calls / (sum(CALL) / len(CALL))
    return calls / style.calls(1.0)


def _one_after_another(actions: Sequence[Callable[[], _Answer]]) -> list[_Answer]:
    """As threads do, but for the time: how long a Query takes here is the table's."""
    return [action() for action in actions]
