"""Catalogs: looked up, placed at a data source, counted, opened and closed."""

from collections.abc import Iterator
from datetime import datetime
from typing import Protocol

from stackroom.model import Catalog, CatalogStatus, DataSource


class Catalogs(Protocol):
    def get(self, catalog_id: str) -> Catalog | None: ...

    def of_user(self, user_id: str) -> Iterator[Catalog]: ...

    def place(self, catalog_id: str, source: DataSource) -> None:
        """Store where its documents are ingested; once stored, that is never changed."""
        ...

    def clear_data_source(self, catalog_id: str) -> None:
        """Forget where a catalog that is being deleted lived. Raises RecordChanged if it isn't."""
        ...

    def update_totals(
        self, catalog_id: str, *, status: CatalogStatus, count: int, size: int, at: datetime
    ) -> None:
        """Its status, unless it is being deleted, and its totals."""
        ...

    def adjust_totals(self, catalog_id: str, *, count: int, size: int, at: datetime) -> None:
        """
        So many documents and bytes more, or fewer, until a run counts anew: what somebody did a
        moment ago shows. More are to be indexed. Left out where it can't be right: in a catalog
        that is gone or being deleted, or where fewer would be less than none.
        """
        ...

    def mark_deleting(self, catalog_id: str, *, at: datetime) -> None:
        """From now on the catalog is being deleted. Raises RecordChanged if there is none."""
        ...

    def unmark_deleting(self, catalog_id: str, *, at: datetime) -> None:
        """It is being deleted no more. Raises RecordChanged if it is gone already."""
        ...


class CatalogRegister(Catalogs, Protocol):
    """Where catalogs are opened too, which takes counting them."""

    def open(self, catalog: Catalog) -> Catalog:
        """Keep a new catalog, or answer the one that is there. Raises CatalogLimitReached."""
        ...

    def close(self, catalog: Catalog) -> None:
        """Forget a catalog that is being deleted. Raises RecordChanged if it isn't any more."""
        ...
