"""
Where a new catalog is to live: with others on a shared data source, or on one of its own.

The first needs no call of Bedrock; the second is made by a run of the catalog's own (placement).
Whoever has a place keeps it (docs/decisions/0019-jobs-where-they-pay.md).
"""

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from stackroom.capacity import capacity_of
from stackroom.model import Catalog, DataSource, DataSourceType, PoolMember
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.data_sources import Slots

OWN = "ds-"  # how names of catalogs' own data sources begin


class Placing(Protocol):
    def choose(self, catalog: Catalog) -> DataSource | None:
        """
        Where a catalog that has no place yet is to live, stored there and then; None if its own run
        is to make it a data source. Raises RecordChanged if somebody has just placed it elsewhere.
        """
        ...


class OwnFirst:
    """A data source of its own for whoever comes while there are any."""

    def choose(self, catalog: Catalog) -> DataSource | None:  # noqa: ARG002 - the port's argument
        return None


@dataclass(frozen=True, kw_only=True)
class SharedFirst:
    """
    The shared data source, which takes no call of Bedrock to begin with. Two kinds of catalogs are
    left to their own runs: those that may have a data source that nobody remembers, and, while
    there is room, those for whom one of their own is better. In a MANAGED knowledge base, which
    runs fifty jobs at a time, that is all; in another, where a job keeps everybody out, those whose
    first job would be done before direct calls get through, as `is_sooner` says of it.
    """

    catalogs: Catalogs
    slots: Slots
    pool: Sequence[PoolMember]
    is_sooner: Callable[[str], bool] = lambda _: False

    def choose(self, catalog: Catalog) -> DataSource | None:
        noted = [(each, self.slots.noted(each.knowledge_base_id)) for each in self.pool]
        if any(slots is None or is_at_home(slots, catalog) for _, slots in noted):
            return None
        if any(self._wants_own(each, len(slots or ())) for each, slots in noted):
            return None
        source = shared_source_of(self.pool)
        self.catalogs.place(catalog.catalog_id, source)
        return source

    def _wants_own(self, member: PoolMember, taken: int) -> bool:
        has_room = taken < capacity_of(member).own_sources
        return has_room and (member.is_managed or self.is_sooner(member.knowledge_base_id))


def shared_source_of(pool: Sequence[PoolMember]) -> DataSource:
    """
    That of the first knowledge base that isn't MANAGED: all new catalogs together. Ten direct calls
    are all that an account has, whatever the knowledge base; together they are full, one run serves
    everybody, one search finds all that is a caller's, and no job keeps them out, for catalogs'
    own data sources are elsewhere first.
    """
    member = next((each for each in pool if not each.is_managed), pool[0])
    return DataSource(
        knowledge_base_id=member.knowledge_base_id,
        data_source_id=member.data_source_id,
        type=DataSourceType.CUSTOM,
    )


def is_at_home(noted: Collection[str], catalog: Catalog) -> bool:
    """Whether one of a knowledge base's slots is the catalog's, or stands for its data source."""
    return catalog.catalog_id in noted or bool(standing_for(noted, catalog))


def standing_for(noted: Collection[str], catalog: Catalog) -> list[str]:
    """What a survey has noted of the catalog's data source."""
    name = data_source_name(catalog.catalog_id)
    return [each for each in noted if each.endswith(name)]


def data_source_name(catalog_id: str) -> str:
    """Names take ASCII letters, digits, single `-` and `_` [API model]; a catalog's take more."""
    return OWN + hashlib.sha256(catalog_id.encode()).hexdigest()[:32]


def digest(*parts: str) -> str:
    return hashlib.sha256("\x00".join(parts).encode()).hexdigest()
