"""The data sources of the pool, one after another, and what each lists, page by page."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from stackroom.errors import is_everybodys
from stackroom.model import Catalog, DataSource, PoolMember
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.inventory import Inventory, KnownSource, ListingExpired
from stackroom.reconciler.places import Place
from stackroom.reconciler.sources import known_sources, owner_of

_AVAILABLE = "AVAILABLE"  # DataSourceStatus [API model bedrock-agent]


@dataclass(frozen=True, kw_only=True)
class Inhabited:
    """A data source with documents of ours. `catalog` has it to itself."""

    source: DataSource
    catalog: Catalog | None


class Unlisted(Exception):
    """One that can't be listed now, raised from why."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} can't be listed")
        self.what = what


@dataclass(frozen=True, kw_only=True)
class Listings:
    inventory: Inventory
    catalogs: Catalogs
    pool: Sequence[PoolMember]

    def next(self, at: Place) -> Inhabited | None:
        """None if the pool's member has no data source after that one. Raises Unlisted."""
        if at.member >= len(self.pool):
            return None
        member = self.pool[at.member]
        with or_unlisted(f"data sources of {member.knowledge_base_id}"):
            known = known_sources(self.inventory, member.knowledge_base_id)
        for each in sorted(known, key=lambda each: each.source.data_source_id):
            if each.source.data_source_id <= at.after:
                continue
            if each.source.data_source_id == member.data_source_id:
                return Inhabited(source=each.source, catalog=None)
            catalog = self._resident(each)
            if catalog is not None:
                return Inhabited(source=each.source, catalog=catalog)
        return None

    def following(self, at: Place) -> Place | None:
        """The next member's; None if that was the last."""
        following = at.member + 1
        return Place(member=following) if following < len(self.pool) else None

    def _resident(self, known: KnownSource) -> Catalog | None:
        catalog_id = owner_of(known)
        if catalog_id is None or known.status != _AVAILABLE:
            return None
        catalog = self.catalogs.get(catalog_id)
        return catalog if catalog is not None and catalog.source == known.source else None


def where(source: DataSource) -> str:
    return f"{source.knowledge_base_id}/{source.data_source_id}"


@contextmanager
def or_unlisted(what: str) -> Iterator[None]:
    """Anything that keeps it from being listed as Unlisted, but that it must be listed anew."""
    try:
        yield
    except ListingExpired:
        raise
    except Exception as error:
        if is_everybodys(error):
            raise
        raise Unlisted(what) from error
