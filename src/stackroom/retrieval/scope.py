"""Where a caller's search goes, and whose passages count among what is answered there."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache

from stackroom.errors import KnowledgeBaseNotFound, RetrievalFailed, Unavailable
from stackroom.identity import Caller
from stackroom.model import Catalog
from stackroom.ports.catalogs import Catalogs
from stackroom.retrieval.arguments import RetrieveArguments
from stackroom.tenancy import CatalogOf, Member, Tenant, View


@dataclass(frozen=True, kw_only=True)
class Query:
    """One question to one knowledge base, `target` is its id: what there is of `view` in it."""

    target: str
    view: View


@dataclass(frozen=True, kw_only=True)
class Scope:
    """
    What to ask, the caller's own documents first, and what is known of catalogs.

    `asker` is the user id of whoever asks; None where nobody says so.
    """

    queries: tuple[Query, ...]
    catalog_of: CatalogOf
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
        catalog_of=_reading(read, catalogs),
        asker=caller.user_id,
    )


def scope_of_catalog(catalog: Catalog) -> Scope:
    """Where one catalog is, for its owner; nowhere if nothing of it was ever ingested."""
    home = catalog.knowledge_base_id
    queries = (Query(target=home, view=Tenant.of(catalog)),) if home is not None else ()
    known = {catalog.catalog_id: catalog}
    return Scope(queries=queries, catalog_of=known.get, asker=catalog.user_id)


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


def _reading(read: Iterable[Catalog], catalogs: Catalogs) -> CatalogOf:
    """The catalogs that have been read already, and others by reading them, each once."""
    known = {catalog.catalog_id: catalog for catalog in read}

    @cache
    def catalog_of(catalog_id: str) -> Catalog | None:
        return known.get(catalog_id) or catalogs.get(catalog_id)

    return catalog_of
