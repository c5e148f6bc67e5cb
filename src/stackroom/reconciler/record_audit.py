"""
Find records that no run works on, and records of objects that are gone.

`stackroom.reconciler.bucket_audit` has compared each catalog that has an object, so here one look
per catalog and page finds the catalogs without any.

Between two full rounds only catalogs are read, and the documents that are open longest.
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
from stackroom.reconciler.discrepancies import UNREAD, Discrepancy, Kind
from stackroom.reconciler.mending import apart, left
from stackroom.runs.evidence import MAX_ATTEMPTS
from stackroom.runs.run_leases import is_shared, worklist_of

_UNPLACED = unplaced_partition("")
_MOST_OPEN = 1000  # of a catalog, each told by its key; a run sees to all of them


@dataclass(frozen=True)
class RecordAudit:
    """Audit of all records. A step is a page."""

    on: Audited

    def step(self, cursor: str | None) -> Piece:
        page = self.on.inventory.records(cursor)
        for malformed in page.malformed:
            yield left(Kind.MALFORMED_RECORD, malformed)
        for catalog_id, of_one in groupby(page.items, key=lambda each: each.catalog_id):
            records = list(of_one)
            documents = [each for each in records if isinstance(each, Document)]
            if catalog_id.startswith(_UNPLACED):
                for each in documents:
                    yield from apart(each.s3_key, self._of_unplaced(each))
            else:
                # Its own record is on one page only, and so is said once to be stuck.
                is_its_own = len(documents) < len(records)
                found = self._of_catalog(catalog_id, documents, is_its_own=is_its_own)
                yield from apart(f"records of {catalog_id}", found)
        return page.next

    def _of_unplaced(self, document: Document) -> Iterator[Discrepancy]:
        if self.on.bucket.head(document.s3_key) is None:
            yield from self.on.mending.forgotten(document, Kind.UNPLACED_WITHOUT_OBJECT)

    def _of_catalog(
        self, catalog_id: str, documents: list[Document], *, is_its_own: bool
    ) -> Iterator[Discrepancy]:
        mending, catalog = self.on.mending, self.on.catalogs.get(catalog_id)
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
            yield from _stalled(self.on, catalog)

    def _without_objects(
        self, catalog: Catalog, documents: list[Document]
    ) -> Iterator[Discrepancy]:
        mending, now = self.on.mending, self.on.mending.now()
        lapsed = [each for each in documents if each.has_lapsed(now)]
        elsewhere = (DocumentStatus.DELETING, DocumentStatus.UPLOADING)
        # Not by when it was written: a run writes what it finds of a file that is gone, too.
        uploaded = [each for each in documents if mending.is_settled(each.uploaded_at)]
        present = [each for each in uploaded if each.status not in elsewhere]
        if present and self.on.bucket.head(present[0].s3_key) is not None:
            return
        if not (present or lapsed) or self._has_objects(catalog):
            return
        yield from mending.reconciled((each.s3_key, Kind.UNUSED_LINK) for each in lapsed)
        suspects = ((each.s3_key, Kind.RECORD_WITHOUT_OBJECT) for each in present)
        yield from mending.reconciled(suspects)

    def _unread(self, documents: list[Document]) -> Iterator[Discrepancy]:
        """Yield documents whose event was lost before a reader got it, or has waited for long."""
        mending = self.on.mending
        for each in documents:
            is_late = each.unread and mending.is_settled(each.updated_at, after=UNREAD)
            if is_late and self.on.bucket.version_of(each.s3_key) is not None:
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
                yield from self.on.mending.run_again(each, Kind.FAILED_BY_BEDROCK)

    def _last_indexed(self, knowledge_base_id: str | None) -> datetime | None:
        """Return when any document in the knowledge base was last indexed."""
        last: datetime | None = None
        cursor: str | None = None
        while True:
            page = self.on.inventory.all_catalogs(cursor)
            here = (each for each in page.items if each.knowledge_base_id == knowledge_base_id)
            found = filter(None, (last, *(each.indexed_at for each in here)))
            last, cursor = max(found, default=None), page.next
            if cursor is None:
                return last

    def _has_objects(self, catalog: Catalog) -> bool:
        listed = self.on.inventory.objects(prefix=catalog.s3_prefix).items
        return any(may_be_document(each.key) for each in listed)

    def _reopened(self, catalog: Catalog) -> Iterator[Discrepancy]:
        """
        Reopen a catalog whose deletion crashed before it was complete.

        A deletion that is still under way finds the catalog open, marks it again and goes on.
        """
        catalog_id, now = catalog.catalog_id, self.on.mending.now()
        yield from self.on.mending.mended(
            Kind.HALF_DELETED_CATALOG,
            catalog_id,
            by=partial(self.on.catalogs.unmark_deleting, catalog_id, at=now),
            until=lambda: not self._is_deleting(catalog_id),
        )

    def _is_deleting(self, catalog_id: str) -> bool:
        catalog = self.on.catalogs.get(catalog_id)
        return catalog is not None and catalog.status is CatalogStatus.DELETING


@dataclass(frozen=True)
class OpenAudit:
    """Audit of open documents, between two full rounds. A step is a page of catalogs."""

    on: Audited

    def step(self, cursor: str | None) -> Piece:
        page = self.on.inventory.all_catalogs(cursor)
        for catalog in page.items:
            # One that is being deleted is its deletion's, or a full round's.
            if catalog.status is not CatalogStatus.DELETING:
                what = f"what is open in {catalog.catalog_id}"
                yield from apart(what, _stalled(self.on, catalog))
        return page.next


def _stalled(on: Audited, listed: Catalog) -> Iterator[Discrepancy]:
    """
    Yield documents that wait for a cap that no longer exists, and open documents, or the catalog,
    if no run takes care of them.
    """

    def is_old(document: Document) -> bool:
        return document.due_since is not None and on.mending.is_settled(document.due_since)

    if listed.over_count and on.caps.can_release(listed):
        release = partial(on.caps.release, listed.user_id)
        yield from on.mending.mended(Kind.WAITS_FOR_NOTHING, listed.catalog_id, by=release)
    if not (listed.open_count or _is_going(listed)) or _has_run(on, listed):
        return
    oldest = list(on.documents.open_in(listed.catalog_id, limit=_MOST_OPEN))
    old = [each for each in oldest if is_old(each) and _is_for_a_run(each)]
    now = on.catalogs.get(listed.catalog_id)
    # The list may be older than the end of the run that finished the document.
    if now is None or _has_run(on, now):
        return
    ask = partial(on.requests.ask, listed.catalog_id)
    if stalled := [each.s3_key for each in old if each.retry_at is None]:
        yield from on.mending.mended(Kind.STALLED_DOCUMENT, *stalled, by=ask)
        return
    if old and not on.mending.dry_run:  # its run has left it until now, and nothing is amiss
        ask()
        return
    is_stuck = _is_going(now) and on.mending.is_settled(now.updated_at)
    if is_stuck and not any(map(_is_for_a_run, oldest)):
        yield from on.mending.mended(Kind.STALLED_CATALOG, listed.catalog_id, by=ask)


def _is_going(catalog: Catalog) -> bool:
    return catalog.status is CatalogStatus.DELETING


def _has_run(on: Audited, catalog: Catalog) -> bool:
    """Return True if a run seems live; one that many share, only if it knows of the catalog."""
    worklist_id = worklist_of(catalog.catalog_id, catalog.source)
    lease = on.leases.get(worklist_id)
    if lease is None or not lease.held:
        return False
    if not is_shared(worklist_id):
        return True
    # Ids are of one length: none lies between one and the same with its last letter lowered.
    before = catalog.catalog_id[:-1] + chr(ord(catalog.catalog_id[-1]) - 1)
    entry = next(on.worklists.entries(worklist_id, after=before, limit=1), None)
    return entry is not None and entry.catalog_id == catalog.catalog_id


def _is_for_a_run(document: Document) -> bool:
    """Return True if a run would process the document."""
    if document.lingering and document.status is DocumentStatus.FAILED:
        return document.attempts < MAX_ATTEMPTS  # after that, it is left with a reason that says so
    return document.is_open
