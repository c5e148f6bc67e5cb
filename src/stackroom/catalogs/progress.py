"""How far a catalog's documents are, and how long the rest will take."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from stackroom.catalogs.read_ahead import read_ahead
from stackroom.clock import utc_now
from stackroom.ingestion.estimates import CatalogEstimate, DocumentEstimate, Estimates
from stackroom.model import Catalog, CatalogStatus, DocumentStatus
from stackroom.ownership import owned
from stackroom.ports.catalogs import Catalogs

_TO_COME = (DocumentStatus.UPLOADING, DocumentStatus.PENDING, DocumentStatus.INDEXING)


@dataclass(frozen=True, kw_only=True)
class CatalogProgress:
    """
    Of the documents that count: those being deleted don't. `unready` are all but the indexed ones.
    `eta_seconds` is None where nobody knows, 0 if all is settled.
    """

    catalog: Catalog
    overall: CatalogStatus
    indexed: int
    indexing: int
    pending: int  # those that have yet to be uploaded among them
    failed: int
    unready: tuple[DocumentEstimate, ...]
    eta_seconds: int | None

    @property
    def total(self) -> int:
        return self.indexed + self.indexing + self.pending + self.failed


@dataclass(frozen=True, kw_only=True)
class Progress:
    catalogs: Catalogs
    estimates: Estimates
    now: Callable[[], datetime] = utc_now

    def of(self, user_id: str, catalog_id: str) -> CatalogProgress:
        """
        Two round trips to the store: the catalog, then all that an estimate takes, side by side.

        Raises CatalogNotFound.
        """
        catalog = owned(self.catalogs, user_id, catalog_id)
        with read_ahead(self.estimates, catalog) as estimates:
            estimate = estimates.of(catalog)
        return self._told(estimate)

    def _told(self, estimate: CatalogEstimate) -> CatalogProgress:
        now = self.now()
        counted = [
            each
            for each in estimate.documents
            if each.document.status is not DocumentStatus.DELETING
            and not each.document.has_lapsed(now)
        ]
        statuses = [each.document.status for each in counted]
        waiting = (DocumentStatus.PENDING, DocumentStatus.UPLOADING)
        return CatalogProgress(
            catalog=estimate.catalog,
            overall=_overall(estimate.catalog, statuses),
            indexed=statuses.count(DocumentStatus.INDEXED),
            indexing=statuses.count(DocumentStatus.INDEXING),
            pending=sum(each in waiting for each in statuses),
            failed=statuses.count(DocumentStatus.FAILED),
            unready=tuple(
                each for each in counted if each.document.status is not DocumentStatus.INDEXED
            ),
            eta_seconds=estimate.eta_seconds,
        )


def _overall(catalog: Catalog, statuses: Iterable[DocumentStatus]) -> CatalogStatus:
    """By its documents, which say more than the catalog's record, written by runs alone."""
    statuses = set(statuses)
    if catalog.status is CatalogStatus.DELETING:
        return CatalogStatus.DELETING
    if statuses & set(_TO_COME):
        return CatalogStatus.INDEXING
    is_lost = DocumentStatus.FAILED in statuses and DocumentStatus.INDEXED not in statuses
    return CatalogStatus.FAILED if is_lost else CatalogStatus.READY
