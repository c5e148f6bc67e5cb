"""
What a catalog's owner can expect: how far each document is, who waits before it, and how long.

The time is an estimate (stackroom.ingestion.durations) and no promise: a document that waits longer
goes on waiting, for nothing here or elsewhere ends a wait.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from stackroom.admission.demand import DEMANDS
from stackroom.admission.limits import Limits
from stackroom.clock import utc_now
from stackroom.ingestion.durations import Ahead, Durations, durations
from stackroom.model import Catalog, DataSource, Document, DocumentStatus
from stackroom.ports.admission import AdmissionBook
from stackroom.ports.documents import Documents
from stackroom.ports.runs import Leases
from stackroom.runs.leases import LONGEST_DELAY

# Of the queue this many are looked at; a position behind them is told as "after" them.
_LOOKED_AT = 1000


class DocumentStage(StrEnum):
    """Where a document stands, in words for its owner."""

    BEGINNING = "about to begin"
    WAITING = "waiting for its turn"
    INGESTING = "being ingested"
    REMOVING = "being removed"
    FOLLOWING = "waiting to follow a run that broke"
    SEARCHABLE = "searchable"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class QueuePosition:
    """In the queue of a knowledge base, from 1; None if it is beyond `length`."""

    position: int | None
    length: int


@dataclass(frozen=True, kw_only=True)
class DocumentEstimate:
    """`attempt` counts from 1; `eta_seconds` is None for what is settled."""

    document: Document
    stage: DocumentStage
    attempt: int | None = None
    eta_seconds: int | None = None


@dataclass(frozen=True, kw_only=True)
class CatalogEstimate:
    """`queue_position` is None if the catalog's run doesn't wait; 0 seconds: all is settled."""

    catalog: Catalog
    queue_position: QueuePosition | None
    eta_seconds: int
    documents: tuple[DocumentEstimate, ...]


@dataclass(frozen=True, kw_only=True)
class _Standing:
    """How the catalog stands among those that want the same."""

    seconds_ahead: float = 0.0
    queue_position: QueuePosition | None = None
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
        unsettled = sum(map(_is_unsettled, documents))
        standing = self._standing(catalog) if unsettled else _Standing()
        work = self._durations(catalog).work(unsettled)
        estimates = tuple(self._of(each, standing, work) for each in documents)
        return CatalogEstimate(
            catalog=catalog,
            queue_position=standing.queue_position,
            eta_seconds=max((each.eta_seconds or 0 for each in estimates), default=0),
            documents=estimates,
        )

    def _of(self, document: Document, standing: _Standing, work: float) -> DocumentEstimate:
        stage = _stage(document, standing)
        if not _is_unsettled(document):
            return DocumentEstimate(document=document, stage=stage)
        if document.status is DocumentStatus.INDEXING:
            gone_by = (self.now() - document.updated_at).total_seconds()
            seconds = max(1.0, work - gone_by)
        else:
            seconds = work + standing.seconds_ahead
        return DocumentEstimate(
            document=document,
            stage=stage,
            attempt=_attempt(document),
            eta_seconds=math.ceil(seconds),
        )

    def _standing(self, catalog: Catalog) -> _Standing:
        source = catalog.source
        if source is None:
            return self._following(catalog.catalog_id)
        ledger = self.book.read()
        if any(each.catalog_id == catalog.catalog_id for each in ledger.grants):
            return _Standing()
        position, ahead = self._queue(catalog, source)
        if position is None:
            return self._following(catalog.catalog_id)
        seconds = self._durations(catalog).wait(
            source.knowledge_base_id, ahead, ledger, at=self.now()
        )
        return _Standing(queue_position=position, seconds_ahead=seconds)

    def _following(self, catalog_id: str) -> _Standing:
        """Its run is about to begin; at once, or with a delay if it follows one that broke."""
        lease = self.leases.get(catalog_id)
        if lease is None or not lease.held or not lease.failures or lease.until is None:
            return _Standing()
        # The lease of a run that has yet to begin lasts until shortly after it must have.
        delay = (lease.until - self.now()).total_seconds()
        return _Standing(seconds_ahead=min(max(0.0, delay), LONGEST_DELAY), follows=True)

    def _queue(self, catalog: Catalog, source: DataSource) -> tuple[QueuePosition | None, Ahead]:
        mode = DEMANDS.of(source).mode
        queue = self.book.waiting(source.knowledge_base_id, mode, limit=_LOOKED_AT)
        calls = 0
        for runs, waiter in enumerate(queue):
            if waiter.catalog_id == catalog.catalog_id:
                position = QueuePosition(position=runs + 1, length=len(queue))
                return position, Ahead(runs=runs, calls=calls)
            calls += waiter.calls
        ahead = Ahead(runs=len(queue), calls=calls)
        if len(queue) < _LOOKED_AT:
            return None, ahead  # it has its grant, or is about to queue up
        return QueuePosition(position=None, length=len(queue)), ahead

    def _durations(self, catalog: Catalog) -> Durations:
        by_type = durations(self.limits)
        # One that has yet to be placed is told the time of a data source of its own.
        return by_type.of(catalog.source) if catalog.source is not None else by_type.own


def _is_unsettled(document: Document) -> bool:
    return document.status not in (DocumentStatus.INDEXED, DocumentStatus.FAILED)


def _stage(document: Document, standing: _Standing) -> DocumentStage:
    match document.status:
        case DocumentStatus.FAILED:
            return DocumentStage.FAILED
        case DocumentStatus.INDEXED:
            return DocumentStage.SEARCHABLE
        case DocumentStatus.DELETING:
            return DocumentStage.REMOVING
        case DocumentStatus.INDEXING:
            return DocumentStage.INGESTING
        case DocumentStatus.UPLOADING | DocumentStatus.PENDING:
            if standing.follows:
                return DocumentStage.FOLLOWING
            waits = standing.queue_position is not None
            return DocumentStage.WAITING if waits else DocumentStage.BEGINNING


def _attempt(document: Document) -> int:
    """Documents count the rounds that took them up; one that waits is about to begin another."""
    if document.status is DocumentStatus.PENDING:
        return document.attempts + 1
    return max(1, document.attempts)
