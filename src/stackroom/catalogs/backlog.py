"""
What of the catalogs has yet to settle, and what failed: a page of them at a time.

A catalog's record counts what it has of either, exactly. Why documents wait, and for what reasons
others failed, is read of some documents of some catalogs: those that have most of it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from stackroom.documents.model import Catalog, Document
from stackroom.documents.repositories import ListedDocuments
from stackroom.ingestion.estimates import DocumentEstimate, Estimates, QueuePosition
from stackroom.ingestion.inventory import Inventory

LOOKED_INTO = 25  # catalogs, of those that wait as of those with failures
DOCUMENTS = 20  # of each of these
_NAMED = 5  # documents of a reason
_READERS = 8


@dataclass(frozen=True, kw_only=True)
class WaitingCatalog:
    """
    `documents` are to be searchable, and are not yet; `open` counts deletions, too. `stages` are of
    the oldest `DOCUMENTS` that are open, which `since` is of.
    """

    catalog: Catalog
    documents: int
    open: int
    stages: tuple[tuple[str, int], ...]
    queue_position: QueuePosition | None = None
    since: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A reason; `documents` are the ids of some that it holds for, of how many `count` says."""

    reason: str
    count: int
    documents: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Backlog:
    """
    Of a page of catalogs; `next` is where it goes on. The totals are exact. `waiting` leaves out
    the catalogs behind the first `LOOKED_INTO`, `failures` the documents that were not looked at.
    """

    catalogs: int
    documents: int
    waiting_documents: int
    waiting_catalogs: int
    waiting: tuple[WaitingCatalog, ...]
    failed_documents: int
    failures: tuple[Failure, ...]
    next: str | None

    @property
    def unexplained(self) -> int:
        """Failures whose reasons weren't looked at."""
        return max(0, self.failed_documents - sum(each.count for each in self.failures))


@dataclass(frozen=True, kw_only=True)
class Backlogs:
    inventory: Inventory
    documents: ListedDocuments
    estimates: Estimates

    def look(self, after: str | None = None) -> Backlog:
        page = self.inventory.all_catalogs(after)
        waits = _most(page.items, lambda each: each.open_count or each.waiting_count)
        fails = _most(page.items, lambda each: each.failed_count)
        with ThreadPoolExecutor(_READERS) as readers:
            waiting = readers.map(self._waiting, waits[:LOOKED_INTO])
            failed = readers.map(self._failed, fails[:LOOKED_INTO])
            return Backlog(
                catalogs=len(page.items),
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
        opened = [each.opened_at for each in oldest if each.opened_at is not None]
        return WaitingCatalog(
            catalog=catalog,
            documents=catalog.waiting_count,
            open=catalog.open_count,
            stages=_stages(estimate.documents),
            queue_position=estimate.queue_position,
            since=min(opened, default=None),
        )

    def _failed(self, catalog: Catalog) -> Sequence[Document]:
        return list(self.documents.failed_in(catalog.catalog_id, limit=DOCUMENTS))


def _most(catalogs: Iterable[Catalog], counted: Callable[[Catalog], int]) -> list[Catalog]:
    """Those that have any, and most of it first."""
    return sorted(filter(counted, catalogs), key=lambda each: (-counted(each), each.catalog_id))


def _stages(documents: Iterable[DocumentEstimate]) -> tuple[tuple[str, int], ...]:
    return tuple(Counter(str(each.stage) for each in documents).most_common())


def _by_reason(failed: Iterable[Document]) -> tuple[Failure, ...]:
    by_reason: dict[str, list[str]] = defaultdict(list)
    for each in failed:
        by_reason[each.status_reason or ""].append(each.document_id)
    found = (
        Failure(reason=reason, count=len(ids), documents=tuple(sorted(ids)[:_NAMED]))
        for reason, ids in by_reason.items()
    )
    return tuple(sorted(found, key=lambda each: (-each.count, each.reason)))
