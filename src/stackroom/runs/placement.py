"""
Place each catalog on a data source of its own, or on one that it shares with others.

The number of data sources in a knowledge base depends on its type (runs/capacity.py). All but one
are for catalogs; the last is the shared CUSTOM data source. A new catalog gets one of its own on
the knowledge base with the most room. If there is no room, it joins the shared data source that has
the fewest catalogs. A catalog stays where it was placed, whatever happens to the pool.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from stackroom.errors import DataSourceLimit, KnowledgeBaseThrottled, RecordChanged
from stackroom.model.keys import digest
from stackroom.model.records import Catalog, DataSource, DataSourceType, PoolMember
from stackroom.model.repositories import Catalogs
from stackroom.runs.capacity import Slots, capacity_of
from stackroom.runs.run_leases import SharedSources

# Catalogs' own data sources: the id stands behind what a person can read.
_OF_A_CATALOG = re.compile(r"(?:.+-)?(cat-[0-9a-f]{24})")
_LONGEST_TITLE = 60  # of the 100 that a name may have [API model bedrock-agent: Name]


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


@dataclass(frozen=True, kw_only=True)
class Placements:
    catalogs: Catalogs
    slots: Slots
    data_sources: DataSources
    pool: Sequence[PoolMember]
    shared: SharedSources

    def ensure(self, catalog: Catalog) -> tuple[DataSource, bool]:
        """
        Return the catalog's data source, found or created if needed, and whether it can be used
        yet. Raises RecordChanged, KnowledgeBaseThrottled or DataSourceBroken.
        """
        source = catalog.source or self._place(catalog)
        if source.is_shared:
            return source, True  # made with its knowledge base
        is_there = self.data_sources.is_available(source.knowledge_base_id, source.data_source_id)
        return source, is_there

    def _place(self, catalog: Catalog) -> DataSource:
        source = self._own(catalog)
        if source is None:
            return self.shared.join(catalog)
        try:
            self.catalogs.place(catalog.catalog_id, source)
        except RecordChanged:
            self._remove_if_unused(catalog.catalog_id, source)
            raise
        return source

    def _remove_if_unused(self, catalog_id: str, source: DataSource) -> None:
        """
        Remove the data source if its catalog has gone or joined others meanwhile, because nobody
        else would.
        """
        now = self.catalogs.get(catalog_id)
        if now is None or now.source not in (None, source):
            self.data_sources.remove(source.knowledge_base_id, source.data_source_id)
            self.slots.free(source.knowledge_base_id, catalog_id)

    def _own(self, catalog: Catalog) -> DataSource | None:
        for member in self._candidates(catalog):
            home, limit = member.knowledge_base_id, capacity_of(member).own_sources
            if not self.slots.take(home, catalog.catalog_id, limit=limit):
                continue
            try:
                return self._adopt_or_create(member, catalog)
            except DataSourceLimit:
                # Strangers' data sources are there, or those of slots that were lost.
                self.slots.free(home, catalog.catalog_id)
        return None

    def _candidates(self, catalog: Catalog) -> list[PoolMember]:
        """
        Return the pool in order of preference: first where the catalog's slot was left, then by
        room.
        """

        def order(member: PoolMember) -> tuple[bool, float]:
            holders = self.slots.holders(member.knowledge_base_id)
            # The share of its slots: in a mixed pool some have fifty times as many.
            fullness = len(holders) / max(1, capacity_of(member).own_sources)
            return catalog.catalog_id not in holders, fullness

        return sorted(self.pool, key=order)

    def _adopt_or_create(self, member: PoolMember, catalog: Catalog) -> DataSource:
        knowledge_base_id = member.knowledge_base_id
        there = self.data_sources.all(knowledge_base_id)
        name = next((each for each in there if is_named_after(each, catalog.catalog_id)), None)
        if name is not None:
            found = self.data_sources.find(knowledge_base_id, name)
            if found is None:
                # This is the data source of a catalog that was to go and came back. It still counts
                # against the limit, so that asking now would look as if strangers had filled the
                # knowledge base. One whose deletion failed is deleted again; nothing of it is in
                # the index.
                self.data_sources.remove(knowledge_base_id, there[name])
                raise KnowledgeBaseThrottled("CreateDataSource")
            return found
        name = data_source_name(catalog)
        return self.data_sources.create(
            knowledge_base_id,
            name,
            source_type=member.own_source_type,
            prefix=catalog.s3_prefix,
            # Not the name alone: after a deletion, Bedrock answers a token that it has seen with
            # what is gone. The catalog is written when it is opened, marked deleting or unmarked.
            token=digest(knowledge_base_id, name, catalog.updated_at.isoformat()),
        )


def data_source_name(catalog: Catalog) -> str:
    """
    Return a name that people recognise in Bedrock's console: the catalog's name, as far as ASCII
    has it, and its id. Names take ASCII letters and digits with single `-` and `_` between [API
    model].
    """
    plain = unicodedata.normalize("NFKD", catalog.name).encode("ascii", "ignore").decode()
    title = "-".join(re.findall(r"[0-9A-Za-z]+", plain))[:_LONGEST_TITLE].strip("-")
    return f"{title}-{catalog.catalog_id}" if title else catalog.catalog_id


def is_named_after(name: str, catalog_id: str) -> bool:
    """Return True if a data source of that name is the catalog's own."""
    return name == catalog_id or name.endswith(f"-{catalog_id}")


def catalog_named_in(name: str) -> str | None:
    """Return the catalog that owns a data source of that name; None if no catalog does."""
    found = _OF_A_CATALOG.fullmatch(name)
    return found[1] if found is not None else None
