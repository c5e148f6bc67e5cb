"""What a catalog's record says of its documents as a whole."""

from collections.abc import Iterable
from datetime import datetime

from stackroom.model import CatalogStatus, Document
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
    sizes = [each.size for each in documents if each.is_counted]
    catalogs.update_totals(catalog_id, status=status, count=len(sizes), size=sum(sizes), at=at)
