"""
Find records that no run works on, and records of objects that are gone.

`stackroom.reconciler.bucket_audit` compares each catalog that has objects; one check per catalog
and page here finds the catalogs without any.

Between two full rounds, only catalogs and the documents that have been open longest are read.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import groupby

from stackroom.model.keys import may_be_document, unplaced_partition
from stackroom.model.records import (
    SERVICE_FAILURE,
    Catalog,
    CatalogStatus,
    Document,
    DocumentStatus,
)
from stackroom.reconciler.audited import Audited, Piece
from stackroom.reconciler.discrepancies import READ_TIMEOUT, Discrepancy, Kind
from stackroom.reconciler.mending import isolate_failures, report_unrepaired
from stackroom.runs.evidence import MAX_ATTEMPTS
from stackroom.runs.run_leases import is_shared, worklist_of

_UNPLACED = unplaced_partition("")
_MOST_OPEN = 1000  # per catalog, each reported by its key; one run takes care of them all


@dataclass(frozen=True)
class RecordAudit:
    """Audit of all records. A step is a page."""

    context: Audited

    def step(self, cursor: str | None) -> Piece:
        page = self.context.inventory.records(cursor)
        for malformed in page.malformed:
            yield report_unrepaired(Kind.MALFORMED_RECORD, malformed)
        for catalog_id, records_of_one in groupby(page.items, key=lambda each: each.catalog_id):
            records = list(records_of_one)
            documents = [each for each in records if isinstance(each, Document)]
            if catalog_id.startswith(_UNPLACED):
                for each in documents:
                    yield from isolate_failures(each.s3_key, self._of_unplaced(each))
            else:
                # Only one page has the catalog's own record, so it is reported as stuck once.
                is_its_own = len(documents) < len(records)
                found = self._of_catalog(catalog_id, documents, is_its_own=is_its_own)
                yield from isolate_failures(f"records of {catalog_id}", found)
        return page.next

    def _of_unplaced(self, document: Document) -> Iterator[Discrepancy]:
        if self.context.bucket.head(document.s3_key) is None:
            yield from self.context.mending.forgotten(document, Kind.UNPLACED_WITHOUT_OBJECT)

    def _of_catalog(
        self, catalog_id: str, documents: list[Document], *, is_its_own: bool
    ) -> Iterator[Discrepancy]:
        mending, catalog = self.context.mending, self.context.catalogs.get(catalog_id)
        settled = [each for each in documents if mending.is_settled(each.updated_at)]
        if catalog is None:
            suspects = ((each.s3_key, Kind.RECORD_WITHOUT_CATALOG) for each in settled)
            yield from mending.reconciled(suspects)
            return
        yield from self._without_objects(catalog, documents)
        yield from self._unread(documents)
        yield from self._failed_by_bedrock(catalog, settled)
        if not is_its_own:
            return
        is_old = mending.is_settled(catalog.updated_at)
        if catalog.status is CatalogStatus.DELETING and is_old and self._has_objects(catalog):
            yield from self._reopened(catalog)
        else:
            yield from _stalled(self.context, catalog)

    def _without_objects(
        self, catalog: Catalog, documents: list[Document]
    ) -> Iterator[Discrepancy]:
        mending, now = self.context.mending, self.context.mending.now()
        lapsed = [each for each in documents if each.has_lapsed(now)]
        elsewhere = (DocumentStatus.DELETING, DocumentStatus.UPLOADING)
        # updated_at won't do: a run also writes the record of a file that is gone.
        uploaded = [each for each in documents if mending.is_settled(each.uploaded_at)]
        present = [each for each in uploaded if each.status not in elsewhere]
        if present and self.context.bucket.head(present[0].s3_key) is not None:
            return
        if not (present or lapsed) or self._has_objects(catalog):
            return
        yield from mending.reconciled((each.s3_key, Kind.UNUSED_LINK) for each in lapsed)
        suspects = ((each.s3_key, Kind.RECORD_WITHOUT_OBJECT) for each in present)
        yield from mending.reconciled(suspects)

    def _unread(self, documents: list[Document]) -> Iterator[Discrepancy]:
        """Yield documents whose event was lost unread, or has waited for a long time."""
        mending = self.context.mending
        for each in documents:
            is_late = each.unread and mending.is_settled(each.updated_at, after=READ_TIMEOUT)
            if is_late and self.context.bucket.version_of(each.s3_key) is not None:
                ask = partial(mending.inspections.ask, each.s3_key)
                yield from mending.mended(Kind.UNREAD_FILE, each.s3_key, by=ask)

    def _failed_by_bedrock(
        self, catalog: Catalog, documents: list[Document]
    ) -> Iterator[Discrepancy]:
        failed = [
            each for each in documents if (each.status_reason or "").startswith(SERVICE_FAILURE)
        ]
        if not failed:
            return
        last = self._last_indexed(catalog.knowledge_base_id)
        for each in failed:
            if last is not None and last > each.updated_at:
                yield from self.context.mending.run_again(each, Kind.FAILED_BY_BEDROCK)

    def _last_indexed(self, knowledge_base_id: str | None) -> datetime | None:
        """Return when any document in the knowledge base was last indexed."""
        last: datetime | None = None
        cursor: str | None = None
        while True:
            page = self.context.inventory.all_catalogs(cursor)
            here = (each for each in page.items if each.knowledge_base_id == knowledge_base_id)
            found = filter(None, (last, *(each.indexed_at for each in here)))
            last, cursor = max(found, default=None), page.next
            if cursor is None:
                return last

    def _has_objects(self, catalog: Catalog) -> bool:
        listed = self.context.inventory.objects(prefix=catalog.s3_prefix).items
        return any(may_be_document(each.key) for each in listed)

    def _reopened(self, catalog: Catalog) -> Iterator[Discrepancy]:
        """
        Reopen a catalog whose deletion crashed before it was complete.

        A deletion that is still under way finds the catalog open, marks it again and goes on.
        """
        catalog_id, now = catalog.catalog_id, self.context.mending.now()
        yield from self.context.mending.mended(
            Kind.HALF_DELETED_CATALOG,
            catalog_id,
            by=partial(self.context.catalogs.unmark_deleting, catalog_id, at=now),
            until=lambda: not self._is_deleting(catalog_id),
        )

    def _is_deleting(self, catalog_id: str) -> bool:
        catalog = self.context.catalogs.get(catalog_id)
        return catalog is not None and catalog.status is CatalogStatus.DELETING


@dataclass(frozen=True)
class OpenAudit:
    """Audit of open documents, between two full rounds. A step is a page of catalogs."""

    context: Audited

    def step(self, cursor: str | None) -> Piece:
        page = self.context.inventory.all_catalogs(cursor)
        for catalog in page.items:
            # A catalog that is being deleted is left to its deletion or to a full round.
            if catalog.status is not CatalogStatus.DELETING:
                what = f"what is open in {catalog.catalog_id}"
                yield from isolate_failures(what, _stalled(self.context, catalog))
        return page.next


def _stalled(context: Audited, listed: Catalog) -> Iterator[Discrepancy]:
    """
    Yield documents that wait for a cap that no longer exists, and open documents, or the catalog,
    that no run takes care of.
    """

    def is_old(document: Document) -> bool:
        return document.due_since is not None and context.mending.is_settled(document.due_since)

    if listed.over_count and context.caps.can_release(listed):
        release = partial(context.caps.release, listed.user_id)
        yield from context.mending.mended(Kind.STALE_CAP_WAIT, listed.catalog_id, by=release)
    if not (listed.open_count or _is_deleting(listed)) or _has_run(context, listed):
        return
    oldest = list(context.documents.open_in(listed.catalog_id, limit=_MOST_OPEN))
    old = [each for each in oldest if is_old(each) and _is_for_a_run(each)]
    now = context.catalogs.get(listed.catalog_id)
    # The list may be older than the end of the run that finished the document.
    if now is None or _has_run(context, now):
        return
    ask = partial(context.requests.ask, listed.catalog_id)
    if stalled := [each.s3_key for each in old if each.retry_at is None]:
        yield from context.mending.mended(Kind.STALLED_DOCUMENT, *stalled, by=ask)
        return
    if old and not context.mending.dry_run:  # their retry is due, so nothing is wrong
        ask()
        return
    is_stuck = _is_deleting(now) and context.mending.is_settled(now.updated_at)
    if is_stuck and not any(map(_is_for_a_run, oldest)):
        yield from context.mending.mended(Kind.STALLED_CATALOG, listed.catalog_id, by=ask)


def _is_deleting(catalog: Catalog) -> bool:
    return catalog.status is CatalogStatus.DELETING


def _has_run(context: Audited, catalog: Catalog) -> bool:
    """Return True if a run seems live and, if several catalogs share it, lists this one."""
    worklist_id = worklist_of(catalog.catalog_id, catalog.source)
    lease = context.leases.get(worklist_id)
    if lease is None or not lease.held:
        return False
    if not is_shared(worklist_id):
        return True
    # All ids have the same length, so none is between this one and its predecessor.
    before = catalog.catalog_id[:-1] + chr(ord(catalog.catalog_id[-1]) - 1)
    entry = next(context.worklists.entries(worklist_id, after=before, limit=1), None)
    return entry is not None and entry.catalog_id == catalog.catalog_id


def _is_for_a_run(document: Document) -> bool:
    """Return True if a run would process the document."""
    if document.lingering and document.status is DocumentStatus.FAILED:
        return document.attempts < MAX_ATTEMPTS  # then it stays failed, and its reason says so
    return document.is_open
