"""How a catalog's run stands among those that want the same knowledge base."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from stackroom.admission.schedule import Limits
from stackroom.clock import Pace
from stackroom.ingestion.durations import Durations, total
from stackroom.ingestion.remaining import Remaining
from stackroom.model import Catalog, DataSource, DataSourceType, Document
from stackroom.ports.admission import AdmissionReader, Ledger, Mode, Waiter
from stackroom.ports.runs import LeaseReader
from stackroom.ports.worklists import Worklists
from stackroom.runs.leases import LONGEST_DELAY, shared_worklist, worklist_of

# Of the queue this many are looked at; a position behind them is told as "after" them.
LOOKED_AT = 1000
# Seconds on AWS from a drop until its run begins: the event, the queue, and the first state.
_BEGINS = 3.0


@dataclass(frozen=True, kw_only=True)
class QueuePosition:
    """In the queue of a knowledge base, from 1; None if it is beyond `length`."""

    position: int | None
    length: int


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How the catalog stands among those that want the same."""

    remaining: Remaining
    queue_position: QueuePosition | None = None
    follows: bool = False  # a run that broke, after a while that has yet to pass


@dataclass(frozen=True, kw_only=True)
class Standings:
    leases: LeaseReader
    book: AdmissionReader
    worklists: Worklists
    limits: Limits
    pace: Pace
    now: Callable[[], datetime]

    def of(self, catalog: Catalog, unsettled: list[Document]) -> Standing:
        if not unsettled:
            return Standing(remaining=self._remaining(catalog, Ledger(), unsettled))
        ledger = self.book.read()
        remaining = self._remaining(catalog, ledger, unsettled)
        if catalog.source is not None and catalog.source.is_shared:
            return self._shared(catalog.source, remaining)
        if remaining.grant is not None or (source := catalog.source) is None:
            return self._following(catalog.catalog_id, remaining)
        position, ahead = self._queue(catalog, source, remaining.mode)
        seconds = remaining.durations.until_turn(remaining.mode, source.knowledge_base_id, ahead)
        standing = Standing(queue_position=position, remaining=replace(remaining, ahead=seconds))
        if position is not None:
            return standing
        return self._following(catalog.catalog_id, standing.remaining)

    def _remaining(self, catalog: Catalog, ledger: Ledger, unsettled: list[Document]) -> Remaining:
        source = catalog.source
        by_job = source is not None and source.type is DataSourceType.S3
        worklist_id = worklist_of(catalog.catalog_id, catalog.source)
        mine = (each for each in ledger.grants if each.worklist_id == worklist_id)
        return Remaining(
            durations=Durations(ledger=ledger, limits=self.limits, pace=self.pace, at=self.now()),
            mode=Mode.JOB if by_job else Mode.DIRECT,
            documents=unsettled,
            grant=next(mine, None),
        )

    def _shared(self, source: DataSource, remaining: Remaining) -> Standing:
        """
        The catalogs of the worklist have their turns one after another, in as many calls as the
        account has. It has no position that its owner could count by.
        """
        worklist_id = shared_worklist(source.knowledge_base_id)
        catalogs = sum(1 for _ in self.worklists.entries(worklist_id, limit=LOOKED_AT))
        rounds = max(0, math.ceil(catalogs / self.limits.direct_calls) - 1)
        call = remaining.durations.of(Mode.DIRECT, 0)
        between = None if call is None else call * rounds
        if remaining.grant is not None:
            return Standing(remaining=replace(remaining, ahead=between, between=between))
        # A job may have the knowledge base, or others all calls.
        home = source.knowledge_base_id
        ahead = total([remaining.durations.until_turn(Mode.DIRECT, home, ()), between])
        standing = replace(remaining, ahead=ahead, between=between)
        return self._following(worklist_id, standing)

    def _following(self, worklist_id: str, remaining: Remaining) -> Standing:
        """Its run is about to begin; at once, or with a delay if it follows one that broke."""
        if remaining.grant is not None:
            return Standing(remaining=remaining)
        lease = self.leases.get(worklist_id)
        if lease is None or not lease.held or not lease.failures or lease.until is None:
            ahead = None if remaining.ahead is None else remaining.ahead + self.pace.here(_BEGINS)
            return Standing(remaining=replace(remaining, ahead=ahead))
        # The lease of a run that has yet to begin lasts until shortly after it must have.
        delay = (lease.until - self.now()).total_seconds()
        seconds = min(max(0.0, delay), LONGEST_DELAY)
        return Standing(remaining=replace(remaining, ahead=seconds), follows=True)

    def _queue(
        self, catalog: Catalog, source: DataSource, wanted: Mode
    ) -> tuple[QueuePosition | None, list[Waiter]]:
        """Its position among those that want the same, and who comes before it in either queue."""
        queues = {
            mode: self.book.waiting(source.knowledge_base_id, mode, limit=LOOKED_AT)
            for mode in Mode
        }
        queue = queues[wanted]
        everybody = sorted((each for all_ in queues.values() for each in all_), key=_since)
        for number, waiter in enumerate(queue, start=1):
            if waiter.worklist_id == catalog.catalog_id:
                ahead = [each for each in everybody if each.since < waiter.since]
                return QueuePosition(position=number, length=len(queue)), ahead
        if len(queue) < LOOKED_AT:
            return None, everybody  # it is about to queue up
        return QueuePosition(position=None, length=len(queue)), everybody


def _since(waiter: Waiter) -> datetime:
    return waiter.since
