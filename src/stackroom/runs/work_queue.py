"""
The open work of a worklist, in fair turns: what a run sends next.

Each catalog has its turn, with the documents that have been open longest; a run goes on with the
catalog behind the one whose turn was last, so that nobody's thousand documents come before
another's first. A document that is tried again has queued up anew (verdicts). Of the documents that
Bedrock failed over, one goes at a time, when it is due, until Bedrock accepts one. A catalog with
nothing open leaves the worklist, unless somebody has asked for it meanwhile.
"""

import math
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import takewhile

from stackroom.clock import utc_now
from stackroom.concurrency import RunParallel, chunks, result_or_error, run_in_threads
from stackroom.errors import RecordChanged
from stackroom.model.caps import Caps, caps_of
from stackroom.model.records import Catalog, CatalogStatus, Document, DocumentStatus
from stackroom.model.repositories import CatalogRegister, Documents
from stackroom.runs.run import (
    BATCH,
    BETWEEN_TRIES,
    LONGEST_RETRY_WAIT,
    Run,
    RunOutcome,
    RunProgress,
)
from stackroom.runs.run_leases import WorklistEntry, Worklists, is_shared
from stackroom.runs.user_caps import UserCaps

_ENTRIES = 100  # of a page of the worklist
_AT_ONCE = 10  # catalogs that are looked at beside each other
_LARGE_AT_HAND = 100  # beyond these, no more are looked for
# All calls together take this share of what waits at a time: the last are small, and end together.
_AT_A_TIME = 4.0
# Beyond so many that go alone nothing new is sent: a run's progress names them, and may have 256 KB
# [Step Functions quotas].
_MOST_ALONE = 100


@dataclass(kw_only=True)
class OpenWork:
    """
    Documents that wait, in the order of their turns.

    Those in `alone` need a call each. `is_more` is True if there are others; `after` is the catalog
    whose turn was last. `failures` are errors of catalogs that could not be read, by their ids.
    `next_try` is when a document is due that Bedrock failed over.
    """

    small: deque[Document] = field(default_factory=deque)
    removed: deque[Document] = field(default_factory=deque)
    large: deque[Document] = field(default_factory=deque)
    alone: deque[Document] = field(default_factory=deque)
    catalogs: dict[str, Catalog] = field(default_factory=dict)
    failures: dict[str, Exception] = field(default_factory=dict)
    after: str | None = None
    is_more: bool = False
    next_try: datetime | None = None

    def remove_illegible(self) -> list[Document]:
        """Remove and return the documents that have no text to send."""
        removed = list[Document]()
        for queue in (self.small, self.large, self.alone):
            found = [each for each in queue if each.illegible is not None and each.is_to_ingest]
            removed += found
            for each in found:
                queue.remove(each)
        return removed

    @property
    def shared(self) -> int:
        """Return the documents that may share a call."""
        return len(self.small) + len(self.removed)

    def batches(self, calls: int, *, share: int, at_work: int) -> list[list[Document]]:
        """
        Return the documents for so many calls, where others are `at_work`.

        Removals and ingestions are in separate calls. Documents that go alone come after those that
        have not been tried, though one call is theirs. Among other runs, `share` is the number of
        calls for each: few documents are in as few calls then.
        """
        found: list[list[Document]] = []
        small, removed = list(self.small), list(self.removed)
        shared = calls - (1 if self.alone and calls > 1 else 0)
        if len(self.alone) > _MOST_ALONE:
            shared = 0
        while (small or removed) and len(found) < shared:
            fuller = max(removed, small, key=len)
            waiting = len(small) + len(removed)
            size = min(BATCH, math.ceil(waiting * _AT_A_TIME / share))
            if size <= len(found) + at_work:
                size = BATCH  # a call of one takes as much of the account's ten as one of ten
            found.append(fuller[:size])
            del fuller[:size]
        found += [[each] for each in list(self.alone)[: calls - len(found)]]
        left = small or removed or len(self.alone) > calls
        self.is_more = self.is_more or bool(left)
        return found

    def large_calls(self, calls: int, slots: int, at_work: int) -> list[list[Document]]:
        """
        Return large documents, one a call, in at most half of the run's slots, because small ones
        arrive meanwhile.
        """
        room = max(0, min(calls, math.ceil(slots / 2) - at_work))
        return [[each] for each in list(self.large)[:room]]


@dataclass(frozen=True, kw_only=True)
class _Turn:
    """
    One catalog's turn: its open documents that are in no call. `has_more` is True if others were
    not read.
    """

    catalog_id: str
    catalog: Catalog | None = None
    documents: Sequence[Document] = ()
    next_try: datetime | None = None
    has_more: bool = False
    failure: Exception | None = None


@dataclass(frozen=True, kw_only=True)
class WorkQueue:
    worklists: Worklists
    catalogs: CatalogRegister
    documents: Documents
    caps: UserCaps
    now: Callable[[], datetime] = utc_now
    run_parallel: RunParallel = run_in_threads

    def take(self, run: Run, *, calls: int) -> OpenWork:
        """Return as much open work as fills so many calls."""
        work = OpenWork(after=run.progress.after)
        if not calls:
            work.is_more = True  # perhaps: nobody has looked
            return work
        wanted = calls * BATCH
        aside = _SkippedDocuments(run.progress, caps=self.caps.all(), at=self.now())
        share = BATCH if is_shared(run.worklist_id) else wanted
        unread: list[WorklistEntry] = []
        for entries in chunks(self._in_turn(run), of=_AT_ONCE):
            turns = self._turns(run, entries, aside, share)
            for entry, turn in zip(entries, turns, strict=True):
                self._add(work, turn, turn.documents, aside)
                work.after = entry.catalog_id
                if turn.has_more:
                    unread.append(entry)
                if work.shared >= wanted or len(work.large) >= _LARGE_AT_HAND:
                    work.is_more = True  # the turns of those behind are yet to come
                    return work
        # Everybody has had a turn: the calls that are left are for those who have more.
        work.is_more = bool(unread)
        more = (wanted - work.shared) // max(1, len(unread))
        if share < wanted and more:
            work.is_more = False
            for entries in chunks(unread, of=_AT_ONCE):
                for turn in self._turns(run, entries, aside, share + more):
                    self._add(work, turn, turn.documents[share:], aside)
                    work.is_more |= turn.has_more
        return work

    def has_work(self, run: Run) -> bool:
        """
        Return True if something is open that this run can do, now or soon; catalogs with nothing
        open leave.
        """
        aside = _SkippedDocuments(run.progress, caps=self.caps.all(), at=self.now())
        return any(
            any(
                turn.documents or turn.has_more or is_worth_waiting_for(turn.next_try, aside.at)
                for turn in self._turns(run, entries, aside, 1)
            )
            for entries in chunks(self._entries(run.worklist_id, None), of=_AT_ONCE)
        )

    def _in_turn(self, run: Run) -> Iterator[WorklistEntry]:
        """
        Yield the entries from the catalog behind the one whose turn was last, round to that one.
        """
        last = run.progress.after
        yield from self._entries(run.worklist_id, last)
        if last is not None:
            from_the_top = self._entries(run.worklist_id, None)
            yield from takewhile(lambda each: each.catalog_id <= last, from_the_top)

    def _entries(self, worklist_id: str, after: str | None) -> Iterator[WorklistEntry]:
        if not is_shared(worklist_id):  # a catalog alone, which the worklist is named like
            if after is None:
                yield WorklistEntry(catalog_id=worklist_id, stamp="")
            return
        while True:
            page = list(self.worklists.entries(worklist_id, after=after, limit=_ENTRIES))
            yield from page
            if len(page) < _ENTRIES:
                return
            after = page[-1].catalog_id

    def _turns(
        self, run: Run, entries: Sequence[WorklistEntry], aside: "_SkippedDocuments", share: int
    ) -> list[_Turn]:
        """
        Return each catalog's turn. Raises systemic errors; a single catalog's error is in its turn.
        """
        looks = [
            partial(result_or_error, partial(self._turn, run, each, aside, share))
            for each in entries
        ]
        return [
            _Turn(catalog_id=entry.catalog_id, failure=turn)
            if isinstance(turn, Exception)
            else turn
            for entry, turn in zip(entries, self.run_parallel(looks), strict=True)
        ]

    def _turn(
        self, run: Run, entry: WorklistEntry, aside: "_SkippedDocuments", share: int
    ) -> _Turn:
        worklist_id, catalog_id = run.worklist_id, entry.catalog_id
        catalog = self.catalogs.get(catalog_id)
        if catalog is None:  # taken down, and whoever opens it again asks again
            self._drop(worklist_id, entry)
            return _Turn(catalog_id=catalog_id)
        if not is_shared(worklist_id) and catalog.source is not None and catalog.source.is_shared:
            return _Turn(catalog_id=catalog_id)  # the shared data source's run sees to it
        limit = aside.counts[catalog_id] + share
        is_capped = caps_of(catalog.user_id, aside.caps) is not None
        listed = list(self.documents.open_in(catalog_id, limit=limit))
        placed = {(each.document_id, each.version) for each in listed}
        if is_capped:
            # Documents that come after the count have no place yet, and wait for the next poll.
            placed = placed if self.caps.hold_back(catalog, aside.caps) else set()
            listed = list(self.documents.open_in(catalog_id, limit=limit))
        if not listed:
            if self._is_finished(catalog, is_alone=not is_shared(worklist_id)):
                self._drop(worklist_id, entry)
            return _Turn(catalog_id=catalog_id)
        found = [each for each in listed if aside.allows(each)]
        documents = [each for each in found if not aside.waits(each)]
        if is_capped and any(_makes_room(each) for each in documents):
            self.caps.release(catalog.user_id, aside.caps, at=catalog_id)
        now = [
            each
            for each in documents
            if (each.document_id, each.version) in placed or not each.is_to_ingest
        ]
        return _Turn(
            catalog_id=catalog_id,
            catalog=catalog,
            documents=now[:share],
            next_try=min(filter(None, map(aside.next_try, found)), default=None),
            # Documents that wait for Bedrock to recover come after all others.
            has_more=(len(listed) == limit and not aside.waits(listed[-1]))
            or len(now) < len(documents),
        )

    def _drop(self, worklist_id: str, entry: WorklistEntry) -> None:
        if is_shared(worklist_id):
            self.worklists.remove_if_unchanged(worklist_id, entry)

    def _is_finished(self, catalog: Catalog, *, is_alone: bool) -> bool:
        """
        Return True if nothing is open in the catalog any more; False if there is something to do a
        while later.
        """
        if catalog.status is not CatalogStatus.DELETING or is_alone:
            return True  # one that goes alone: its data source goes with it: see EnsureDataSource
        if self.documents.page(catalog.catalog_id, after=None, limit=1).documents:
            return True  # what is left can't be removed; its owner may retry
        try:
            self.catalogs.close(catalog)
        except RecordChanged:  # it is being deleted no more
            return False
        return True

    def _add(
        self, work: OpenWork, turn: _Turn, documents: Sequence[Document], aside: "_SkippedDocuments"
    ) -> None:
        if turn.failure is not None:
            work.failures[turn.catalog_id] = turn.failure
        if turn.catalog is not None:
            work.catalogs[turn.catalog_id] = turn.catalog
        if turn.next_try is not None:
            work.next_try = min(turn.next_try, work.next_try or turn.next_try)
        for each in documents:
            if aside.is_suspect(each) and not aside.take_probe():
                continue
            if aside.is_to_go_alone(each):
                work.alone.append(each)
            elif not each.is_to_ingest:
                work.removed.append(each)
            else:
                (work.large if each.is_large else work.small).append(each)


class _SkippedDocuments:
    """
    The open documents that are in a call, or not this run's to send; the rest is within `caps`.
    """

    def __init__(self, progress: RunProgress, *, caps: Mapping[str, Caps], at: datetime) -> None:
        self.caps = caps
        self.at = at
        self._probe_at, self._recovered_at = progress.probe_at, progress.recovered_at
        self._is_probing = any(each.is_probe for each in progress.calls)
        # By the documents' ids, which are hashes of their catalogs' ids, too.
        in_calls = [each for call in progress.calls for each in call.documents]
        self._in_calls = {each.document_id for each in in_calls}
        self._set_aside = {each.document_id: each.version for each in progress.set_aside}
        self._alone = {each.document_id for each in progress.alone}
        skipped = {each.document_id: each.catalog_id for each in (*in_calls, *progress.set_aside)}
        self.counts = Counter(skipped.values())

    def allows(self, document: Document) -> bool:
        """
        Return True if the document isn't skipped; one that somebody changed since it was set aside
        isn't.
        """
        is_in_call = document.document_id in self._in_calls
        return not is_in_call and self._set_aside.get(document.document_id) != document.version

    def is_to_go_alone(self, document: Document) -> bool:
        is_probe = self.is_suspect(document) and not document.is_large
        return is_probe or document.document_id in self._alone

    def is_suspect(self, document: Document) -> bool:
        """
        Return True if Bedrock failed over the document and has accepted nothing of the kind since.
        """
        if document.failing_since is None:
            return False
        return self._recovered_at is None or document.updated_at > self._recovered_at

    def next_try(self, document: Document) -> datetime | None:
        """Return when a suspect may be tried; None for any other document."""
        if not self.is_suspect(document):
            return None
        return max(filter(None, (document.retry_at, self._probe_at)), default=self.at)

    def waits(self, document: Document) -> bool:
        due_at = self.next_try(document)
        return due_at is not None and (due_at > self.at or self._is_probing)

    def take_probe(self) -> bool:
        """Return True if a suspect can be tried now: only one can at a time."""
        is_free, self._is_probing = not self._is_probing, True
        return is_free


def with_nothing_to_do(run: Run, next_try: datetime | None, at: datetime) -> Run:
    """
    Return the run at its end, or waiting for a document that Bedrock failed over and that is due
    soon.
    """
    if is_worth_waiting_for(next_try, at):
        return run.with_outcome(RunOutcome.BUSY, wait_seconds=BETWEEN_TRIES)
    return run.with_outcome(RunOutcome.NOTHING)


def is_worth_waiting_for(next_try: datetime | None, at: datetime) -> bool:
    return next_try is not None and next_try - at <= LONGEST_RETRY_WAIT


def _makes_room(document: Document) -> bool:
    return document.status is DocumentStatus.DELETING
