"""
Placing a catalog: giving it a data source of its own while there are any, else a shared one.

How many data sources a knowledge base has goes by its type (stackroom.capacity). All but one are
for catalogs; the last is the shared CUSTOM data source, where every other catalog lives. Where a
catalog was placed it stays, whatever becomes of the pool.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from stackroom.capacity import capacity_of
from stackroom.errors import DataSourceLimit, KnowledgeBaseThrottled
from stackroom.model import Catalog, DataSource, DataSourceType, PoolMember
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.data_sources import DataSources, Slots


class Placement(StrEnum):
    PLACED = "placed"
    WAITING = "waiting"


@dataclass(frozen=True, kw_only=True)
class Placements:
    catalogs: Catalogs
    slots: Slots
    data_sources: DataSources
    pool: Sequence[PoolMember]

    def ensure(self, catalog: Catalog) -> tuple[Placement, DataSource]:
        """The catalog's data source, given to it if it has none, and whether it can be used yet."""
        source = catalog.source or self._place(catalog)
        if source.is_shared:
            return Placement.PLACED, source  # made with its knowledge base
        available = self.data_sources.is_available(source.knowledge_base_id, source.data_source_id)
        return (Placement.PLACED if available else Placement.WAITING), source

    def _place(self, catalog: Catalog) -> DataSource:
        source = self._own(catalog) or self._shared(catalog)
        self.catalogs.place(catalog.catalog_id, source)
        return source

    def _own(self, catalog: Catalog) -> DataSource | None:
        for member in self._candidates(catalog.catalog_id):
            if not (self._takes_slot(member, catalog) or self._takes_lost_slot(member, catalog)):
                continue
            knowledge_base_id = member.knowledge_base_id
            try:
                return self._adopt_or_create(knowledge_base_id, catalog)
            except DataSourceLimit:
                # Someone else's data sources are there: what we counted as free is not.
                self.slots.exhaust(knowledge_base_id, catalog.catalog_id)
        return None

    def _takes_slot(self, member: PoolMember, catalog: Catalog) -> bool:
        limit = capacity_of(member).own_sources
        return self.slots.take(member.knowledge_base_id, catalog.catalog_id, limit=limit)

    def _takes_lost_slot(self, member: PoolMember, catalog: Catalog) -> bool:
        """
        A data source of its own needs no room. It is there where the tables were lost: slots were
        then counted lost for the data sources of catalogs that had yet to come back.
        """
        knowledge_base_id = member.knowledge_base_id
        lost = sorted(self.slots.lost(knowledge_base_id))
        name = data_source_name(catalog.catalog_id)
        if not lost or self.data_sources.find(knowledge_base_id, name) is None:
            return False
        for each in lost:
            self.slots.free(knowledge_base_id, each)
            if self._takes_slot(member, catalog):
                return True
        return False

    def _shared(self, catalog: Catalog) -> DataSource:
        return shared_source_for(catalog.catalog_id, self.pool)

    def _candidates(self, catalog_id: str) -> list[PoolMember]:
        """The knowledge base where a crash left the catalog's slot, then the emptiest first."""
        holder = self.slots.holder_of(catalog_id, [each.knowledge_base_id for each in self.pool])
        return sorted(
            self.pool, key=lambda each: (each.knowledge_base_id != holder, self._fullness(each))
        )

    def _fullness(self, member: PoolMember) -> float:
        """The share of its slots that are taken: in a mixed pool some have fifty times as many."""
        return self.slots.taken(member.knowledge_base_id) / capacity_of(member).own_sources

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
                token=_token(knowledge_base_id, name, catalog.updated_at.isoformat()),
            )
        return DataSource(knowledge_base_id=knowledge_base_id, data_source_id=data_source_id)


class Placing(Protocol):
    def choose(self, catalog: Catalog) -> DataSource | None:
        """
        Where a catalog that has no place yet is to live, stored there and then; None if its own run
        is to make it a data source.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class SharedFirst:
    """A shared data source takes no call of Bedrock to begin with."""

    catalogs: Catalogs
    pool: Sequence[PoolMember]

    def choose(self, catalog: Catalog) -> DataSource | None:
        source = shared_source_for(catalog.catalog_id, self.pool)
        self.catalogs.place(catalog.catalog_id, source)
        return source


class OwnFirst:
    """A data source of its own for whoever comes while there are any."""

    def choose(self, catalog: Catalog) -> DataSource | None:  # noqa: ARG002 - the port's argument
        return None


def shared_source_for(catalog_id: str, pool: Sequence[PoolMember]) -> DataSource:
    """Spread by a hash (rendezvous), so that a crash can't have counted anybody twice."""
    member = max(pool, key=lambda each: _token(each.knowledge_base_id, catalog_id))
    return DataSource(
        knowledge_base_id=member.knowledge_base_id,
        data_source_id=member.data_source_id,
        type=DataSourceType.CUSTOM,
    )


def data_source_name(catalog_id: str) -> str:
    """Names take ASCII letters, digits, single `-` and `_` [API model]; a catalog's take more."""
    return "ds-" + hashlib.sha256(catalog_id.encode()).hexdigest()[:32]


def _token(*parts: str) -> str:
    # clientToken: 33 to 256 characters [API model]; a SHA-256 in hex has 64.
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()
