"""Where a caller's search goes, and whose passages count among what is answered there."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cache

from stackroom.errors import KnowledgeBaseNotFound, RetrievalFailed, Unavailable
from stackroom.identity import Caller
from stackroom.model import Catalog
from stackroom.ports.catalogs import Catalogs
from stackroom.retrieval.arguments import RetrieveArguments
from stackroom.tenancy import Tenant


@dataclass(frozen=True, kw_only=True)
class Scope:
    """
    The ids of the knowledge bases to ask, whose passages count, and who owns a catalog: as
    `Tenant.own` asks for it.
    """

    targets: tuple[str, ...]
    tenant: Tenant
    owner_of: Callable[[str], str | None]


def scope_of(
    asked: RetrieveArguments, caller: Caller, *, pool: Collection[str], catalogs: Catalogs
) -> Scope:
    """
    Wherever what the caller looks for, and may see, can be; `pool` are ids of knowledge bases.

    Raises KnowledgeBaseNotFound for what isn't the caller's, RetrievalFailed if nobody can tell.
    """
    try:
        scope = _homes(asked.catalog_id, caller, pool, catalogs)
    except Unavailable as error:
        raise RetrievalFailed("your catalogs could not be read; try again") from error
    if asked.knowledge_base_id is None:
        return scope
    if asked.knowledge_base_id not in pool:
        raise KnowledgeBaseNotFound(f"Knowledge base '{asked.knowledge_base_id}'")
    targets = tuple(home for home in scope.targets if home == asked.knowledge_base_id)
    return replace(scope, targets=targets)


def _homes(
    catalog_id: str | None, caller: Caller, pool: Collection[str], catalogs: Catalogs
) -> Scope:
    tenant, read = Tenant(caller.user_id), list[Catalog]()
    if catalog_id is not None:
        catalog = catalogs.get(catalog_id)
        # Someone else's is as unknown as none: who asks must not learn that it exists.
        if catalog is None or catalog.user_id != caller.user_id:
            raise KnowledgeBaseNotFound(f"Catalog '{catalog_id}'")
        tenant, read = Tenant.of(catalog), [catalog]
    elif len(pool) > 1:
        read = list(catalogs.of_user(caller.user_id))
    homes = [catalog.knowledge_base_id for catalog in read]
    if len(pool) == 1 and catalog_id is None:
        homes = list(pool)  # no table to read: it is there or nowhere
    return Scope(
        targets=tuple(dict.fromkeys(home for home in homes if home is not None)),
        tenant=tenant,
        owner_of=_owners(read, catalogs),
    )


def _owners(read: Iterable[Catalog], catalogs: Catalogs) -> Callable[[str], str | None]:
    """Of the catalogs that have been read already, and of others by reading them, each once."""
    known = {catalog.catalog_id: catalog.user_id for catalog in read}

    @cache
    def owner_of(catalog_id: str) -> str | None:
        if catalog_id in known:
            return known[catalog_id]
        catalog = catalogs.get(catalog_id)
        return catalog.user_id if catalog is not None else None

    return owner_of
