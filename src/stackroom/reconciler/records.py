"""
Records that nobody works on, or that tell of objects that are gone.

A catalog that has any object was compared by `stackroom.reconciler.bucket`; so one look at one
object per catalog and page is enough here to find those that have none.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from stackroom.keys import is_ours, unplaced_partition
from stackroom.model import Catalog, CatalogStatus, Document, DocumentStatus
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.ports.inspection import InspectionRequests
from stackroom.ports.inventory import Inventory
from stackroom.reconciler.attended import Attended
from stackroom.reconciler.count_audit import Recount
from stackroom.reconciler.discrepancies import Discrepancy, Kind, Step
from stackroom.reconciler.mending import Mending
from stackroom.reconciler.open_documents import is_for_a_run
from stackroom.runs.run_requests import RunRequests

_UNPLACED = unplaced_partition("")


@dataclass(frozen=True, kw_only=True)
class RecordAudit:
    inventory: Inventory
    catalogs: Catalogs
    documents: Documents
    bucket: DocumentBucket
    attended: Attended
    requests: RunRequests
    inspections: InspectionRequests
    mending: Mending
    recount: Recount

    def step(self, cursor: str | None) -> Step:
        page = self.inventory.records(cursor)
        for malformed in page.malformed:
            yield self.mending.left(Kind.MALFORMED_RECORD, malformed)
        for catalog_id, records in groupby(page.items, key=lambda each: each.catalog_id):
            if catalog_id.startswith(_UNPLACED):
                for document in _documents(list(records)):
                    found = self._of_unplaced(document)
                    yield from self.mending.apart(document.s3_key, found)
            else:
                found = self._of_catalog(catalog_id, list(records))
                yield from self.mending.apart(f"records of {catalog_id}", found)
        return page.next

    def _of_unplaced(self, document: Document) -> Iterator[Discrepancy]:
        if self.bucket.head(document.s3_key) is None:
            yield from self.mending.forgotten(document, Kind.UNPLACED_WITHOUT_OBJECT)

    def _of_catalog(
        self, catalog_id: str, records: list[Catalog | Document]
    ) -> Iterator[Discrepancy]:
        catalog = self.catalogs.get(catalog_id)
        documents = [
            each for each in _documents(records) if self.mending.is_settled(each.updated_at)
        ]
        if catalog is None:
            suspects = ((each.s3_key, Kind.RECORD_WITHOUT_CATALOG) for each in documents)
            yield from self.mending.reconciled(suspects)
            return
        yield from self.recount.of_documents(documents)
        yield from self._without_objects(catalog, documents)
        yield from self._uninspected(documents)
        # Its own record is on one page only, and so is said once to be stuck.
        is_stuck = any(isinstance(each, Catalog) for each in records) and self._is_stuck(catalog)
        if is_stuck and catalog.status is CatalogStatus.DELETING and self._has_objects(catalog):
            yield from self._reopened(catalog)
        else:
            yield from self._stalled(catalog, documents, is_stuck=is_stuck)

    def _without_objects(
        self, catalog: Catalog, documents: list[Document]
    ) -> Iterator[Discrepancy]:
        now = self.mending.now()
        lapsed = [each for each in documents if each.has_lapsed(now)]
        elsewhere = (DocumentStatus.DELETING, DocumentStatus.UPLOADING)
        present = [each for each in documents if each.status not in elsewhere]
        if present and self.bucket.head(present[0].s3_key) is not None:
            return
        if not (present or lapsed) or self._has_objects(catalog):
            return
        yield from self.mending.reconciled((each.s3_key, Kind.UNUSED_LINK) for each in lapsed)
        suspects = ((each.s3_key, Kind.RECORD_WITHOUT_OBJECT) for each in present)
        yield from self.mending.reconciled(suspects)

    def _uninspected(self, documents: list[Document]) -> Iterator[Discrepancy]:
        """Their event was lost on the way to the inspection, or waits there for long."""
        for each in documents:
            if each.uninspected and each.status in (DocumentStatus.INDEXED, DocumentStatus.FAILED):
                ask = partial(self.inspections.ask, each.s3_key)
                yield from self.mending.mended(Kind.UNINSPECTED_FILE, each.s3_key, by=ask)

    def _has_objects(self, catalog: Catalog) -> bool:
        listed = self.inventory.objects(prefix=catalog.s3_prefix).items
        return any(not is_ours(each.key) for each in listed)

    def _reopened(self, catalog: Catalog) -> Iterator[Discrepancy]:
        """
        Whoever was deleting it died on the way, and never said that it was deleted.

        One that is still at it finds the catalog open, marks it again and goes on.
        """
        unmark = partial(self.catalogs.unmark_deleting, catalog.catalog_id, at=self.mending.now())
        yield from self.mending.mended(
            Kind.HALF_DELETED_CATALOG,
            catalog.catalog_id,
            by=unmark,
            until=lambda: not self._is_deleting(catalog.catalog_id),
        )

    def _is_deleting(self, catalog_id: str) -> bool:
        catalog = self.catalogs.get(catalog_id)
        return catalog is not None and catalog.status is CatalogStatus.DELETING

    def _stalled(
        self, catalog: Catalog, documents: list[Document], *, is_stuck: bool
    ) -> Iterator[Discrepancy]:
        waiting = [each for each in documents if is_for_a_run(each)]
        if not waiting and not is_stuck:
            return
        if self.attended.by_a_run(catalog):
            return
        # What was listed may be older than the end of the run that finished it.
        stalled = [each for each in waiting if self._is_as_listed(each)]
        now = self.catalogs.get(catalog.catalog_id)
        is_stuck = not waiting and now is not None and self._is_stuck(now)
        ask = partial(self.requests.ask, catalog.catalog_id)
        keys = (each.s3_key for each in stalled)
        yield from self.mending.mended(Kind.STALLED_DOCUMENT, *keys, by=ask)
        if is_stuck:
            yield from self.mending.mended(Kind.STALLED_CATALOG, catalog.catalog_id, by=ask)

    def _is_stuck(self, catalog: Catalog) -> bool:
        under_way = catalog.status in (CatalogStatus.DELETING, CatalogStatus.INDEXING)
        return under_way and self.mending.is_settled(catalog.updated_at)

    def _is_as_listed(self, document: Document) -> bool:
        now = self.documents.get(document.catalog_id, document.document_id)
        return now is not None and now.version == document.version


def _documents(records: list[Catalog | Document]) -> list[Document]:
    return [each for each in records if isinstance(each, Document)]
