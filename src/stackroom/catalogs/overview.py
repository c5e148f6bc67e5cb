"""
An operator's overview of one moment, in independent parts: one that fails, or takes too long, is
named as missing, and the others are returned. The figures are some of the deployed dashboard's,
whose widgets alone define them.
"""

import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Generic, Protocol, TypeVar

from stackroom.catalogs.metering import Metering, MonthPage
from stackroom.clock import REAL_TIME, Pace, utc_now
from stackroom.errors import StackroomError
from stackroom.model.records import Catalog, Document, PoolMember, Receipt
from stackroom.model.repositories import ListedDocuments, OpenReceipts
from stackroom.runs.capacity import Slots, capacity_of
from stackroom.runs.estimates import Estimates, QueuePosition
from stackroom.runs.inventory import Inventory
from stackroom.runs.ledger import AdmissionBook, Grant, Mode, Waiter
from stackroom.runs.run_leases import RunExecution, RunHistory

# The unsettled and failed documents of the catalogs, a page of catalogs at a time.
#
# A catalog's record counts both exactly. The reasons are read for some documents of some catalogs:
# those with the highest counts.

CATALOGS_READ = 25  # catalogs, of those that wait as of those with failures
DOCUMENTS = 20  # of each of these
_NAMED = 5  # documents of a reason
_READERS = 8


@dataclass(frozen=True, kw_only=True)
class WaitingCatalog:
    """
    A catalog with open documents, which have yet to become searchable or be removed. `stages` count
    the oldest `DOCUMENTS` of them; the oldest has been open `since` then.
    """

    catalog: Catalog
    open: int
    stages: tuple[tuple[str, int], ...]
    queue_position: QueuePosition | None = None
    since: datetime | None = None


FailedDocument = tuple[Catalog, Document]
_OF_BEDROCK = "Bedrock"  # the first word of each reason that is not about the file itself


@dataclass(frozen=True, kw_only=True)
class Failure:
    """
    A reason for failure, how many documents have it, and some of these `documents`. `is_unusable`
    is True if their owners must fix the files.
    """

    reason: str
    count: int
    documents: tuple[FailedDocument, ...]
    is_unusable: bool


@dataclass(frozen=True, kw_only=True)
class Backlog:
    """
    The backlog of a page of catalogs. `names` are the catalogs' by their ids, behind their owners';
    `next` is where it goes on.

    The totals are exact. `waiting` leaves out the catalogs behind the first `CATALOGS_READ`,
    `failures` the documents that were not read.
    """

    names: Mapping[str, str]
    documents: int
    waiting_documents: int
    waiting_catalogs: int
    waiting: tuple[WaitingCatalog, ...]
    failed_documents: int
    failures: tuple[Failure, ...]
    next: str | None

    @property
    def catalogs(self) -> int:
        return len(self.names)

    @property
    def unusable_files(self) -> int:
        """
        Return the number of files that their owners must fix, among the failures that were read.
        """
        return sum(each.count for each in self.failures if each.is_unusable)

    @property
    def unexplained(self) -> int:
        """Return the number of failures whose reasons were not read."""
        return max(0, self.failed_documents - sum(each.count for each in self.failures))


@dataclass(frozen=True, kw_only=True)
class Backlogs:
    inventory: Inventory
    documents: ListedDocuments
    estimates: Estimates

    def read(self, after: str | None = None) -> Backlog:
        page = self.inventory.all_catalogs(after)
        waits = _most(page.items, lambda each: each.open_count or each.waiting_count)
        fails = _most(page.items, lambda each: each.failed_count)
        with ThreadPoolExecutor(_READERS) as readers:
            waiting = readers.map(self._waiting, waits[:CATALOGS_READ])
            failed = readers.map(self._failed, fails[:CATALOGS_READ])
            return Backlog(
                names={each.catalog_id: f"{each.user_id}/{each.name}" for each in page.items},
                documents=sum(each.document_count for each in page.items),
                waiting_documents=sum(each.waiting_count for each in page.items),
                waiting_catalogs=len(waits),
                waiting=tuple(waiting),
                failed_documents=sum(each.failed_count for each in page.items),
                failures=_by_reason(each for found in failed for each in found),
                next=page.next,
            )

    def _waiting(self, catalog: Catalog) -> WaitingCatalog:
        oldest = list(self.documents.open_in(catalog.catalog_id, limit=DOCUMENTS))
        estimate = self.estimates.of(catalog, known=oldest)
        opened = [since for each in oldest if (since := each.failing_since or each.opened_at)]
        return WaitingCatalog(
            catalog=catalog,
            open=catalog.open_count,
            stages=tuple(Counter(str(each.stage) for each in estimate.documents).most_common()),
            queue_position=estimate.queue_position,
            since=min(opened, default=None),
        )

    def _failed(self, catalog: Catalog) -> Sequence[FailedDocument]:
        failed = self.documents.failed_in(catalog.catalog_id, limit=DOCUMENTS)
        return [(catalog, each) for each in failed]


def _most(catalogs: Iterable[Catalog], counted: Callable[[Catalog], int]) -> list[Catalog]:
    """Return the catalogs with a count above zero, the highest first."""
    return sorted(filter(counted, catalogs), key=lambda each: (-counted(each), each.catalog_id))


def _by_reason(failed: Iterable[FailedDocument]) -> tuple[Failure, ...]:
    by_reason: dict[str, list[FailedDocument]] = defaultdict(list)
    for catalog, document in failed:
        by_reason[document.status_reason or ""].append((catalog, document))
    found = (
        Failure(
            reason=reason,
            count=len(held),
            documents=tuple(sorted(held, key=_id)[:_NAMED]),
            is_unusable=not reason.startswith(_OF_BEDROCK),
        )
        for reason, held in by_reason.items()
    )
    return tuple(sorted(found, key=lambda each: (-each.count, each.reason)))


def _id(failed: FailedDocument) -> str:
    return failed[1].document_id


# The figures that a deployment's dashboard shows, as they are drawn there.

Series = Mapping[datetime, float]


@dataclass(frozen=True)
class Reading:
    """A line of a graph, oldest point first, or why it can't be drawn."""

    label: str
    series: Series
    trouble: str = ""


@dataclass(frozen=True, kw_only=True)
class Graph:
    title: str
    lines: tuple[Reading, ...]


@dataclass(frozen=True, kw_only=True)
class Board:
    """
    A dashboard's graphs between two moments. `alarms` are states by name, None for an alarm that
    doesn't exist. If `alarms_trouble` says why they could not be read, there are none.
    """

    name: str
    region: str
    start: datetime
    end: datetime
    alarms: Mapping[str, str | None]
    alarms_trouble: str = ""
    graphs: tuple[Graph, ...]


class Boards(Protocol):
    def read(
        self, *, end: datetime, start: datetime | None = None, titles: Collection[str] = ()
    ) -> Board:
        """
        Return the deployed dashboard, over its own period or from `start`, and only the graphs with
        these titles if any are given. Raises FiguresNotRead.
        """


# Each knowledge base of the pool: its slots, the runs at work, and those that wait.

MOST_WAITING = 1000  # of those that wait in a queue


@dataclass(frozen=True, kw_only=True)
class MemberStanding:
    """
    A knowledge base's state. `holders` are the catalogs with a data source of their own. `waiting`
    are the first `MOST_WAITING` of either queue, the oldest first.
    """

    member: PoolMember
    holders: frozenset[str]
    running: tuple[Grant, ...]
    waiting: Mapping[Mode, tuple[Waiter, ...]]

    @property
    def most(self) -> int:
        return capacity_of(self.member).own_sources


@dataclass(frozen=True, kw_only=True)
class Pool:
    members: Sequence[PoolMember]
    slots: Slots
    book: AdmissionBook

    def read(self) -> tuple[MemberStanding, ...]:
        grants = self.book.read().grants
        return tuple(self._standing(each, grants) for each in self.members)

    def _standing(self, member: PoolMember, grants: Sequence[Grant]) -> MemberStanding:
        here = member.knowledge_base_id
        return MemberStanding(
            member=member,
            holders=self.slots.holders(here),
            running=tuple(each for each in grants if each.knowledge_base_id == here),
            waiting={
                mode: tuple(self.book.waiting(here, mode, limit=MOST_WAITING)) for mode in Mode
            },
        )


RUNS = 25  # the newest that are told
FAILED_RUNS = 5  # the newest of these, whatever else has run since


# Titles of those of the dashboard's widgets that are shown; tests/contract holds them to it.
ALARMS = "Alarms"
COST = "Estimated dollars per 5 minutes"
DISCREPANCIES = "Discrepancies found, by kind"
SIGNALS = ("Ask", "Chat", "Ingestion", "Model")
RECENT = timedelta(minutes=15)
_DONE, _FAILED = "done", "failed"  # as the labels of a signal's lines begin
_LATENCIES = {"p90 (ms)": 1000, "p90 (s)": 1}  # and how many of them are a second

RECEIPTS = 50  # open ones that are told
_SECONDS = 15.0  # of the 29 that API Gateway waits for the console's function
_FRESH_SECONDS = 60.0  # CloudWatch bills each figure that is asked for; a point is of 5 minutes

T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Signal:
    """
    A figure of one part of the system: `failed` counts failures for reasons of ours. `seconds` is
    the 90th percentile, in the worst five minutes; None if nothing was done.
    """

    name: str
    done: float
    failed: float
    seconds: float | None

    @property
    def failed_share(self) -> float:
        return self.failed / max(self.done, self.failed, 1)


@dataclass(frozen=True, kw_only=True)
class Figures:
    """
    Figures of the system. `recent` has the alarms and past signals; `discrepancies` are by kind.
    Dollars are since midnight UTC, None if none were reported.
    """

    recent: Board
    signals: tuple[Signal, ...]
    discrepancies: tuple[tuple[str, float], ...]
    discrepancies_since: datetime
    dollars_today: float | None


@dataclass(frozen=True, kw_only=True)
class Overview:
    """The overview. `missing` says why a part is None; `deletions` are the oldest open ones."""

    at: datetime
    backlog: Backlog | None
    pool: tuple[MemberStanding, ...] | None
    deletions: tuple[Receipt, ...] | None
    figures: Figures | None
    runs: tuple[RunExecution, ...] | None
    month: MonthPage | None
    missing: Mapping[str, str]


class _Cached(Generic[T]):
    """
    Caches the last value made and what it was made `of`, while it is fresh; one thread at a time
    makes it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: tuple[float, str | None, T] | None = None

    def within(self, seconds: float, make: Callable[[], T], *, of: str | None = None) -> T:
        with self._lock:
            made = self._made
            if made is None or made[1] != of or time.monotonic() - made[0] >= seconds:
                self._made = made = time.monotonic(), of, make()
            return made[2]


@dataclass(kw_only=True)
class _Parts:
    until: float  # by time.monotonic
    missing: dict[str, str] = field(default_factory=dict)

    def taken(self, name: str, asked: Future[T]) -> T | None:
        wait([asked], timeout=max(0.0, self.until - time.monotonic()))
        if not asked.done():
            self.missing[name] = "it takes too long; look again in a minute"
            return None
        try:
            return asked.result()
        except StackroomError as error:
            logger.warning("a part of Operations is missing", exc_info=error)
            self.missing[name] = str(error)
        except Exception as error:  # whatever it is, the other parts are told
            logger.error("a part of Operations is missing", exc_info=error)
            self.missing[name] = f"{type(error).__name__}; the log says more"
        return None


@dataclass(frozen=True, kw_only=True)
class Operations:
    backlogs: Backlogs
    pool: Pool
    receipts: OpenReceipts
    boards: Boards
    runs: RunHistory
    metering: Metering
    pace: Pace = REAL_TIME
    now: Callable[[], datetime] = utc_now
    seconds: float = _SECONDS
    _kept: _Cached[Figures] = field(default_factory=_Cached, init=False)
    _month: _Cached[MonthPage] = field(default_factory=_Cached, init=False)

    def overview(self, after: str | None = None, *, users_after: str | None = None) -> Overview:
        """
        Return the overview. `after` continues after an earlier one's `backlog.next`, `users_after`
        after its `month.next`.
        """
        readers = ThreadPoolExecutor(6)
        parts = _Parts(until=time.monotonic() + self.seconds)
        asked = (
            readers.submit(self.backlogs.read, after),
            readers.submit(self.pool.read),
            readers.submit(self._deletions),
            readers.submit(self._figures),
            readers.submit(self._runs),
            readers.submit(self._used, users_after),
        )
        readers.shutdown(wait=False)
        backlog, pool, deletions, figures, runs, month = asked
        overview = Overview(
            at=self.now(),
            backlog=parts.taken("what waits and what failed", backlog),
            pool=parts.taken("the pool", pool),
            deletions=parts.taken("receipts", deletions),
            figures=parts.taken("the dashboard's figures", figures),
            runs=parts.taken("runs", runs),
            month=parts.taken("what users used", month),
            missing=parts.missing,
        )
        if overview.figures and (trouble := overview.figures.recent.alarms_trouble):
            parts.missing["alarms"] = trouble
        return overview

    def _deletions(self) -> tuple[Receipt, ...]:
        return tuple(self.receipts.open_ones(limit=RECEIPTS))

    def _runs(self) -> tuple[RunExecution, ...]:
        return tuple(self.runs.newest(limit=RUNS, failed=FAILED_RUNS))

    def _used(self, after: str | None) -> MonthPage:
        """Return the month of a page of users; adding it up reads as much as they used."""
        page = partial(self.metering.page, after=after)
        return self._month.within(self.pace.here(_FRESH_SECONDS), page, of=after)

    def _figures(self) -> Figures:
        return self._kept.within(self.pace.here(_FRESH_SECONDS), self._figures_now)

    def _figures_now(self) -> Figures:
        now = self.now()
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        begun = now.replace(minute=now.minute // 5 * 5, second=0, microsecond=0)  # by AWS's points
        recent = self.boards.read(end=now, start=begun - RECENT, titles=(ALARMS, *SIGNALS))
        if recent.alarms_trouble:
            logger.warning("alarms could not be read", extra={"error": recent.alarms_trouble})
        found = self.boards.read(end=now, titles=(DISCREPANCIES,))
        cost = _sums(self.boards.read(end=now, start=midnight, titles=(COST,)))
        return Figures(
            recent=recent,
            signals=tuple(map(_signal, recent.graphs)),
            discrepancies=_sums(found),
            discrepancies_since=found.start,
            dollars_today=sum(dollars for _, dollars in cost) if cost else None,
        )


def _signal(graph: Graph) -> Signal:
    def total(kind: str) -> float:
        lines = (each for each in graph.lines if each.label.startswith(kind))
        return sum(value for line in lines for value in line.series.values())

    seconds = [
        value / of_a_second
        for line in graph.lines
        for kind, of_a_second in _LATENCIES.items()
        if line.label.startswith(kind)
        for value in line.series.values()
    ]
    return Signal(
        name=graph.title,
        done=total(_DONE),
        failed=total(_FAILED),
        seconds=max(seconds, default=None),
    )


def _sums(board: Board) -> tuple[tuple[str, float], ...]:
    """Return the total of each line by its label, the largest first."""
    lines = (line for graph in board.graphs for line in graph.lines)
    sums = ((each.label, sum(each.series.values())) for each in lines if each.series)
    return tuple(sorted(sums, key=lambda pair: (-pair[1], pair[0])))
