"""
Worklists: what a run works off.

A catalog with a data source of its own has a worklist of its own, named like the catalog. All
catalogs on the shared data source of a knowledge base have one in common, so that one run ingests
for all of them: Bedrock takes ten documents a call, whosever they are.
"""

from collections.abc import Sequence

from stackroom.model import DataSource, PoolMember

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


def home_of(worklist_id: str, pool: Sequence[PoolMember]) -> PoolMember | None:
    """The knowledge base whose shared worklist it is; None if that is in the pool no more."""
    members = (each for each in pool if shared_worklist(each.knowledge_base_id) == worklist_id)
    return next(members, None)
