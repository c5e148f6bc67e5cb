"""
What a catalog's owner can expect: how far each document is, whose turn it is, and about how long.

The time is an estimate by a simple model and no promise: a document that waits longer goes on
waiting, for nothing here or elsewhere ends a wait.

- Jobs take about 20 s, and 0.3 s a document, one at a time in a knowledge base and at least 10 s
  apart in the account. Of those ahead only the number is known, so each counts as 20 s.
- Direct calls carry 10 documents and take about 6 s, 10 at a time in the account, shared with
  whoever is ahead, and after the job that has the knowledge base, if one has.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from stackroom.admission.schedule import Limits
from stackroom.clock import utc_now
from stackroom.ingestion.direct import BATCH
from stackroom.model import Catalog, DataSource, DataSourceType, Document, DocumentStatus
from stackroom.ports.admission import AdmissionBook, Ledger, Mode
from stackroom.ports.documents import Documents
from stackroom.ports.runs import Leases
from stackroom.runs.leases import LONGEST_DELAY

_JOB_SECONDS = 20.0
_JOB_SECONDS_A_DOCUMENT = 0.3
_CALL_SECONDS = 6.0
# Of the queue this many are looked at; a place behind them is told as "after" them.
_LOOKED_AT = 1000


class Stage(StrEnum):
    """Where a document stands, in words for its owner."""

    BEGINNING = "about to begin"
    WAITING = "waiting for its turn"
    INGESTING = "being ingested"
    REMOVING = "being removed"
    FOLLOWING = "waiting to follow a run that broke"
    SEARCHABLE = "searchable"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class Place:
    """A place in the queue of a knowledge base, from 1; None if it is beyond `length`."""

    position: int | None
    length: int


@dataclass(frozen=True, kw_only=True)
class DocumentEstimate:
    """`attempt` counts from 1; `eta_seconds` is None for what is settled."""

    document: Document
    stage: Stage
    attempt: int | None = None
    eta_seconds: int | None = None


@dataclass(frozen=True, kw_only=True)
class CatalogEstimate:
    """`place` is None if the catalog's run doesn't wait in the queue; 0 seconds: all is settled."""

    catalog: Catalog
    place: Place | None
    eta_seconds: int
    documents: tuple[DocumentEstimate, ...]


@dataclass(frozen=True, kw_only=True)
class _Turn:
    """How the catalog stands among those that want the same."""

    place: Place | None
    seconds_ahead: float
    follows: bool = False  # a run that broke, after a while that has yet to pass


@dataclass(frozen=True, kw_only=True)
class Estimates:
    documents: Documents
    leases: Leases
    book: AdmissionBook
    limits: Limits
    now: Callable[[], datetime] = utc_now

    def of(self, catalog: Catalog) -> CatalogEstimate:
        documents = sorted(
            self.documents.of_catalog(catalog.catalog_id), key=lambda each: each.filename
        )
        unsettled = sum(_is_unsettled(each) for each in documents)
        turn = self._turn(catalog) if unsettled else None
        estimates = tuple(self._of(each, catalog, turn, unsettled) for each in documents)
        return CatalogEstimate(
            catalog=catalog,
            place=turn.place if turn else None,
            eta_seconds=max((each.eta_seconds or 0 for each in estimates), default=0),
            documents=estimates,
        )

    def _of(
        self, document: Document, catalog: Catalog, turn: _Turn | None, unsettled: int
    ) -> DocumentEstimate:
        if turn is None or not _is_unsettled(document):
            settled = Stage.FAILED if document.status is DocumentStatus.FAILED else Stage.SEARCHABLE
            return DocumentEstimate(document=document, stage=settled)
        seconds = self._work(catalog, unsettled)
        if document.status is DocumentStatus.INDEXING:
            gone_by = (self.now() - document.updated_at).total_seconds()
            seconds = max(1.0, seconds - gone_by)
        else:
            seconds += turn.seconds_ahead
        return DocumentEstimate(
            document=document,
            stage=_stage(document, turn),
            attempt=_attempt(document),
            eta_seconds=math.ceil(seconds),
        )

    def _turn(self, catalog: Catalog) -> _Turn:
        source = catalog.source
        if source is None:
            return self._following(catalog.catalog_id)
        ledger = self.book.read()
        if any(each.catalog_id == catalog.catalog_id for each in ledger.grants):
            return _Turn(place=None, seconds_ahead=0)
        place, calls_ahead = self._place(catalog, source)
        if place is None:
            return self._following(catalog.catalog_id)
        seconds = self._wait(ledger, source, place, calls_ahead)
        return _Turn(place=place, seconds_ahead=seconds)

    def _following(self, catalog_id: str) -> _Turn:
        """Its run is about to begin; at once, or with a delay if it follows one that broke."""
        lease = self.leases.get(catalog_id)
        if lease is None or not lease.held or not lease.failures or lease.until is None:
            return _Turn(place=None, seconds_ahead=0)
        # The lease of a run that has yet to begin lasts until shortly after it must have.
        delay = (lease.until - self.now()).total_seconds()
        return _Turn(place=None, seconds_ahead=min(max(0.0, delay), LONGEST_DELAY), follows=True)

    def _place(self, catalog: Catalog, source: DataSource) -> tuple[Place | None, int]:
        """And how many calls are wanted by those ahead."""
        queue = self.book.waiting(source.knowledge_base_id, _mode(source), limit=_LOOKED_AT)
        ahead = 0
        for position, waiter in enumerate(queue, start=1):
            if waiter.catalog_id == catalog.catalog_id:
                return Place(position=position, length=len(queue)), ahead
            ahead += waiter.calls
        if len(queue) < _LOOKED_AT:
            return None, 0  # it has its turn, or is about to queue up
        return Place(position=None, length=len(queue)), ahead

    def _wait(self, ledger: Ledger, source: DataSource, place: Place, calls_ahead: int) -> float:
        here = [
            each for each in ledger.grants if each.knowledge_base_id == source.knowledge_base_id
        ]
        if _mode(source) is Mode.SHARED:
            job = _JOB_SECONDS if any(each.mode is Mode.EXCLUSIVE for each in here) else 0
            at_work = sum(each.slots for each in ledger.grants if each.mode is Mode.SHARED)
            return job + _calls_seconds(at_work + calls_ahead, self.limits)
        ahead = (place.position or place.length + 1) - 1
        seconds = _JOB_SECONDS * (ahead + len(here))
        if ledger.next_start is not None:
            seconds = max(seconds, (ledger.next_start - self.now()).total_seconds())
        return max(seconds, self.limits.seconds_between_starts * ahead)

    def _work(self, catalog: Catalog, documents: int) -> float:
        if catalog.data_source_type is DataSourceType.CUSTOM:
            return _calls_seconds(math.ceil(documents / BATCH), self.limits)
        return _JOB_SECONDS + _JOB_SECONDS_A_DOCUMENT * documents


def _calls_seconds(calls: int, limits: Limits) -> float:
    return math.ceil(calls / limits.direct_calls) * _CALL_SECONDS


def _mode(source: DataSource) -> Mode:
    return Mode.SHARED if source.type is DataSourceType.CUSTOM else Mode.EXCLUSIVE


def _is_unsettled(document: Document) -> bool:
    return document.status not in (DocumentStatus.INDEXED, DocumentStatus.FAILED)


def _stage(document: Document, turn: _Turn) -> Stage:
    if document.status is DocumentStatus.DELETING:
        return Stage.REMOVING
    if document.status is DocumentStatus.INDEXING:
        return Stage.INGESTING
    if turn.follows:
        return Stage.FOLLOWING
    return Stage.WAITING if turn.place is not None else Stage.BEGINNING


def _attempt(document: Document) -> int:
    """Documents count the rounds that took them up; one that waits is about to begin another."""
    if document.status is DocumentStatus.PENDING:
        return document.attempts + 1
    return max(1, document.attempts)
