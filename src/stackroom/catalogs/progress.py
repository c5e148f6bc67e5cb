"""A catalog's progress, and how long the rest will take."""

from dataclasses import dataclass

from stackroom.access.tenancy import owned
from stackroom.model.catalog_counts import Counts, counts_in, status_of
from stackroom.model.records import Catalog, CatalogStatus, Document, DocumentStatus
from stackroom.model.repositories import Catalogs
from stackroom.runs.estimates import (
    LISTED,
    CatalogEstimate,
    DocumentEstimate,
    Estimates,
    QueuePosition,
    in_words,
)


@dataclass(frozen=True, kw_only=True)
class CatalogProgress:
    """
    A catalog's progress, counted in documents.

    Documents over a cap are `pending`. `unready` are all but the indexed ones, including those to
    come by a link, which `uploading` counts. For a large catalog they are the first of them,
    without those to come, and `more` counts the rest.

    `eta_seconds` is None if unknown, 0 if all is settled; `queue_position` is None unless the
    catalog's run waits. `unsettled` are all documents of a large catalog that failed or are under
    way; None if they are too many to read. `with_gaps` are indexed documents of which something
    can't be found; for a large catalog they are not read.
    """

    catalog: Catalog
    overall: CatalogStatus
    indexed: int
    indexing: int
    pending: int
    failed: int
    unready: tuple[DocumentEstimate, ...]
    eta_seconds: int | None
    more: int = 0
    uploading: int = 0
    queue_position: QueuePosition | None = None
    unsettled: tuple[Document, ...] | None = None
    with_gaps: tuple[Document, ...] = ()

    @property
    def total(self) -> int:
        return self.indexed + self.indexing + self.pending + self.failed

    def remaining(self, speed: float) -> str:
        """
        Describe the remaining time where AWS's time passes at `speed`; empty if there is none to
        give.
        """
        if not self.eta_seconds:
            return ""
        return f"about {in_words(max(1, self.eta_seconds / speed))} to go"


@dataclass(frozen=True, kw_only=True)
class Progress:
    catalogs: Catalogs
    estimates: Estimates

    def of(self, user_id: str, catalog_id: str) -> CatalogProgress:
        """Return the catalog's progress. Raises CatalogNotFound."""
        catalog = owned(self.catalogs, user_id, catalog_id)
        estimate = self.estimates.of(catalog)
        return _by_documents(estimate) if estimate.is_whole else _by_counts(estimate)


def _by_counts(estimate: CatalogEstimate) -> CatalogProgress:
    """Return the progress by the catalog's own counts."""
    catalog = estimate.catalog
    statuses = [each.document.status for each in estimate.documents]
    indexing = min(statuses.count(DocumentStatus.INDEXING), catalog.waiting_count)
    unready = _unready(estimate)
    waiting = catalog.waiting_count + catalog.over_count
    settled = catalog.document_count - catalog.failed_count - waiting
    return CatalogProgress(
        catalog=catalog,
        overall=_overall(catalog, counts_in(catalog)),
        indexed=max(0, settled),
        indexing=indexing,
        pending=waiting - indexing,
        failed=catalog.failed_count,
        unready=unready,
        eta_seconds=estimate.eta_seconds,
        queue_position=estimate.queue_position,
        more=max(0, waiting + catalog.failed_count - len(unready)),
        unsettled=_unsettled(estimate),
    )


def _by_documents(estimate: CatalogEstimate) -> CatalogProgress:
    """
    Return the progress by the catalog's documents, which say more than the counts in its record.
    """
    documents = [each.document for each in estimate.documents]
    statuses = [each.shown_status for each in documents if each.is_counted]
    indexing, pending, failed = map(
        statuses.count, (DocumentStatus.INDEXING, DocumentStatus.PENDING, DocumentStatus.FAILED)
    )
    over = sum(each.over_cap is not None for each in documents)
    counts = Counts(documents=len(statuses), failed=failed, waiting=indexing + pending - over)
    return CatalogProgress(
        catalog=estimate.catalog,
        overall=_overall(estimate.catalog, counts),
        indexed=statuses.count(DocumentStatus.INDEXED),
        indexing=indexing,
        pending=pending,
        failed=failed,
        unready=_unready(estimate),
        eta_seconds=estimate.eta_seconds,
        uploading=sum(each.is_to_come for each in documents),
        with_gaps=tuple(each for each in documents if each.shown_gaps),
        queue_position=estimate.queue_position,
    )


def _unready(estimate: CatalogEstimate) -> tuple[DocumentEstimate, ...]:
    ready = (DocumentStatus.INDEXED, DocumentStatus.DELETING)
    return tuple(each for each in estimate.documents if each.document.shown_status not in ready)


def _unsettled(estimate: CatalogEstimate) -> tuple[Document, ...] | None:
    catalog = estimate.catalog
    if max(catalog.failed_count, catalog.open_count, catalog.over_count) > LISTED:
        return None
    return tuple(each.document for each in estimate.documents)


def _overall(catalog: Catalog, counts: Counts) -> CatalogStatus:
    if catalog.status is CatalogStatus.DELETING:
        return CatalogStatus.DELETING
    return status_of(counts)
