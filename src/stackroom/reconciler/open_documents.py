"""
Catalogs whose open documents nobody works on, found by what the catalogs count alone.

This is what is looked at between two full rounds: it reads the catalogs, and of those with open
documents the longest open, whatever else they hold.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

from stackroom.ingestion.bedrock_evidence import MAX_ATTEMPTS
from stackroom.model import Catalog, CatalogStatus, Document, DocumentStatus
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.ports.inventory import Inventory
from stackroom.reconciler.attended import Attended
from stackroom.reconciler.discrepancies import Discrepancy, Kind, Step
from stackroom.reconciler.mending import Mending
from stackroom.runs.run_requests import RunRequests

_TOLD = 100  # open documents of a catalog, each by its key; a run sees to all of them


@dataclass(frozen=True, kw_only=True)
class OpenAudit:
    """A step is a page of catalogs."""

    inventory: Inventory
    catalogs: Catalogs
    documents: Documents
    attended: Attended
    requests: RunRequests
    mending: Mending

    def step(self, cursor: str | None) -> Step:
        page = self.inventory.all_catalogs(cursor)
        for catalog in page.items:
            if self._may_be_stuck(catalog):
                found = self._of(catalog)
                yield from self.mending.apart(f"what is open in {catalog.catalog_id}", found)
        return page.next

    def _may_be_stuck(self, catalog: Catalog) -> bool:
        # One that is being deleted is its deletion's, or a full round's.
        is_waiting = catalog.open_count > 0 or catalog.status is CatalogStatus.INDEXING
        return is_waiting and catalog.status is not CatalogStatus.DELETING

    def _of(self, listed: Catalog) -> Iterator[Discrepancy]:
        if self.attended.by_a_run(listed):
            return
        # The longest open comes first: if that is young, all are.
        oldest = self.documents.open_in(listed.catalog_id, limit=_TOLD)
        stalled = [each for each in takewhile(self._is_old, oldest) if is_for_a_run(each)]
        now = self.catalogs.get(listed.catalog_id)
        if now is None or self.attended.by_a_run(now):
            return
        ask = partial(self.requests.ask, listed.catalog_id)
        if stalled:
            keys = (each.s3_key for each in stalled)
            yield from self.mending.mended(Kind.STALLED_DOCUMENT, *keys, by=ask)
        elif self._is_stuck(now):
            yield from self.mending.mended(Kind.STALLED_CATALOG, listed.catalog_id, by=ask)

    def _is_old(self, document: Document) -> bool:
        return document.opened_at is not None and self.mending.is_settled(document.opened_at)

    def _is_stuck(self, catalog: Catalog) -> bool:
        is_indexing = catalog.status is CatalogStatus.INDEXING and catalog.open_count == 0
        return is_indexing and self.mending.is_settled(catalog.updated_at)


def is_for_a_run(document: Document) -> bool:
    """Whether a run would do something about it."""
    if document.lingering and document.status is DocumentStatus.FAILED:
        return document.attempts < MAX_ATTEMPTS  # after that, it is left with a reason that says so
    return document.is_open
