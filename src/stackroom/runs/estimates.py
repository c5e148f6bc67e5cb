"""
Estimates of a catalog's documents: each one's stage, its run's position, elapsed and remaining
time.

The remaining time is an estimate, not a promise: the open work of a document and before it, times
the duration of finished work (runs.ledger). There is none for work far larger than any measured,
for a document that no run processes, or for one that takes longer than it should.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property

from stackroom.clock import REAL_TIME, Pace, utc_now
from stackroom.model.catalog_counts import awaits_indexing
from stackroom.model.records import Catalog, DataSourceType, Document, DocumentStatus
from stackroom.model.repositories import Documents
from stackroom.runs.capacity import Limits
from stackroom.runs.ledger import AdmissionBook, Ledger, Mode, Waiter, duration
from stackroom.runs.run import BATCH
from stackroom.runs.run_leases import Lease, Leases, Worklists, worklist_of

PAGE = 200  # documents: a catalog of fewer is read as it is, in some 50 read units
LISTED = 500  # of a larger one, open ones and failed ones each
# Entries of a queue that are read; a position behind them is shown as "after" them.
_MOST_READ = 1000
# Seconds on AWS from a drop until its run begins: the event, the queue, and the first state.
_BEGINS = 3.0
# Longer than an object's event takes, and the function that it starts: what has waited longer
# waits behind other events, which nobody counts.
_EVENT = timedelta(seconds=10)


class DocumentStage(StrEnum):
    """A document's stage, in words for its owner."""

    EXPECTED = "waiting for its upload"
    OVER_CAP = "waiting over a cap"
    READING = "being read"
    POSTPONED = "waiting for Bedrock, which fails at the moment"
    LEFT = "waiting for another look at it"
    BEGINNING = "about to begin"
    WAITING = "waiting for its turn"
    INGESTING = "being read and indexed"
    REMOVING = "being removed"
    FOLLOWING = "waiting to follow a run that broke"
    SEARCHABLE = "searchable"
    FAILED = "failed"


_STAGES = {  # whatever its run does
    DocumentStatus.INDEXING: DocumentStage.INGESTING,
    DocumentStatus.INDEXED: DocumentStage.SEARCHABLE,
    DocumentStatus.DELETING: DocumentStage.REMOVING,
    DocumentStatus.FAILED: DocumentStage.FAILED,
}


@dataclass(frozen=True, kw_only=True)
class DocumentEstimate:
    """
    One document's stage, and how long it has taken and may still take.

    A document that is settled, has yet to be uploaded, or is postponed has a stage alone. `attempt`
    counts from 1; the seconds are AWS's. `eta_seconds` is None if it is unknown, and `is_late` is
    True if an earlier estimate has passed.
    """

    document: Document
    stage: DocumentStage
    attempt: int | None = None
    eta_seconds: int | None = None
    so_far_seconds: int | None = None  # at work, or waiting for it
    is_late: bool = False

    def remaining(self, speed: float) -> str:
        """
        Describe the remaining time where AWS's time passes at `speed`; empty for a settled
        document.
        """
        if self.so_far_seconds is None:
            return ""
        so_far = in_words(self.so_far_seconds / speed)
        if self.is_late:
            return f"longer than usual: {so_far} so far"
        if self.eta_seconds is None:
            return f"{so_far} so far"
        return f"about {in_words(max(1, self.eta_seconds / speed))} to go"


@dataclass(frozen=True, kw_only=True)
class QueuePosition:
    """A run's position in the queue of a knowledge base, from 1; None if it is beyond `length`."""

    position: int | None
    length: int


@dataclass(frozen=True, kw_only=True)
class CatalogEstimate:
    """
    Estimates of a catalog's documents and of the catalog as a whole.

    `queue_position` is None if the catalog's run doesn't wait. The catalog's seconds are those of
    its last document: 0 if all are settled, None if that of any is unknown. `documents` are all of
    the catalog's if `is_whole`; for a larger catalog they are open and failed ones, up to a limit.
    """

    catalog: Catalog
    queue_position: QueuePosition | None
    eta_seconds: int | None
    documents: tuple[DocumentEstimate, ...]
    is_whole: bool = True


@dataclass(frozen=True, kw_only=True)
class Estimates:
    documents: Documents
    leases: Leases
    book: AdmissionBook
    worklists: Worklists
    limits: Limits
    pace: Pace = REAL_TIME
    now: Callable[[], datetime] = utc_now

    def of(self, catalog: Catalog, *, known: Iterable[Document] | None = None) -> CatalogEstimate:
        """
        Return the catalog's estimate. `known` are all of its documents, if the caller has them at
        hand.
        """
        found, is_whole = (known, True) if known is not None else self._found(catalog)
        now = self.now()
        documents = sorted(
            (each for each in found if not each.has_lapsed(now)), key=lambda each: each.filename
        )
        unsettled = [each for each in documents if _is_unsettled(each)]
        outlook = _Outlook(on=self, catalog=catalog, documents=unsettled, at=now)
        eta = max(map(outlook.seconds, outlook.documents), default=0.0)
        if any(each.unread or each.retry_at is not None for each in documents):
            eta = math.inf  # nobody knows how long a file takes to read before it is read
        if not is_whole and sum(map(awaits_indexing, outlook.documents)) < catalog.waiting_count:
            eta = math.inf  # nobody has looked at the last one
        return CatalogEstimate(
            catalog=catalog,
            queue_position=outlook.position,
            eta_seconds=outlook.on_aws(eta),
            documents=tuple(map(outlook.estimate, documents)),
            is_whole=is_whole,
        )

    def _found(self, catalog: Catalog) -> tuple[Iterable[Document], bool]:
        """
        Return documents of the catalog, and True if these are all. Settled documents may be among
        them.
        """
        if catalog.document_count < PAGE:
            page = self.documents.page(catalog.catalog_id, after=None, limit=PAGE)
            if page.next is None:
                return page.documents, True
        counted = {
            self.documents.failed_in: catalog.failed_count,
            self.documents.open_in: catalog.open_count,
            self.documents.over_in: catalog.over_count,
        }
        found: dict[str, Document] = {}
        for listing, count in counted.items():
            if count:
                listed = listing(catalog.catalog_id, limit=LISTED)
                found |= {each.document_id: each for each in listed}
        return found.values(), False


@dataclass(frozen=True, kw_only=True)
class _Outlook:
    """
    The state of a catalog's run at one moment. Seconds are by our clock, and infinite if unknown.

    `documents` are the unsettled ones. Everything else is read when it is needed, so nothing is
    read for a catalog with nothing under way.
    """

    on: Estimates
    catalog: Catalog
    documents: Sequence[Document]
    at: datetime

    def estimate(self, document: Document) -> DocumentEstimate:
        if not _is_unsettled(document):
            return DocumentEstimate(document=document, stage=self._stage(document))
        is_at_work = document.status is DocumentStatus.INDEXING
        return DocumentEstimate(
            document=document,
            stage=self._stage(document),
            attempt=_attempt(document),
            eta_seconds=self.on_aws(self.seconds(document)),
            so_far_seconds=max(0, math.floor(self.on.pace.on_aws(self._age(document)))),
            is_late=is_at_work and self._whole(self._size_at_work) <= self._idle(document),
        )

    def on_aws(self, seconds: float) -> int | None:
        """Convert to whole seconds on AWS; None if unknown."""
        if seconds == math.inf:
            return None
        return math.ceil(round(self.on.pace.on_aws(seconds), 3))

    def seconds(self, document: Document) -> float:
        """
        Return the seconds until the document is searchable, or removed. A waiting document counts
        with all that wait.
        """
        if self._is_unattended(document) or self._is_following:
            return math.inf
        is_at_work = document.status is DocumentStatus.INDEXING
        return self._left(document) if is_at_work else self._until_done

    @cached_property
    def _until_done(self) -> float:
        """Return the seconds that the open work before and of the catalog takes."""
        is_queued = self._has_grant or self._ahead is not None
        begins = 0.0 if is_queued else self.on.pace.here(_BEGINS)
        if self._mode is Mode.JOB:  # one job takes up all that waits
            before = max(map(self._left, self._at_work), default=self._until_turn)
            return begins + before + self._whole(self._size - self._size_at_work)
        users = len(self._ledger.direct) + len(self._queue) - is_queued + self._sharing
        rounds = math.ceil(len(self.documents) / BATCH) * users / self.on.limits.direct_calls
        return begins + max(0.0, rounds - 1) * self._whole(0) + self._whole(self._size)

    @property
    def position(self) -> QueuePosition | None:
        """
        Return the run's position in the queue; None if it doesn't wait, or belongs to a shared data
        source.
        """
        source = self.catalog.source
        if not self.documents or source is None or source.is_shared or self._has_grant:
            return None
        if self._ahead is not None:
            return QueuePosition(position=self._ahead + 1, length=len(self._queue))
        if len(self._queue) < _MOST_READ:
            return None  # it is about to queue up
        return QueuePosition(position=None, length=len(self._queue))

    def _stage(self, document: Document) -> DocumentStage:
        if (idle := _stage_of_idle(document)) is not None:
            return idle
        if document.status in _STAGES:
            return _STAGES[document.status]
        if self._is_unattended(document) and document.fingerprint:
            return DocumentStage.LEFT
        if self.position is not None or self._is_unattended(document):
            return DocumentStage.WAITING
        return DocumentStage.FOLLOWING if self._is_following else DocumentStage.BEGINNING

    @property
    def _mode(self) -> Mode:
        source = self.catalog.source
        by_job = source is not None and source.type is DataSourceType.S3
        return Mode.JOB if by_job else Mode.DIRECT

    @property
    def _worklist_id(self) -> str:
        return worklist_of(self.catalog.catalog_id, self.catalog.source)

    @cached_property
    def _ledger(self) -> Ledger:
        return self.on.book.read()

    @cached_property
    def _lease(self) -> Lease | None:
        return self.on.leases.get(self._worklist_id)

    @cached_property
    def _queue(self) -> Sequence[Waiter]:
        """The runs that wait for the knowledge base as its run does."""
        if (source := self.catalog.source) is None:
            return ()
        return self.on.book.waiting(source.knowledge_base_id, self._mode, limit=_MOST_READ)

    @cached_property
    def _sharing(self) -> int:
        """
        Return how many catalogs with open documents share the catalog's data source, itself
        included.
        """
        if self.catalog.source is None or not self.catalog.source.is_shared:
            return 1
        entries = self.on.worklists.entries(self._worklist_id, limit=_MOST_READ)
        return max(1, sum(1 for _ in entries))

    @cached_property
    def _has_grant(self) -> bool:
        return any(each.worklist_id == self._worklist_id for each in self._ledger.grants)

    @cached_property
    def _ahead(self) -> int | None:
        """
        Return how many runs of the queue are before the catalog's own; None if its own doesn't
        wait.
        """
        waiting = [each.worklist_id for each in self._queue]
        return waiting.index(self._worklist_id) if self._worklist_id in waiting else None

    @property
    def _is_following(self) -> bool:
        """Return True if the catalog's run broke and another has yet to begin."""
        lease = self._lease
        return not self._has_grant and lease is not None and lease.held and lease.failures > 0

    @property
    def _until_turn(self) -> float:
        """
        Return the seconds that jobs and calls before the catalog's own job take, each as long as a
        small one.
        """
        if self._has_grant or (source := self.catalog.source) is None:
            return 0.0
        home = source.knowledge_base_id
        before = sum(each.knowledge_base_id == home for each in self._ledger.grants)
        before += len(self._queue) if self._ahead is None else self._ahead
        return before * self._whole(0) / min(self.on.limits.jobs_in(home), self.on.limits.jobs)

    @cached_property
    def _at_work(self) -> list[Document]:
        return [each for each in self.documents if each.status is DocumentStatus.INDEXING]

    @property
    def _size_at_work(self) -> int:
        return sum(each.text_size for each in self._at_work)

    @property
    def _size(self) -> int:
        return sum(each.text_size for each in self.documents)

    def _whole(self, size: int) -> float:
        """Return the seconds that so many bytes of text take."""
        return duration(self._ledger.rates, self._mode, size, self.on.pace)

    def _left(self, document: Document) -> float:
        """
        Return the seconds left of all work at work; infinite once it takes longer than it should.
        """
        left = self._whole(self._size_at_work) - self._idle(document)
        return left if left > 0 else math.inf

    def _idle(self, document: Document) -> float:
        """
        Return the seconds since the last document of the catalog was done, or this one was begun.
        """
        since = max(document.updated_at, self.catalog.indexed_at or document.updated_at)
        return (self.at - since).total_seconds()

    def _age(self, document: Document) -> float:
        return (self.at - document.updated_at).total_seconds()

    def _is_unattended(self, document: Document) -> bool:
        """
        Return True if the event of the document's object has yet to arrive, or the last run left
        it.
        """
        waits = document.status in (DocumentStatus.UPLOADING, DocumentStatus.PENDING)
        is_attended = bool(document.fingerprint) and self._lease is not None and self._lease.held
        return waits and not is_attended and self._age(document) > _EVENT.total_seconds()


def _is_unsettled(document: Document) -> bool:
    settled = (DocumentStatus.INDEXED, DocumentStatus.FAILED)
    return document.status not in settled and _stage_of_idle(document) is None


def _stage_of_idle(document: Document) -> DocumentStage | None:
    if document.is_to_come:
        return DocumentStage.EXPECTED
    if document.over_cap is not None:
        return DocumentStage.OVER_CAP
    if document.unread:
        return DocumentStage.READING
    return None if document.retry_at is None else DocumentStage.POSTPONED


def _attempt(document: Document) -> int:
    """
    Return the number of the document's attempt. Documents count the rounds that took them up, so
    one that waits is about to begin another.
    """
    if document.status is DocumentStatus.PENDING:
        return document.attempts + 1
    return max(1, document.attempts)


def in_words(exact: float) -> str:
    """Format seconds in their largest unit."""
    seconds = max(0, int(exact))
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"
