"""
Catalogs: looked up, placed at a data source, opened and closed.

What they count of their documents is written with these (stackroom.ports.documents).
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Protocol

from stackroom.catalog_counts import Counts
from stackroom.model import Catalog, DataSource


class Catalogs(Protocol):
    def get(self, catalog_id: str) -> Catalog | None: ...

    def of_user(self, user_id: str) -> Iterator[Catalog]: ...

    def place(self, catalog_id: str, source: DataSource) -> None:
        """
        Store where its documents are ingested; once stored, that is never changed. Raises
        RecordChanged if it is stored already, and another place.
        """
        ...

    def clear_data_source(self, catalog_id: str) -> None:
        """Forget where a catalog that is being deleted lived. Raises RecordChanged if it isn't."""
        ...

    def settle_status(self, catalog_id: str, *, at: datetime) -> None:
        """
        Ready, or failed if all that it has to show is failures; registering a document makes it
        indexing. Left as it is while a document waits to be searchable, and if it is being deleted
        or gone. Raises RecordChanged if others keep changing what it counts.
        """
        ...

    def recount(self, seen: Catalog, counts: Counts) -> None:
        """It counts so much. Raises RecordChanged if by now it counts something else than seen."""
        ...

    def mark_deleting(self, catalog_id: str, *, at: datetime) -> None:
        """From now on the catalog is being deleted. Raises RecordChanged if there is none."""
        ...

    def unmark_deleting(self, catalog_id: str, *, at: datetime) -> None:
        """
        It is being deleted no more: indexing if a document waits, else ready. Raises RecordChanged
        if it is gone already.
        """
        ...


class CatalogRegister(Catalogs, Protocol):
    """Where catalogs are opened too, which takes counting them."""

    def open(self, catalog: Catalog) -> Catalog:
        """Keep a new catalog, or answer the one that is there. Raises CatalogLimitReached."""
        ...

    def close(self, catalog: Catalog) -> None:
        """Forget a catalog that is being deleted. Raises RecordChanged if it isn't any more."""
        ...
