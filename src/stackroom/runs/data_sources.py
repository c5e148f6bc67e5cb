"""A knowledge base's data sources, and the slots that catalogs hold there."""

from collections.abc import Collection, Iterable
from typing import Protocol

from stackroom.model.records import DataSource, DataSourceType


class Slots(Protocol):
    """Which catalogs hold one of a knowledge base's slots for data sources of their own."""

    def taken(self, knowledge_base_id: str) -> int:
        """With those that were counted lost."""

    def holders(self, knowledge_base_id: str) -> frozenset[str]:
        """The catalogs that hold one."""

    def take(self, knowledge_base_id: str, catalog_id: str, *, limit: int) -> bool: ...

    def holder_of(self, catalog_id: str, knowledge_base_ids: Iterable[str]) -> str | None: ...

    def exhaust(self, knowledge_base_id: str, catalog_id: str) -> None:
        """Bedrock refused one more data source here: give the slot back and count it lost."""

    def lost(self, knowledge_base_id: str) -> frozenset[str]:
        """What stands for the slots that were counted lost, and holds them until it is freed."""

    def survey(self, knowledge_base_id: str, names: Collection[str]) -> None:
        """
        Count a slot lost for each of these data sources, which no catalog that holds one accounts
        for; from now on `noted` tells. Safe to repeat.
        """

    def noted(self, knowledge_base_id: str) -> frozenset[str] | None:
        """
        The catalogs that hold a slot, and what stands for the lost ones; None before the first
        survey, when nobody can tell. What stands for a data source ends with its name.
        """

    def free(self, knowledge_base_id: str, holder: str) -> None:
        """The catalog's data source is gone, or there is room again. Safe to repeat."""

    def sharing(self, knowledge_base_id: str) -> int:
        """About how many catalogs joined its shared data source: enough to spread new ones."""

    def count_sharing(self, knowledge_base_id: str) -> None:
        """One more has joined."""


class DataSources(Protocol):
    def find(self, knowledge_base_id: str, name: str) -> DataSource | None:
        """One that is being deleted is none."""

    def create(
        self,
        knowledge_base_id: str,
        name: str,
        *,
        source_type: DataSourceType,
        prefix: str,
        token: str,
    ) -> DataSource:
        """A new one; of type S3 over the prefix. Raises DataSourceLimit."""

    def is_available(self, knowledge_base_id: str, data_source_id: str) -> bool:
        """False while it is being made. Raises DataSourceBroken if it will never be."""

    def remove(self, knowledge_base_id: str, data_source_id: str) -> bool:
        """
        Delete the data source with all that it has in the index, and say whether it is gone by
        now. Safe to repeat. One whose vectors can't be deleted is told to retain them, and deleted
        all the same: whether a search still finds them is for the caller to see.
        """

    def all(self, knowledge_base_id: str) -> dict[str, str]:
        """The ids of its data sources, by name."""
