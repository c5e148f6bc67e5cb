"""Taking down a catalog that is being deleted, once it is empty."""

from collections.abc import Sequence
from dataclasses import dataclass

from stackroom.errors import RecordChanged
from stackroom.model import Catalog, PoolMember
from stackroom.ports.catalogs import CatalogRegister
from stackroom.ports.data_sources import DataSources, Slots
from stackroom.runs.placing import data_source_name


@dataclass(frozen=True, kw_only=True)
class Teardown:
    catalogs: CatalogRegister
    slots: Slots
    data_sources: DataSources
    pool: Sequence[PoolMember]

    def step(self, catalog: Catalog) -> bool:
        """
        Go on with it, and say whether the catalog is gone by now. Safe to repeat.

        No document of it may be left when it was read. Whoever drops one into it now unmarks
        it, and then this stops: the next run finds it without a data source, and gives it one.
        """
        try:
            self._clear_data_source(catalog)
            if not self._is_cleared(catalog.catalog_id):
                return False
            self.catalogs.close(catalog)
        except RecordChanged:  # it is being deleted no more
            return False
        return True

    def _clear_data_source(self, catalog: Catalog) -> None:
        """Before its data source begins to go: nobody may find it placed there after that."""
        source = catalog.source
        # A shared data source stays as it is, and the catalog may stay placed on it.
        if source is not None and not source.is_shared:
            self.catalogs.clear_data_source(catalog.catalog_id)

    def _is_cleared(self, catalog_id: str) -> bool:
        """By its slot and its name the catalog's own data source is found again after a crash."""
        members = [member.knowledge_base_id for member in self.pool]
        holder = self.slots.holder_of(catalog_id, members)
        if holder is None:
            return True
        own = self.data_sources.all(holder).get(data_source_name(catalog_id))
        if own is not None and not self.data_sources.remove(holder, own):
            return False
        self.slots.free(holder, catalog_id)
        return True
