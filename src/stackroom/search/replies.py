"""The queries of a search, and the replies to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from stackroom.access.tenancy import CatalogOf, View
from stackroom.model.attributes import AttributeTypes
from stackroom.model.passages import Passage, Search


@dataclass(frozen=True, kw_only=True)
class Query:
    """One question to one knowledge base, `target` is its id: what there is of `view` in it."""

    target: str
    view: View


@dataclass(frozen=True, kw_only=True)
class SearchScope:
    """
    What to ask, the caller's own documents first, and what is known of catalogs.

    `asker` is the user id of whoever asks; None where nobody says so. `types` are those of the
    attributes in the asker's catalogs, if these were read for a filter; what is searched may have
    others unless it `knows_all_types`.
    """

    queries: tuple[Query, ...]
    catalog_of: CatalogOf
    asker: str | None = None
    types: AttributeTypes = field(default_factory=dict)
    knows_all_types: bool = True

    @property
    def targets(self) -> tuple[str, ...]:
        """The ids of the knowledge bases that are asked."""
        return tuple(dict.fromkeys(query.target for query in self.queries))


@dataclass(frozen=True, kw_only=True)
class Reply:
    """
    To one query: what of it the caller may see, best first, and what not.

    `is_embedding_cached` if the question's vector was there, and the same caller's before; None
    where the store embeds it itself, or nobody asks.
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
    """`failures` say why, by the id of the knowledge base; there is at least one reply, or none."""

    given: tuple[Reply, ...]
    failures: Mapping[str, str]

    @property
    def guardrail_action(self) -> str:
        """INTERVENED if a guardrail stepped in anywhere."""
        return min({reply.guardrail_action for reply in self.given} - {"NONE"}, default="NONE")

    @property
    def is_reranked(self) -> bool:
        """Whether a model put in order all that was found."""
        return bool(self.given) and all(reply.is_reranked for reply in self.given)

    @property
    def is_embedding_cached(self) -> bool | None:
        """True if every vector was there; None where the question was embedded nowhere."""
        told = [each for reply in self.given if (each := reply.is_embedding_cached) is not None]
        return all(told) if told else None

    @property
    def notices(self) -> dict[str, str]:
        """By the id of the knowledge base."""
        return {reply.target: reply.notice for reply in self.given if reply.notice is not None}
