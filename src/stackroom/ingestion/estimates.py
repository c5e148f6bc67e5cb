"""
What a catalog's owner can expect: how far each document is, who waits before it, and how long.

The time is an estimate (stackroom.ingestion.remaining) and no promise: a document that waits longer
goes on waiting, for nothing here or elsewhere ends a wait. What is not known is not told.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from stackroom.admission.schedule import Limits
from stackroom.catalog_counts import awaits_indexing
from stackroom.clock import Pace, RealTime, utc_now
from stackroom.ingestion.durations import longest
from stackroom.ingestion.queue_position import QueuePosition, Standing, Standings
from stackroom.model import Catalog, Document, DocumentStatus
from stackroom.ports.admission import AdmissionReader
from stackroom.ports.documents import DocumentLists
from stackroom.ports.runs import LeaseReader
from stackroom.ports.worklists import Worklists

PAGE = 200  # documents: a catalog of fewer is read as it is, in some 50 read units
LISTED = 500  # of a larger one, open ones and failed ones each


class DocumentStage(StrEnum):
    """Where a document stands, in words for its owner."""

    EXPECTED = "waiting for its upload"
    BEGINNING = "about to begin"
    WAITING = "waiting for its turn"
    INGESTING = "being ingested"
    REMOVING = "being removed"
    HELD_UP = "Bedrock is still ingesting it and can't be stopped; it will be removed at the end"
    FOLLOWING = "waiting to follow a run that broke"
    SEARCHABLE = "searchable"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class DocumentEstimate:
    """
    Of what is settled, or has yet to be uploaded, only the stage is told. `attempt` counts from 1;
    the seconds are AWS's.
    `eta_seconds` is None where nobody knows, and `is_late` says that it was known and is over.
    """

    document: Document
    stage: DocumentStage
    attempt: int | None = None
    eta_seconds: int | None = None
    so_far_seconds: int | None = None  # at work, or waiting for it
    is_late: bool = False

    def remaining(self, speed: float) -> str:
        """In words, where AWS's time passes at `speed`; empty for what is settled."""
        if self.so_far_seconds is None:
            return ""
        so_far = in_words(self.so_far_seconds / speed)
        if self.is_late:
            return f"longer than usual: {so_far} so far"
        if self.eta_seconds is None:
            return f"{so_far} so far, time to go unknown"
        return f"about {in_words(max(1, self.eta_seconds / speed))} to go"


@dataclass(frozen=True, kw_only=True)
class CatalogEstimate:
    """
    `queue_position` is None if the catalog's run doesn't wait. Its seconds are those of the last
    document: 0 if all is settled, None if that of any is not known.
    `documents` are all of the catalog if that `is_whole`; of a larger one what is open and what
    failed, as many as are looked at.
    """

    catalog: Catalog
    queue_position: QueuePosition | None
    eta_seconds: int | None
    documents: tuple[DocumentEstimate, ...]
    is_whole: bool = True


@dataclass(frozen=True, kw_only=True)
class Estimates:
    documents: DocumentLists
    leases: LeaseReader
    book: AdmissionReader
    worklists: Worklists
    limits: Limits
    pace: Pace = field(default_factory=RealTime)
    now: Callable[[], datetime] = utc_now

    def of(self, catalog: Catalog, *, known: Iterable[Document] | None = None) -> CatalogEstimate:
        """`known` are all of its documents, of whoever has them at hand."""
        now = self.now()
        found, is_whole = self._found(catalog) if known is None else (known, True)
        documents = sorted(
            (each for each in found if not each.has_lapsed(now)), key=lambda each: each.filename
        )
        unsettled = [each for each in documents if _is_unsettled(each)]
        standing = self._standings.of(catalog, unsettled)
        estimates = tuple(self._of(each, standing) for each in documents)
        eta = longest(each.eta_seconds for each in estimates if each.so_far_seconds is not None)
        if not is_whole and sum(map(awaits_indexing, unsettled)) < catalog.waiting_count:
            eta = None  # nobody has looked at the last one
        return CatalogEstimate(
            catalog=catalog,
            queue_position=standing.queue_position,
            eta_seconds=None if eta is None else round(eta),
            documents=estimates,
            is_whole=is_whole,
        )

    def _found(self, catalog: Catalog) -> tuple[Iterable[Document], bool]:
        """Also whether these are all."""
        if fits_a_page(catalog):
            page = self.documents.page(catalog.catalog_id, after=None, limit=PAGE)
            if page.next is None:
                return page.documents, True
        failed = self.documents.failed_in(catalog.catalog_id, limit=LISTED)
        still_open = self.documents.open_in(catalog.catalog_id, limit=LISTED)
        return {each.document_id: each for each in (*failed, *still_open)}.values(), False

    @property
    def _standings(self) -> Standings:
        return Standings(
            leases=self.leases,
            book=self.book,
            worklists=self.worklists,
            limits=self.limits,
            pace=self.pace,
            now=self.now,
        )

    def _of(self, document: Document, standing: Standing) -> DocumentEstimate:
        stage = _stage(document, standing)
        if not _is_unsettled(document):
            return DocumentEstimate(document=document, stage=stage)
        remaining = standing.remaining
        left = remaining.seconds(document)
        since = remaining.at_work_since(document) or document.updated_at
        so_far = (self.now() - since).total_seconds()
        return DocumentEstimate(
            document=document,
            stage=stage,
            attempt=_attempt(document),
            eta_seconds=None if left is None else math.ceil(round(self.pace.on_aws(left), 3)),
            so_far_seconds=max(0, math.floor(self.pace.on_aws(so_far))),
            is_late=remaining.is_late(document),
        )


def fits_a_page(catalog: Catalog) -> bool:
    """As far as its record tells; some that don't count may lie beside those that do."""
    return catalog.document_count < PAGE


def _is_unsettled(document: Document) -> bool:
    settled = (DocumentStatus.INDEXED, DocumentStatus.FAILED)
    return document.status not in settled and not document.is_to_come


def _stage(document: Document, standing: Standing) -> DocumentStage:
    match document.status:
        case DocumentStatus.FAILED:
            return DocumentStage.FAILED
        case DocumentStatus.INDEXED:
            return DocumentStage.SEARCHABLE
        case DocumentStatus.DELETING:
            is_held_up = standing.remaining.is_held_up(document)
            return DocumentStage.HELD_UP if is_held_up else DocumentStage.REMOVING
        case DocumentStatus.INDEXING:
            return DocumentStage.INGESTING
        case DocumentStatus.UPLOADING | DocumentStatus.PENDING:
            if document.is_to_come:
                return DocumentStage.EXPECTED
            is_behind = standing.remaining.is_behind_events(document)
            return DocumentStage.WAITING if is_behind else _waiting(standing)


def _waiting(standing: Standing) -> DocumentStage:
    if standing.follows:
        return DocumentStage.FOLLOWING
    waits = standing.queue_position is not None
    return DocumentStage.WAITING if waits else DocumentStage.BEGINNING


def _attempt(document: Document) -> int:
    """Documents count the rounds that took them up; one that waits is about to begin another."""
    if document.status is DocumentStatus.PENDING:
        return document.attempts + 1
    return max(1, document.attempts)


def in_words(exact: float) -> str:
    """Seconds, in their largest unit."""
    seconds = max(0, int(exact))
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"
