"""
Placing a catalog: on a data source that it shares with others, or on one of its own.

How many data sources a knowledge base has goes by its type (stackroom.capacity). All but one are
for catalogs; the last is the shared CUSTOM data source. Which of the two a new catalog gets is
chosen (stackroom.runs.placing); whether there is room for one of its own, the slots say. Where a
catalog was placed it stays, whatever becomes of the pool.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from stackroom.capacity import capacity_of
from stackroom.errors import DataSourceLimit, KnowledgeBaseThrottled
from stackroom.model import Catalog, DataSource, PoolMember
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.data_sources import DataSources, Slots
from stackroom.runs.placing import (
    OWN,
    OwnFirst,
    Placing,
    data_source_name,
    digest,
    is_at_home,
    shared_source_of,
    standing_for,
)


class Placement(StrEnum):
    PLACED = "placed"
    WAITING = "waiting"


@dataclass(frozen=True, kw_only=True)
class Placements:
    catalogs: Catalogs
    slots: Slots
    data_sources: DataSources
    pool: Sequence[PoolMember]
    placing: Placing = field(default_factory=OwnFirst)

    def ensure(self, catalog: Catalog) -> tuple[Placement, DataSource]:
        """
        The catalog's data source, given to it if it has none, and whether it can be used yet.
        Raises RecordChanged.
        """
        source = catalog.source or self._place(catalog)
        if source.is_shared:
            return Placement.PLACED, source  # made with its knowledge base
        available = self.data_sources.is_available(source.knowledge_base_id, source.data_source_id)
        return (Placement.PLACED if available else Placement.WAITING), source

    def survey(self) -> None:
        """
        Once for each knowledge base, note which data sources catalogs have there: before that
        nobody may be placed beside them. Safe to repeat. Raises KnowledgeBaseThrottled.
        """
        for each in self.pool:
            if self.slots.noted(each.knowledge_base_id) is None:
                self._survey(each.knowledge_base_id)

    def _place(self, catalog: Catalog) -> DataSource:
        self.survey()
        if (chosen := self.placing.choose(catalog)) is not None:
            return chosen
        source = self._own(catalog) or shared_source_of(self.pool)
        self.catalogs.place(catalog.catalog_id, source)
        return source

    def _survey(self, knowledge_base_id: str) -> None:
        """
        Where the tables were lost, catalogs' data sources are there yet: a catalog that comes back
        must find its own, though new ones would be placed elsewhere.
        """
        there = self.data_sources.all(knowledge_base_id)
        # After them: whoever takes a slot makes the data source after it.
        holders = self.slots.holders(knowledge_base_id)
        known = {data_source_name(each) for each in holders}
        found = {each for each in there if each.startswith(OWN) and each not in known}
        self.slots.survey(knowledge_base_id, found)

    def _own(self, catalog: Catalog) -> DataSource | None:
        for member in self._candidates(catalog):
            if not self._takes_slot(member, catalog):
                continue
            knowledge_base_id = member.knowledge_base_id
            try:
                return self._adopt_or_create(knowledge_base_id, catalog)
            except DataSourceLimit:
                # Someone else's data sources are there: what we counted as free is not.
                self.slots.exhaust(knowledge_base_id, catalog.catalog_id)
        return None

    def _takes_slot(self, member: PoolMember, catalog: Catalog) -> bool:
        """The one of its own data source, if a survey has found that, needs no room."""
        knowledge_base_id, limit = member.knowledge_base_id, capacity_of(member).own_sources
        mine = standing_for(self.slots.lost(knowledge_base_id), catalog)
        taken = self.slots.take(knowledge_base_id, catalog.catalog_id, limit=limit + len(mine))
        for each in mine:
            self.slots.free(knowledge_base_id, each)
        return taken

    def _candidates(self, catalog: Catalog) -> list[PoolMember]:
        """Where its slot or its data source was left, then the emptiest first."""

        def order(member: PoolMember) -> tuple[bool, bool, float]:
            noted = self.slots.noted(member.knowledge_base_id) or frozenset()
            # The share of its slots: in a mixed pool some have fifty times as many. Jobs would keep
            # out the direct calls of everybody who shares a data source.
            fullness = len(noted) / capacity_of(member).own_sources
            is_shared = member.knowledge_base_id == shared_source_of(self.pool).knowledge_base_id
            return not is_at_home(noted, catalog), is_shared, fullness

        return sorted(self.pool, key=order)

    def _adopt_or_create(self, knowledge_base_id: str, catalog: Catalog) -> DataSource:
        name = data_source_name(catalog.catalog_id)
        data_source_id = self.data_sources.find(knowledge_base_id, name)
        if data_source_id is None:
            if going := self.data_sources.all(knowledge_base_id).get(name):
                # That of a catalog that was to go and came back. It counts against the limit yet,
                # so that asking now would look as if strangers had filled the knowledge base. One
                # whose deletion failed is deleted again; nothing of it is in the index.
                self.data_sources.remove(knowledge_base_id, going)
                raise KnowledgeBaseThrottled("CreateDataSource")
            data_source_id = self.data_sources.create(
                knowledge_base_id,
                name,
                prefix=catalog.s3_prefix,
                # Not the name alone: after a deletion, Bedrock answers a token that it has seen
                # with what is gone. The catalog is written when it is opened, marked deleting or
                # unmarked.
                token=digest(knowledge_base_id, name, catalog.updated_at.isoformat()),
            )
        return DataSource(knowledge_base_id=knowledge_base_id, data_source_id=data_source_id)
