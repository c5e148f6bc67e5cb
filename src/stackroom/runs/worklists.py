"""
Worklists: what a run works off.

A worklist is what is open at one data source. That of a catalog with a data source of its own is
named like the catalog. All catalogs on the shared data source of a knowledge base have one in
common, so that one run ingests for all of them: Bedrock takes ten documents a call, whosever.
"""

from collections.abc import Sequence

from stackroom.model import DataSource, PoolMember
from stackroom.ports.catalogs import Catalogs

_SHARED = "shared-"  # no catalog id begins so: they begin with `cat-`


def worklist_of(catalog_id: str, source: DataSource | None) -> str:
    """`source` is where the catalog is placed; one that isn't yet has a run of its own."""
    if source is not None and source.is_shared:
        return shared_worklist(source.knowledge_base_id)
    return catalog_id


def shared_worklist(knowledge_base_id: str) -> str:
    return _SHARED + knowledge_base_id


def is_shared(worklist_id: str) -> bool:
    return worklist_id.startswith(_SHARED)


def source_of(
    worklist_id: str, catalogs: Catalogs, pool: Sequence[PoolMember]
) -> DataSource | None:
    """
    The worklist's data source; None if its catalog is gone, or its knowledge base in the pool no
    more, and for a catalog that was placed on a shared one meanwhile.
    """
    if is_shared(worklist_id):
        home = home_of(worklist_id, pool)
        return None if home is None else home.shared_source
    catalog = catalogs.get(worklist_id)
    source = None if catalog is None else catalog.source
    return None if source is None or source.is_shared else source


def home_of(worklist_id: str, pool: Sequence[PoolMember]) -> PoolMember | None:
    """The knowledge base whose shared worklist it is; None if that is in the pool no more."""
    members = (each for each in pool if shared_worklist(each.knowledge_base_id) == worklist_id)
    return next(members, None)
