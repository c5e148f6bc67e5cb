"""
What a catalog's owner can expect: how far each document is, who waits before it, and how long.

The time is an estimate and no promise: a document that waits longer goes on waiting, for nothing
here or elsewhere ends a wait. It is what is left of the work in the way, of what waits before, and
of the document's own, by what finished work has taken here (admission.workload). Of what nothing
like it has been measured, nothing is said; nor of what takes longer than it should.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property, partial
from typing import Any

from stackroom.clock import REAL_TIME, Pace, utc_now
from stackroom.concurrency import Beside, in_threads
from stackroom.documents.catalog_counts import awaits_indexing
from stackroom.documents.model import Catalog, DataSourceType, Document, DocumentStatus
from stackroom.documents.repositories import Documents
from stackroom.quota.ledger import AdmissionReader, Grant, Ledger, Mode, Waiter
from stackroom.quota.schedule import Limits
from stackroom.quota.workload import BATCH, duration, is_large, text_size
from stackroom.runs.lease import Lease, Leases, Worklists
from stackroom.runs.run_leases import LONGEST_DELAY, worklist_of

PAGE = 200  # documents: a catalog of fewer is read as it is, in some 50 read units
LISTED = 500  # of a larger one, open ones and failed ones each
# Of a queue this many are looked at; a position behind them is told as "after" them.
_LOOKED_AT = 1000
# Seconds on AWS from a drop until its run begins: the event, the queue, and the first state.
_BEGINS = 3.0
# Longer than an object's event takes, and the function that it starts: what has waited for them
# longer waits behind other events, and nobody counts those.
_EVENT = timedelta(seconds=10)
_UNKNOWN = math.inf


class DocumentStage(StrEnum):
    """Where a document stands, in words for its owner."""

    EXPECTED = "waiting for its upload"
    OVER_CAP = "waiting over a cap"
    READING = "being read"
    POSTPONED = "waiting for Bedrock, which fails at the moment"
    LEFT = "waiting for another look at it"
    BEGINNING = "about to begin"
    WAITING = "waiting for its turn"
    INGESTING = "being read and indexed"
    REMOVING = "being removed"
    HELD_UP = "Bedrock is still ingesting it and can't be stopped; it will be removed at the end"
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
    Of what is settled, has yet to be uploaded, or is postponed, only the stage is told.
    `attempt` counts from 1; the seconds are AWS's.
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
            return f"{so_far} so far"
        return f"about {in_words(max(1, self.eta_seconds / speed))} to go"


@dataclass(frozen=True, kw_only=True)
class QueuePosition:
    """In the queue of a knowledge base, from 1; None if it is beyond `length`."""

    position: int | None
    length: int


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
    documents: Documents
    leases: Leases
    book: AdmissionReader
    worklists: Worklists
    limits: Limits
    pace: Pace = REAL_TIME
    now: Callable[[], datetime] = utc_now
    beside: Beside = in_threads

    def of(self, catalog: Catalog, *, known: Iterable[Document] | None = None) -> CatalogEstimate:
        """
        `known` are all of its documents, of whoever has them at hand. Of a catalog that counts
        something open, all is read at once, for somebody waits for the answer.
        """
        read: dict[str, Any] = {"found": (known, True)}
        if known is None:
            others = self._reads(catalog) if catalog.open_count else {}
            read = self._at_once({"found": partial(self._found, catalog), **others})
        found, is_whole = read.pop("found")
        now = self.now()
        documents = sorted(
            (each for each in found if not each.has_lapsed(now)), key=lambda each: each.filename
        )
        unsettled = [each for each in documents if _is_unsettled(each)]
        if unsettled and not read:
            read = self._at_once(self._reads(catalog))
        outlook = _Outlook(
            catalog=catalog,
            documents=unsettled,
            limits=self.limits,
            pace=self.pace,
            at=self.now(),
            **read,
        )
        eta = max(map(outlook.seconds, unsettled), default=0.0)
        if any(each.unread or each.retry_at is not None for each in documents):
            eta = _UNKNOWN  # how long a file takes to read, nobody knows before it is read
        if not is_whole and sum(map(awaits_indexing, unsettled)) < catalog.waiting_count:
            eta = _UNKNOWN  # nobody has looked at the last one
        return CatalogEstimate(
            catalog=catalog,
            queue_position=outlook.position,
            eta_seconds=outlook.told(eta),
            documents=tuple(map(outlook.estimate, documents)),
            is_whole=is_whole,
        )

    def _at_once(self, reads: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
        return dict(zip(reads, self.beside(list(reads.values())), strict=True))

    def _found(self, catalog: Catalog) -> tuple[Iterable[Document], bool]:
        """Also whether these are all. Some that don't count may lie beside those that do."""
        if catalog.document_count < PAGE:
            page = self.documents.page(catalog.catalog_id, after=None, limit=PAGE)
            if page.next is None:
                return page.documents, True
        counted = {
            self.documents.failed_in: catalog.failed_count,
            self.documents.open_in: catalog.open_count,
            self.documents.over_in: catalog.over_count,
        }
        found = self.beside(
            [partial(_listed, each, catalog.catalog_id) for each, some in counted.items() if some]
        )
        return {each.document_id: each for part in found for each in part}.values(), False

    def _reads(self, catalog: Catalog) -> dict[str, Callable[[], Any]]:
        """What an outlook takes beside the documents."""
        worklist_id, source = worklist_of(catalog.catalog_id, catalog.source), catalog.source
        reads: dict[str, Callable[[], Any]] = {
            "ledger": self.book.read,
            "lease": partial(self.leases.get, worklist_id),
        }
        if source is not None:
            queue = partial(self.book.waiting, source.knowledge_base_id, limit=_LOOKED_AT)
            reads |= {"jobs": partial(queue, Mode.JOB), "calls": partial(queue, Mode.DIRECT)}
        if source is not None and source.is_shared:
            entries = partial(self.worklists.entries, worklist_id, limit=_LOOKED_AT)
            reads["sharing"] = lambda: sum(1 for _ in entries())
        return reads


@dataclass(frozen=True, kw_only=True)
class _Outlook:
    """
    How a catalog's run stands at one moment. Seconds are by our clock, and infinite where nobody
    knows. `documents` are the unsettled ones, `jobs` and `calls` the queues of the knowledge base,
    and `sharing` is how many catalogs with open documents there are on a shared data source.
    """

    catalog: Catalog
    documents: Sequence[Document]
    limits: Limits
    pace: Pace
    at: datetime
    ledger: Ledger = field(default_factory=Ledger)
    lease: Lease | None = None
    jobs: Sequence[Waiter] = ()
    calls: Sequence[Waiter] = ()
    sharing: int = 0

    def estimate(self, document: Document) -> DocumentEstimate:
        if not _is_unsettled(document):
            return DocumentEstimate(document=document, stage=self._stage(document))
        since = self._at_work_since(document)
        so_far = (self.at - (since or document.updated_at)).total_seconds()
        size = self._size_at_work(document)
        return DocumentEstimate(
            document=document,
            stage=self._stage(document),
            attempt=_attempt(document),
            eta_seconds=self.told(self.seconds(document)),
            so_far_seconds=max(0, math.floor(self.pace.on_aws(so_far))),
            is_late=since is not None and self._whole(self._mode, size) <= so_far,
        )

    def told(self, seconds: float) -> int | None:
        """Seconds on AWS; None where nobody knows."""
        if seconds == _UNKNOWN:
            return None
        return math.ceil(round(self.pace.on_aws(seconds), 3))

    def seconds(self, document: Document) -> float:
        if self._is_behind_events(document) or self._is_left(document):
            return _UNKNOWN
        since = self._at_work_since(document)
        if since is None:
            return self._until_turn + self._own(document)
        left = self._left(self._mode, self._size_at_work(document), since)
        return left + (self._whole(self._mode, 0) if self._is_held_up(document) else 0)

    @cached_property
    def position(self) -> QueuePosition | None:
        """Of a shared data source's run, none that a catalog's owner could count by is told."""
        source = self.catalog.source
        if not self.documents or source is None or source.is_shared or self._grant is not None:
            return None
        queue = self.jobs if self._mode is Mode.JOB else self.calls
        for number, waiter in enumerate(queue, start=1):
            if waiter.worklist_id == self._worklist_id:
                return QueuePosition(position=number, length=len(queue))
        if len(queue) < _LOOKED_AT:
            return None  # it is about to queue up
        return QueuePosition(position=None, length=len(queue))

    def _stage(self, document: Document) -> DocumentStage:
        if (idle := _stage_of_idle(document)) is not None:
            return idle
        if self._is_held_up(document):
            return DocumentStage.HELD_UP
        if document.status in _STAGES:
            return _STAGES[document.status]
        return self._stage_of_waiting(document)

    def _stage_of_waiting(self, document: Document) -> DocumentStage:
        if self.position is not None or self._is_behind_events(document):
            return DocumentStage.WAITING
        if self._is_left(document):
            return DocumentStage.LEFT
        is_following = self._follows_after is not None
        return DocumentStage.FOLLOWING if is_following else DocumentStage.BEGINNING

    @property
    def _mode(self) -> Mode:
        source = self.catalog.source
        by_job = source is not None and source.type is DataSourceType.S3
        return Mode.JOB if by_job else Mode.DIRECT

    @property
    def _worklist_id(self) -> str:
        return worklist_of(self.catalog.catalog_id, self.catalog.source)

    @cached_property
    def _grant(self) -> Grant | None:
        """What its run has."""
        mine = (each for each in self.ledger.grants if each.worklist_id == self._worklist_id)
        return next(mine, None)

    @cached_property
    def _follows_after(self) -> float | None:
        """Where its run broke: until another begins."""
        lease = self.lease
        if self._grant is not None or lease is None or not lease.held or not lease.failures:
            return None
        # The lease of a run that has yet to begin lasts until shortly after it must have.
        delay = ((lease.until or self.at) - self.at).total_seconds()
        return min(max(0.0, delay), LONGEST_DELAY)

    @cached_property
    def _until_turn(self) -> float:
        """Until what waits is begun, or, by direct calls, until the first of it is."""
        if self._mode is Mode.JOB and len(self._waiting) < len(self.documents):
            return max(self.seconds(each) for each in self.documents if each not in self._waiting)
        if self._grant is not None:
            return 0.0
        if self.position is not None:
            return self._until_granted
        if self._follows_after is not None:
            return self._follows_after
        return self._until_granted + self.pace.here(_BEGINS)

    @property
    def _until_granted(self) -> float:
        """
        A job waits for direct calls and other jobs, direct calls for jobs alone: among themselves
        they have their turns (`_own`).
        """
        if (source := self.catalog.source) is None:
            return 0.0
        everybody = [*self.jobs, *self.calls]
        mine = [each.since for each in everybody if each.worklist_id == self._worklist_id]
        ahead = [each for each in everybody if not mine or each.since < mine[0]]
        home = source.knowledge_base_id
        here = [each for each in self.ledger.grants if each.knowledge_base_id == home]
        modes = [each.mode for each in here]
        if self._mode is Mode.JOB and modes.count(Mode.JOB) < self.limits.jobs_in(home):
            here = [each for each in here if each.mode is Mode.DIRECT]
        left = (
            self._left(each.mode, each.size, each.start_at or each.granted_at)
            for each in here
            if Mode.JOB in (self._mode, each.mode)
        )
        before = (self._turn(each) for each in ahead if Mode.JOB in (self._mode, each.mode))
        return max(left, default=0.0) + sum(before)

    def _turn(self, waiter: Waiter) -> float:
        """Until another may begin: jobs begin one after another, as many as there may be."""
        whole = self._whole(waiter.mode, waiter.size)
        if waiter.mode is Mode.DIRECT:
            return whole * waiter.calls / self.limits.direct_calls
        at_a_time = min(self.limits.jobs_in(waiter.knowledge_base_id), self.limits.jobs)
        return max(whole / at_a_time, self.limits.seconds_between_starts)

    def _own(self, document: Document) -> float:
        """
        What its own work takes. A job takes all that waits. Of the calls that the account has, each
        of those who use some has its share, and sends its oldest documents first.
        """
        if self._mode is Mode.JOB:
            return self._whole(Mode.JOB, sum(map(text_size, self._waiting)))
        if is_large(document):
            return self._whole(Mode.DIRECT, text_size(document))
        calls = self._places[document.document_id] // BATCH + 1
        return self._call * max(1.0, calls * self._users_of_calls / self.limits.direct_calls)

    @cached_property
    def _waiting(self) -> list[Document]:
        """The oldest first."""
        waiting = (each for each in self.documents if self._at_work_since(each) is None)
        return sorted(waiting, key=lambda each: (each.updated_at, each.document_id))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {each.document_id: place for place, each in enumerate(self._waiting)}

    @cached_property
    def _call(self) -> float:
        """What ten of its small documents take."""
        small = [text_size(each) for each in self._waiting if not is_large(each)]
        return self._whole(Mode.DIRECT, round(sum(small) * min(1.0, BATCH / len(small))))

    @cached_property
    def _users_of_calls(self) -> int:
        """Catalogs and runs, this one among them."""
        grants = {each.worklist_id for each in self.ledger.grants if each.mode is Mode.DIRECT}
        others = grants.union(each.worklist_id for each in self.calls) - {self._worklist_id}
        return len(others) + max(1, self.sharing)

    def _whole(self, mode: Mode, size: int) -> float:
        """What so many bytes of text take."""
        return duration(self.ledger, mode, size, self.pace)

    def _left(self, mode: Mode, size: int, since: datetime) -> float:
        """Of work that began then; nobody knows of what takes longer than it should."""
        left = self._whole(mode, size) - (self.at - since).total_seconds()
        return left if left > 0 else _UNKNOWN

    def _is_behind_events(self, document: Document) -> bool:
        """Whether it was written long ago, and its object's event has yet to come."""
        is_unheard_of = not document.fingerprint and not document.is_to_come
        waits = document.status in (DocumentStatus.UPLOADING, DocumentStatus.PENDING)
        return is_unheard_of and waits and self.at - document.updated_at > _EVENT

    def _is_left(self, document: Document) -> bool:
        """Whether no run is at it, nor about to begin: the last has left it to a later one."""
        is_attended = self.lease is not None and self.lease.held
        waits = document.status is DocumentStatus.PENDING and not is_attended
        return waits and self.at - document.updated_at > _EVENT

    def _at_work_since(self, document: Document) -> datetime | None:
        """None while it waits."""
        if document.status is DocumentStatus.INDEXING:
            return document.updated_at
        if self._grant is None or document.status is not DocumentStatus.DELETING:
            return None
        is_taken_up = document.attempts > 0 and self._grant.claimed
        if not is_taken_up and not self._is_held_up(document):
            return None
        # A shared data source's run may have had its grant long before.
        return max(self._grant.granted_at, document.updated_at)

    def _is_held_up(self, document: Document) -> bool:
        """Whether it was deleted while Bedrock was at it, which can't be stopped."""
        if document.status is not DocumentStatus.DELETING or self._grant is None:
            return False
        indexed_at, present_since = document.indexed_at, document.present_since
        is_newer = indexed_at is None or present_since is None or indexed_at < present_since
        was_ingested = document.ingestion_job_id is not None and is_newer
        since = self._grant.granted_at <= document.updated_at
        return was_ingested and self._grant.claimed and since and document.attempts == 0

    def _size_at_work(self, document: Document) -> int:
        """Bytes of text that are at work together with the document."""
        if document.status is DocumentStatus.DELETING and self._grant is not None:
            return self._grant.size
        return self._size_ingested

    @cached_property
    def _size_ingested(self) -> int:
        ingested = (each for each in self.documents if each.status is DocumentStatus.INDEXING)
        return sum(map(text_size, ingested))


def _listed(listing: Callable[..., Iterable[Document]], catalog_id: str) -> list[Document]:
    return list(listing(catalog_id, limit=LISTED))


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
