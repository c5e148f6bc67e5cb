"""Knowledge bases that a user's agents may search: the user's catalogs and shared ones."""

from collections.abc import Sequence
from dataclasses import dataclass

from stackroom.model.records import Catalog, CatalogStatus
from stackroom.model.repositories import Catalogs
from stackroom_agents.user_agents.agent import DEFAULT_LEAST_SCORE
from stackroom_agents.user_agents.assistant import ALL_CATALOGS, ALL_CATALOGS_NAME

MOST_LISTED = 100
_LONGEST_ID = 100  # DynamoDB limits key lengths, and catalog ids are shorter


@dataclass(frozen=True, kw_only=True)
class AvailableKnowledgeBase:
    """
    A knowledge base to link. `document_count` is None if the store can't count.

    `least_score` is the store's own threshold. The default excludes nothing and means that no
    threshold was set.
    """

    id: str
    name: str
    description: str
    least_score: float = DEFAULT_LEAST_SCORE
    document_count: int | None = None


@dataclass(frozen=True, kw_only=True)
class AvailableKnowledgeBases:
    """Finds knowledge bases for users. `shared` are the deployment's, available to everybody."""

    catalogs: Catalogs
    shared: Sequence[AvailableKnowledgeBase] = ()

    def of_user(
        self, user_id: str, *, search: str = "", limit: int = MOST_LISTED, offset: int = 0
    ) -> list[AvailableKnowledgeBase]:
        """Return the user's own by name, then the shared ones, whose names contain `search`."""
        own = [
            _of_catalog(each)
            for each in self.catalogs.of_user(user_id)
            if each.status is not CatalogStatus.DELETING
        ]
        own.sort(key=lambda each: (each.name.casefold(), each.id))
        wanted = search.casefold()
        found = [each for each in (*own, *self.shared) if wanted in each.name.casefold()]
        return found[offset : offset + limit]

    def ids(self, user_id: str) -> frozenset[str]:
        """Return the ids of all that `find` finds."""
        own = self.catalogs.of_user(user_id)
        present = (each.catalog_id for each in own if each.status is not CatalogStatus.DELETING)
        return frozenset({ALL_CATALOGS, *present, *(each.id for each in self.shared)})

    def find(self, user_id: str, knowledge_base_id: str) -> AvailableKnowledgeBase | None:
        """Return a knowledge base, or None if it is missing, being deleted, or another user's."""
        if knowledge_base_id == ALL_CATALOGS:
            return AvailableKnowledgeBase(id=ALL_CATALOGS, name=ALL_CATALOGS_NAME, description="")
        for each in self.shared:
            if each.id == knowledge_base_id:
                return each
        if len(knowledge_base_id) > _LONGEST_ID:
            return None
        catalog = self.catalogs.get(knowledge_base_id)
        if catalog is None or catalog.user_id != user_id:
            return None
        return None if catalog.status is CatalogStatus.DELETING else _of_catalog(catalog)


def _of_catalog(catalog: Catalog) -> AvailableKnowledgeBase:
    return AvailableKnowledgeBase(
        id=catalog.catalog_id,
        name=catalog.name,
        description=catalog.description,
        document_count=catalog.document_count,
    )
