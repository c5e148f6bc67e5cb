"""
Giving a catalog its place: a data source of its own on a knowledge base of the pool.

A knowledge base has five data sources, not adjustable [AWS General Reference: Amazon Bedrock
quotas]. Four are for catalogs; the fifth is kept free for the shared CUSTOM data source.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from stackroom.model import Catalog, PoolMember
from stackroom.ports import Catalogs, DataSource, DataSourceLimit, DataSources, Slots

OWN_SLOTS = 4
NO_SLOT = (
    "no knowledge base has a free data source for this catalog; "
    "ask your operator to raise knowledge_base_pool_size, then drop the file again"
)


class Placement(StrEnum):
    PLACED = "placed"
    WAITING = "waiting"
    NO_SLOT = "no_slot"


@dataclass(frozen=True, kw_only=True)
class Placements:
    catalogs: Catalogs
    slots: Slots
    data_sources: DataSources
    pool: Sequence[PoolMember]

    def ensure(self, catalog: Catalog) -> Placement:
        """Give the catalog a data source if it has none, and say whether it can be used yet."""
        source = source_of(catalog) or self._place(catalog)
        if source is None:
            return Placement.NO_SLOT
        available = self.data_sources.is_available(source.knowledge_base_id, source.data_source_id)
        return Placement.PLACED if available else Placement.WAITING

    def _place(self, catalog: Catalog) -> DataSource | None:
        for knowledge_base_id in self._candidates(catalog.catalog_id):
            if not self.slots.take(knowledge_base_id, catalog.catalog_id, limit=OWN_SLOTS):
                continue
            try:
                source = self._adopt_or_create(knowledge_base_id, catalog)
            except DataSourceLimit:
                # Someone else's data sources are there: what we counted as free is not.
                self.slots.exhaust(knowledge_base_id, catalog.catalog_id)
                continue
            self.catalogs.place(
                catalog.catalog_id,
                knowledge_base_id=source.knowledge_base_id,
                data_source_id=source.data_source_id,
            )
            return source
        return None

    def _candidates(self, catalog_id: str) -> list[str]:
        """The knowledge base where a crash left the catalog's slot, then the emptiest first."""
        members = [member.knowledge_base_id for member in self.pool]
        holder = self.slots.holder_of(catalog_id, members)
        return sorted(members, key=lambda each: (each != holder, self.slots.taken(each)))

    def _adopt_or_create(self, knowledge_base_id: str, catalog: Catalog) -> DataSource:
        name = data_source_name(catalog.catalog_id)
        data_source_id = self.data_sources.find(knowledge_base_id, name)
        if data_source_id is None:
            data_source_id = self.data_sources.create(
                knowledge_base_id,
                name,
                prefix=catalog.s3_prefix,
                token=_token(knowledge_base_id, name),
            )
        return DataSource(knowledge_base_id=knowledge_base_id, data_source_id=data_source_id)


def source_of(catalog: Catalog) -> DataSource | None:
    if catalog.knowledge_base_id is None or catalog.data_source_id is None:
        return None
    return DataSource(
        knowledge_base_id=catalog.knowledge_base_id, data_source_id=catalog.data_source_id
    )


def data_source_name(catalog_id: str) -> str:
    """Names take ASCII letters, digits, single `-` and `_` [API model]; a catalog's take more."""
    return "ds-" + hashlib.sha256(catalog_id.encode()).hexdigest()[:32]


def _token(*parts: str) -> str:
    # clientToken: 33 to 256 characters [API model]; a SHA-256 in hex has 64.
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()
