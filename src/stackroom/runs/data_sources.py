"""A knowledge base's data sources, and the slots that catalogs hold there."""

from collections.abc import Iterable
from typing import Protocol

from stackroom.model.records import DataSource, DataSourceType


class Slots(Protocol):
    """
    The slots of each knowledge base for catalogs' own data sources, and the catalogs that hold
    them.
    """

    def holders(self, knowledge_base_id: str) -> frozenset[str]:
        """Return the catalogs that hold a slot."""

    def take(self, knowledge_base_id: str, catalog_id: str, *, limit: int) -> bool: ...

    def holder_of(self, catalog_id: str, knowledge_base_ids: Iterable[str]) -> str | None: ...

    def free(self, knowledge_base_id: str, catalog_id: str) -> None:
        """
        Free a slot, because the catalog's data source is gone or can't be made. Safe to repeat.
        """

    def sharing(self, knowledge_base_id: str) -> int:
        """
        Return about how many catalogs joined the shared data source: precise enough to spread new
        ones.
        """

    def count_sharing(self, knowledge_base_id: str) -> None:
        """Count one more catalog that joined the shared data source."""


class DataSources(Protocol):
    def find(self, knowledge_base_id: str, name: str) -> DataSource | None:
        """Return the data source of that name, or None; one that is being deleted doesn't count."""

    def create(
        self,
        knowledge_base_id: str,
        name: str,
        *,
        source_type: DataSourceType,
        prefix: str,
        token: str,
    ) -> DataSource:
        """Create a data source; one of type S3 crawls the prefix. Raises DataSourceLimit."""

    def is_available(self, knowledge_base_id: str, data_source_id: str) -> bool:
        """
        Return False while the data source is being created. Raises DataSourceBroken if it never
        will be.
        """

    def remove(self, knowledge_base_id: str, data_source_id: str) -> bool:
        """
        Delete the data source with all that it has indexed, and return True if it is gone by now.

        Safe to repeat. If its vectors can't be deleted, it is told to retain them and is deleted
        all the same: the caller has to check whether a search still finds them.
        """

    def all(self, knowledge_base_id: str) -> dict[str, str]:
        """Return the ids of the knowledge base's data sources, by name."""
