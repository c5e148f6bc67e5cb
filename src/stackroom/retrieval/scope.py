"""Where a caller's search goes, and whose passages count among what is answered there."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache

from stackroom.errors import KnowledgeBaseNotFound, RetrievalFailed, Unavailable
from stackroom.identity import Caller
from stackroom.model import Catalog
from stackroom.ports.catalogs import Catalogs
from stackroom.retrieval.arguments import RetrieveArguments
from stackroom.tenancy import Member, OwnerOf, Tenant, View


@dataclass(frozen=True, kw_only=True)
class Query:
    """One question to one knowledge base, `target` is its id: what there is of `view` in it."""

    target: str
    view: View


@dataclass(frozen=True, kw_only=True)
class Scope:
    """
    What to ask, the caller's own documents first, and who owns a catalog.

    `asker` is the user id of whoever asks; None where nobody says so.
    """

    queries: tuple[Query, ...]
    owner_of: OwnerOf
    asker: str | None = None

    @property
    def targets(self) -> tuple[str, ...]:
        """The ids of the knowledge bases that are asked."""
        return tuple(dict.fromkeys(query.target for query in self.queries))


def scope_of(
    asked: RetrieveArguments,
    caller: Caller,
    *,
    pool: Collection[str],
    catalogs: Catalogs,
    sharing: bool,
) -> Scope:
    """
    Wherever what the caller looks for, and may see, can be; `pool` are ids of knowledge bases.

    With `sharing`, what others share with the caller's groups counts too, unless one of the
    caller's own catalogs is named. Raises KnowledgeBaseNotFound for what isn't the caller's,
    RetrievalFailed if nobody can tell.
    """
    tenant, read = Tenant(caller.user_id), list[Catalog]()
    try:
        if asked.catalog_id is not None:
            read = [_own(asked.catalog_id, caller, catalogs)]
            tenant = Tenant.of(read[0])
        elif len(pool) > 1:
            read = list(catalogs.of_user(caller.user_id))
    except Unavailable as error:
        raise RetrievalFailed("your catalogs could not be read; try again") from error
    homes = [catalog.knowledge_base_id for catalog in read]
    if len(pool) == 1 and asked.catalog_id is None:
        homes = list(pool)  # no table to read: it is there or nowhere
    queries = [Query(target=home, view=tenant) for home in dict.fromkeys(homes) if home is not None]
    if sharing and asked.catalog_id is None:
        # Anybody may share, so it can be anywhere.
        views = Member.of(caller)
        queries += [Query(target=each, view=view) for each in pool for view in views]
    return Scope(
        queries=tuple(_within(asked.knowledge_base_id, queries, pool)),
        owner_of=_owners(read, catalogs),
        asker=caller.user_id,
    )


def scope_of_catalog(catalog: Catalog) -> Scope:
    """Where one catalog is, for its owner; nowhere if nothing of it was ever ingested."""
    home = catalog.knowledge_base_id
    queries = (Query(target=home, view=Tenant.of(catalog)),) if home is not None else ()
    owners = {catalog.catalog_id: catalog.user_id}
    return Scope(queries=queries, owner_of=owners.get, asker=catalog.user_id)


def _own(catalog_id: str, caller: Caller, catalogs: Catalogs) -> Catalog:
    catalog = catalogs.get(catalog_id)
    # Someone else's is as unknown as none: who asks must not learn that it exists.
    if catalog is None or catalog.user_id != caller.user_id:
        raise KnowledgeBaseNotFound(f"Catalog '{catalog_id}'")
    return catalog


def _within(named: str | None, queries: Iterable[Query], pool: Collection[str]) -> Iterable[Query]:
    if named is None:
        return queries
    if named not in pool:
        raise KnowledgeBaseNotFound(f"Knowledge base '{named}'")
    return (query for query in queries if query.target == named)


def _owners(read: Iterable[Catalog], catalogs: Catalogs) -> OwnerOf:
    """Of the catalogs that have been read already, and of others by reading them, each once."""
    known = {catalog.catalog_id: catalog.user_id for catalog in read}

    @cache
    def owner_of(catalog_id: str) -> str | None:
        if catalog_id in known:
            return known[catalog_id]
        catalog = catalogs.get(catalog_id)
        return catalog.user_id if catalog is not None else None

    return owner_of
