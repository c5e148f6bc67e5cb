"""
Place each catalog on a data source of its own, or on one that it shares with others.

The number of data sources in a knowledge base depends on its type (runs/capacity.py). All but one
are for catalogs; the last is the shared CUSTOM data source. A new catalog gets one of its own on
the knowledge base with the most room. If there is no room, it joins the shared data source that has
the fewest catalogs. A catalog stays where it was placed, whatever happens to the pool.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from stackroom.errors import DataSourceLimit, KnowledgeBaseThrottled, RecordChanged
from stackroom.model.keys import digest
from stackroom.model.records import Catalog, DataSource, PoolMember
from stackroom.model.repositories import Catalogs
from stackroom.runs.capacity import capacity_of
from stackroom.runs.data_sources import DataSources, Slots

# Catalogs' own data sources: the id stands behind what a person can read.
_OF_A_CATALOG = re.compile(r"(?:.+-)?(cat-[0-9a-f]{24})")
_LONGEST_TITLE = 60  # of the 100 that a name may have [API model bedrock-agent: Name]


@dataclass(frozen=True, kw_only=True)
class SharedSources:
    """The shared data sources, one in each knowledge base."""

    catalogs: Catalogs
    slots: Slots
    pool: Sequence[PoolMember]

    def join_if_full(self, catalog: Catalog) -> DataSource | None:
        """
        Place a catalog on a shared data source if the pool has no room for one of its own. Return
        None if there may be room, which the catalog's own run finds out. Raises RecordChanged if
        somebody has just placed it elsewhere.
        """
        for member in self.pool:
            noted = self.slots.noted(member.knowledge_base_id)
            may_be_home = noted is None or is_at_home(noted, catalog)
            if may_be_home or len(noted or ()) < capacity_of(member).own_sources:
                return None
        return self.join(catalog)

    def join(self, catalog: Catalog) -> DataSource:
        """
        Place the catalog on the shared data source with the fewest catalogs, a MANAGED one last,
        because that has room for catalogs' own. Raises RecordChanged.
        """

        def order(member: PoolMember) -> tuple[bool, int]:
            return member.is_managed, self.slots.sharing(member.knowledge_base_id)

        source = min(self.pool, key=order).shared_source
        self.catalogs.place(catalog.catalog_id, source)
        self.slots.count_sharing(source.knowledge_base_id)
        return source


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

    def survey(self) -> None:
        """
        Note which data sources catalogs have, once for each knowledge base, before anybody is
        placed there. Safe to repeat. Raises KnowledgeBaseThrottled.
        """
        for each in self.pool:
            if self.slots.noted(each.knowledge_base_id) is None:
                self._survey(each.knowledge_base_id)

    def _place(self, catalog: Catalog) -> DataSource:
        self.survey()
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

    def _survey(self, knowledge_base_id: str) -> bool:
        """
        Survey the knowledge base and return True if that found unknown data sources.

        If the tables were lost or restored from a backup, a catalog that comes back must find its
        data source again.
        """
        there = self.data_sources.all(knowledge_base_id)
        # After them, because a slot is taken before its data source is created.
        holders = self.slots.holders(knowledge_base_id)
        owners = {each: catalog_named_in(each) for each in there}
        found = {each for each, owner in owners.items() if owner and owner not in holders}
        lost = self.slots.lost(knowledge_base_id)
        self.slots.survey(knowledge_base_id, found)
        return not all(any(each.endswith(name) for each in lost) for name in found)

    def _own(self, catalog: Catalog) -> DataSource | None:
        for member in self._candidates(catalog):
            if not self._takes_slot(member, catalog):
                continue
            try:
                return self._adopt_or_create(member, catalog)
            except DataSourceLimit:
                # The slot that we counted as free is not: slots were lost, or strangers' data
                # sources are there.
                if self._survey(member.knowledge_base_id):
                    self.slots.free(member.knowledge_base_id, catalog.catalog_id)
                else:
                    self.slots.exhaust(member.knowledge_base_id, catalog.catalog_id)
        return None

    def _takes_slot(self, member: PoolMember, catalog: Catalog) -> bool:
        """
        Return True if the catalog has a slot there. If a survey has found its data source, it needs
        no room.
        """
        knowledge_base_id, limit = member.knowledge_base_id, capacity_of(member).own_sources
        mine = standing_for(self.slots.lost(knowledge_base_id), catalog.catalog_id)
        taken = self.slots.take(knowledge_base_id, catalog.catalog_id, limit=limit + len(mine))
        for each in mine:
            self.slots.free(knowledge_base_id, each)
        return taken

    def _candidates(self, catalog: Catalog) -> list[PoolMember]:
        """
        Return the pool in order of preference: first where the catalog's slot or data source was
        left, then by room.
        """

        def order(member: PoolMember) -> tuple[bool, float]:
            noted = self.slots.noted(member.knowledge_base_id) or frozenset()
            # The share of its slots: in a mixed pool some have fifty times as many.
            fullness = len(noted) / max(1, capacity_of(member).own_sources)
            return not is_at_home(noted, catalog), fullness

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


def is_at_home(noted: Collection[str], catalog: Catalog) -> bool:
    """
    Return True if a slot of the knowledge base is the catalog's, or stands for its data source.
    """
    return catalog.catalog_id in noted or bool(standing_for(noted, catalog.catalog_id))


def standing_for(noted: Collection[str], catalog_id: str) -> list[str]:
    """
    Return the entries that a survey has noted for the catalog's data source; they end with its
    name.
    """
    return [each for each in noted if each != catalog_id and each.endswith(catalog_id)]


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
