"""
What is open in the catalogs of a shared data source, in batches for direct calls.

Round robin: of each catalog ten documents at most are taken, its longest open ones, before the next
catalog has its turn; a call then holds documents of whatever catalogs. Nothing is kept of a catalog
but what is in hand. One with nothing open any more leaves the worklist, unless somebody has asked
for it meanwhile.

Over 200 lines: the one place that knows which documents are in hand.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

from stackroom.admission.demand import BATCH, is_large, is_to_ingest
from stackroom.beside import Beside, in_threads
from stackroom.ingestion.catalog_looks import CatalogLooks, Look
from stackroom.model import Catalog, Document
from stackroom.ports.worklists import Entry

_ENTRIES = 100  # of a page
_AT_ONCE = 10  # catalogs that are looked at beside each other
_LARGE_AT_HAND = 100  # beyond these, the next catalogs wait


@dataclass(kw_only=True)
class SharedWork:
    """
    Everything here is by one task of one run. `failures` are of catalogs that were set aside, by
    their ids: each has its turn, whatever fails with others.
    """

    looks: CatalogLooks
    beside: Beside = in_threads
    known: dict[str, Catalog] = field(default_factory=dict)
    in_hand: dict[str, set[str]] = field(default_factory=dict)  # documents, by catalog
    # Not this run's to do, by catalog and document: as they were in that version, or at all.
    passed_over: dict[str, dict[str, int | None]] = field(default_factory=dict)
    failures: dict[str, Exception] = field(default_factory=dict)
    # Catalogs in turn, each once; None is where the worklist's next page has its turn.
    _to_visit: deque[str | None] = field(default_factory=deque)
    _queued: set[str] = field(default_factory=set)
    _entries: dict[str, Entry] = field(default_factory=dict)  # as read last
    _after: str | None = None  # of the entries, where this time goes on
    _is_listing: bool = False
    _again: bool = True
    _small: deque[Document] = field(default_factory=deque)
    _removed: deque[Document] = field(default_factory=deque)
    _large: deque[Document] = field(default_factory=deque)
    _alone: deque[list[Document]] = field(default_factory=deque)

    def look_again(self) -> None:
        """Go through the worklist once more, after this time: somebody has asked since."""
        self._again = True

    def fill(self, wanted: int) -> int:
        """
        Find so many small documents that wait, if there are; how many wait now, large ones too.
        """
        while self._wants_more(wanted) and (entries := self._next_few(wanted)):
            looks = [partial(self.looks.look, each, limit=self._limit(each)) for each in entries]
            for look in self.beside(looks):
                self._take_in(look)
        return self.waiting

    @property
    def waiting(self) -> int:
        """Documents at hand that are in no call; large ones count as they come."""
        return len(self._small) + len(self._removed) + len(self._large) + sum(map(len, self._alone))

    @property
    def large(self) -> Document | None:
        """The next large one, which has a call of its own."""
        return self._large[0] if self._large else None

    def take_large(self) -> list[Document]:
        return [self._large.popleft()]

    @property
    def small(self) -> int:
        """Documents that wait for a call that they share."""
        return len(self._small) + len(self._removed)

    @property
    def alone(self) -> bool:
        """Whether a call waits that shares with nobody: Bedrock was busy, or refused it before."""
        return bool(self._alone)

    def oldest(self) -> Document | None:
        """Of the small ones that wait."""
        heads = [queue[0] for queue in (self._small, self._removed) if queue]
        return min(heads, key=lambda each: each.updated_at, default=None)

    def take(self, size: int) -> list[Document]:
        """The next call's, at most so many: what is to be removed apart from what is ingested."""
        if self._alone:
            return self._alone.popleft()
        fuller = max(self._removed, self._small, key=len)
        return [fuller.popleft() for _ in range(min(size, len(fuller)))]

    def put_back(self, batch: Iterable[Document]) -> None:
        """As the next call: Bedrock was busy."""
        self._alone.appendleft(list(batch))

    def put_apart(self, batches: Iterable[list[Document]]) -> None:
        """Each as a call of its own: Bedrock refused them together."""
        self._alone.extendleft(batches)

    def pass_over(self, documents: Iterable[Document]) -> None:
        """For another run to do; what somebody changes meanwhile is this one's again."""
        for each in documents:
            self._pass_over(each, each.version)

    def set_aside(self, documents: Iterable[Document], error: Exception) -> None:
        """For another run, whatever becomes of them: they must keep nobody else waiting."""
        for each in list(documents):
            self.failures[each.catalog_id] = error
            self._pass_over(each, None)

    def let_go(self, catalog_id: str, document_id: str) -> None:
        """It is settled, or may be taken up again; a catalog's last makes it be looked at again."""
        held = self.in_hand.get(catalog_id, set())
        held.discard(document_id)
        if not held and (entry := self._entries.get(catalog_id)) is not None:
            self.in_hand.pop(catalog_id, None)
            self._queue(entry)

    def adopt(self, catalog_id: str, document_id: str) -> Catalog | None:
        """A document that an earlier task of the run has sent is in hand, too."""
        catalog = self.known.get(catalog_id) or self.looks.catalogs.get(catalog_id)
        if catalog is not None:
            self.known[catalog_id] = catalog
            self.in_hand.setdefault(catalog_id, set()).add(document_id)
        return catalog

    def _pass_over(self, document: Document, version: int | None) -> None:
        catalog_id, document_id = document.catalog_id, document.document_id
        self.passed_over.setdefault(catalog_id, {})[document_id] = version
        self.let_go(catalog_id, document_id)

    def _wants_more(self, wanted: int) -> bool:
        small = self.waiting - len(self._large)
        return small < wanted and len(self._large) < _LARGE_AT_HAND

    def _next_few(self, wanted: int) -> list[Entry]:
        """As many as may be needed, for each has a document at least, or none any more."""
        entries = list[Entry]()
        most = min(_AT_ONCE, wanted - self.waiting + len(self._large))
        while len(entries) < most and (entry := self._next()) is not None:
            entries.append(entry)
        return entries

    def _next(self) -> Entry | None:
        if self._again and not self._is_listing:
            self._after, self._is_listing, self._again = None, True, False
            self._to_visit.append(None)
        while self._to_visit:
            catalog_id = self._to_visit.popleft()
            if catalog_id is None:
                self._list_on()
                continue
            self._queued.remove(catalog_id)
            if (entry := self._entries.get(catalog_id)) is not None:  # it may have left meanwhile
                return entry
        return None

    def _list_on(self) -> None:
        page = self.looks.page(after=self._after, limit=_ENTRIES)
        for entry in page:
            self._queue(entry)
        self._is_listing = len(page) == _ENTRIES
        if self._is_listing:
            self._after = page[-1].catalog_id
            self._to_visit.append(None)

    def _queue(self, entry: Entry) -> None:
        self._entries[entry.catalog_id] = entry
        if entry.catalog_id not in self._queued:
            self._queued.add(entry.catalog_id)
            self._to_visit.append(entry.catalog_id)

    def _limit(self, entry: Entry) -> int:
        in_hand = self.in_hand.get(entry.catalog_id, set())
        return len(in_hand) + len(self.passed_over.get(entry.catalog_id, {})) + BATCH

    def _take_in(self, look: Look) -> None:
        catalog_id = look.entry.catalog_id
        if look.failure is not None:
            self.failures[catalog_id] = look.failure
        if look.catalog is not None:
            self.known[catalog_id] = look.catalog
        if look.has_left:
            self._entries.pop(catalog_id, None)
        in_hand = self.in_hand.get(catalog_id, set())
        passed_over = self.passed_over.get(catalog_id, {})
        new = [
            each
            for each in look.documents
            if each.document_id not in in_hand
            and passed_over.get(each.document_id, 0) not in (None, each.version)
        ][:BATCH]
        for document in new:
            self.in_hand.setdefault(catalog_id, set()).add(document.document_id)
            self._queue_of(document).append(document)
        if new and look.may_have_more:
            self._queue(look.entry)  # there may be more, after everybody else's

    def _queue_of(self, document: Document) -> deque[Document]:
        if not is_to_ingest(document):
            return self._removed
        return self._large if is_large(document) else self._small
