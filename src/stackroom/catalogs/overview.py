"""
All that an operator looks at, at one moment, each part by itself: one that can't be had, or takes
too long, is named as missing, and the others are told.

The figures are those of the deployed dashboard, whose widgets are the one place that defines them.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from stackroom.catalogs.backlog import Backlog, Backlogs
from stackroom.catalogs.boards import Board, Boards
from stackroom.catalogs.pool import MemberStanding, Pool
from stackroom.clock import Pace, RealTime, utc_now
from stackroom.documents.model import Receipt
from stackroom.documents.repositories import OpenReceipts
from stackroom.errors import StackroomError

# Titles of the dashboard's graphs that are told by themselves; tests/contract holds them to it.
COST = "Estimated dollars per 5 minutes"
DISCREPANCIES = "Discrepancies found, by kind"

RECEIPTS = 50  # open ones that are told
_SECONDS = 15.0  # of the 29 that API Gateway waits for the console's function
_FRESH_SECONDS = 60.0  # CloudWatch bills each figure that is asked for; a point is of 5 minutes

T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Dollars since `since`, midnight UTC: of each line of the dashboard's graph, most first."""

    since: datetime
    parts: tuple[tuple[str, float], ...]

    @property
    def dollars(self) -> float:
        return sum(dollars for _, dollars in self.parts)


@dataclass(frozen=True, kw_only=True)
class Figures:
    """`discrepancies` by kind, found in the time that the board shows."""

    board: Board
    discrepancies: tuple[tuple[str, float], ...]
    cost: Cost


@dataclass(frozen=True, kw_only=True)
class OpenDeletions:
    """The first of `RECEIPTS`, the oldest first; `goes_on` if there may be others."""

    receipts: tuple[Receipt, ...]
    goes_on: bool


@dataclass(frozen=True, kw_only=True)
class Overview:
    """What is None is in `missing`, with why."""

    at: datetime
    backlog: Backlog | None
    pool: tuple[MemberStanding, ...] | None
    deletions: OpenDeletions | None
    figures: Figures | None
    missing: Mapping[str, str]


class _Kept:
    """What was made last, for as long as it is fresh; by one thread at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: tuple[float, Figures] | None = None

    def within(self, seconds: float, make: Callable[[], Figures]) -> Figures:
        with self._lock:
            if self._made is None or time.monotonic() - self._made[0] >= seconds:
                self._made = time.monotonic(), make()
            return self._made[1]


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
    pace: Pace = field(default_factory=RealTime)
    now: Callable[[], datetime] = utc_now
    seconds: float = _SECONDS
    _kept: _Kept = field(default_factory=_Kept, init=False)

    def look(self, after: str | None = None) -> Overview:
        """`after` is where an earlier look's `backlog.next` goes on."""
        readers = ThreadPoolExecutor(4)
        parts = _Parts(until=time.monotonic() + self.seconds)
        asked = (
            readers.submit(self.backlogs.look, after),
            readers.submit(self.pool.look),
            readers.submit(self._deletions),
            readers.submit(self._figures),
        )
        readers.shutdown(wait=False)
        backlog, pool, deletions, figures = asked
        return Overview(
            at=self.now(),
            backlog=parts.taken("what waits and what failed", backlog),
            pool=parts.taken("the pool", pool),
            deletions=parts.taken("receipts", deletions),
            figures=parts.taken("the dashboard's figures", figures),
            missing=parts.missing,
        )

    def _deletions(self) -> OpenDeletions:
        found = self.receipts.open_ones(limit=RECEIPTS + 1)
        return OpenDeletions(receipts=tuple(found[:RECEIPTS]), goes_on=len(found) > RECEIPTS)

    def _figures(self) -> Figures:
        return self._kept.within(self.pace.here(_FRESH_SECONDS), self._figures_now)

    def _figures_now(self) -> Figures:
        now = self.now()
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        board = self.boards.read(end=now)
        today = self.boards.read(end=now, start=midnight, titles=(COST,))
        return Figures(
            board=board,
            discrepancies=_sums(board, DISCREPANCIES),
            cost=Cost(since=midnight, parts=_sums(today, COST)),
        )


def _sums(board: Board, title: str) -> tuple[tuple[str, float], ...]:
    lines = (line for graph in board.graphs if graph.title == title for line in graph.lines)
    sums = ((each.label, sum(each.series.values())) for each in lines if each.series)
    return tuple(sorted(sums, key=lambda pair: (-pair[1], pair[0])))
