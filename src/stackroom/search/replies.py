"""The queries of a search, and the replies to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from stackroom.access.tenancy import CatalogOf, View
from stackroom.model.attributes import AttributeTypes
from stackroom.model.passages import Passage, Search
from stackroom.model.records import Catalog


@dataclass(frozen=True, kw_only=True)
class Query:
    """One question to the knowledge base `target`, restricted to what `view` allows."""

    target: str
    view: View


@dataclass(frozen=True, kw_only=True)
class SearchScope:
    """
    The knowledge bases to ask, the caller's own documents first, and what is known of catalogs.

    `asker` is the user id of the caller; None if there is no identity. `types` are those of the
    attributes in the caller's catalogs, if a filter needs them; unless `knows_all_types`, documents
    may have other attributes. `catalogs` are the caller's own that are searched, as far as they
    could be read, and only those that `within` names, if it names any.
    """

    queries: tuple[Query, ...]
    catalog_of: CatalogOf
    asker: str | None = None
    types: AttributeTypes = field(default_factory=dict)
    knows_all_types: bool = True
    catalogs: tuple[Catalog, ...] = ()
    within: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[str, ...]:
        """The ids of the knowledge bases to ask."""
        return tuple(dict.fromkeys(query.target for query in self.queries))


@dataclass(frozen=True, kw_only=True)
class Reply:
    """
    The reply to one query: the passages that the caller may see, best first, and the count of
    others.

    `is_embedding_cached` is True if the question's vector was cached and this caller asked it
    before; None if the store embeds the question itself.
    """

    target: str
    passages: tuple[Passage, ...]
    withheld: tuple[Passage, ...]
    guardrail_action: str
    search: Search
    is_reranked: bool
    notice: str | None
    milliseconds: float = 0.0
    is_embedding_cached: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Replies:
    """
    The replies of all knowledge bases. `failures` are reasons by knowledge base id. There may be
    none only if nothing was asked.
    """

    given: tuple[Reply, ...]
    failures: Mapping[str, str]

    @property
    def guardrail_action(self) -> str:
        """INTERVENED if a guardrail intervened anywhere, else NONE."""
        return min({reply.guardrail_action for reply in self.given} - {"NONE"}, default="NONE")

    @property
    def is_reranked(self) -> bool:
        """True if a model ordered all passages."""
        return bool(self.given) and all(reply.is_reranked for reply in self.given)

    @property
    def is_embedding_cached(self) -> bool | None:
        """True if every vector was cached; None if the question was embedded nowhere."""
        answers = [each for reply in self.given if (each := reply.is_embedding_cached) is not None]
        return all(answers) if answers else None

    @property
    def notices(self) -> dict[str, str]:
        """Notices by knowledge base id."""
        return {reply.target: reply.notice for reply in self.given if reply.notice is not None}
