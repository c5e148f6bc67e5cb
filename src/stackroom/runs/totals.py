"""What a catalog's record says of its documents as a whole."""

from collections.abc import Iterable
from datetime import datetime

from stackroom.model import CatalogStatus, Document, DocumentStatus
from stackroom.ports.catalogs import Catalogs


def update_totals(
    catalogs: Catalogs,
    catalog_id: str,
    documents: Iterable[Document],
    status: CatalogStatus,
    *,
    at: datetime,
) -> None:
    """Write down how many documents there are, their bytes, and how the catalog is."""
    counted = [each for each in documents if each.is_counted]
    if status is CatalogStatus.READY:
        status = settled_status(each.status for each in counted)
    sizes = [each.size for each in counted]
    catalogs.update_totals(catalog_id, status=status, count=len(sizes), size=sum(sizes), at=at)


def settled_status(statuses: Iterable[DocumentStatus]) -> CatalogStatus:
    """Of a catalog with nothing left to do: failed if all that it has to show is failures."""
    found = set(statuses)
    is_lost = DocumentStatus.FAILED in found and DocumentStatus.INDEXED not in found
    return CatalogStatus.FAILED if is_lost else CatalogStatus.READY
