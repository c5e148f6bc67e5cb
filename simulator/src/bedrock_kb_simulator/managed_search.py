"""How a managed knowledge base is searched: Retrieve's managedSearchConfiguration."""

from dataclasses import dataclass, replace
from typing import Any

from bedrock_kb_simulator import filters
from bedrock_kb_simulator.knowledge_bases import has_custom_embedding
from bedrock_kb_simulator.metadata import OF_MANAGED
from bedrock_kb_simulator.reranking import Reranking, with_words
from bedrock_kb_simulator.rules import (
    DEFAULT_RESULTS,
    MANAGED_QUERY_EMPTY,
    MANAGED_QUERY_LENGTH,
    MANAGED_RERANKING_CUSTOM,
    MANAGED_RERANKING_EMBEDDING,
    VECTOR_SEARCH_ON_MANAGED,
)
from bedrock_kb_simulator.store import Row, loaded
from bedrock_kb_simulator.vectors import Hit, Vectors

_AMONG = 200  # passages nearest in meaning, among which the question's words are looked for


@dataclass(frozen=True, kw_only=True)
class ManagedSearch:
    vectors: Vectors
    reranking: Reranking

    def check(self, home: Row, text: str, configuration: dict[str, Any]) -> None:
        """Raises ServiceError for what AWS refuses."""
        if configuration.get("vectorSearchConfiguration"):
            raise VECTOR_SEARCH_ON_MANAGED.broken()
        if not text.strip():
            raise MANAGED_QUERY_EMPTY.broken()
        if len(text) > MANAGED_QUERY_LENGTH.limit:
            raise MANAGED_QUERY_LENGTH.broken()
        search = configuration.get("managedSearchConfiguration") or {}
        if search.get("filter") is not None:
            filters.check(search["filter"], filters.MANAGED)
        chosen = search.get("rerankingModelType")
        if chosen == "MANAGED" and has_custom_embedding(loaded(home["body"])):
            raise MANAGED_RERANKING_EMBEDDING.broken()
        reranking = search.get("rerankingConfiguration")
        if (chosen == "CUSTOM") != bool(reranking):
            raise MANAGED_RERANKING_CUSTOM.broken()
        if reranking:
            self.reranking.check(reranking)

    def hits(self, home: Row, text: str, configuration: dict[str, Any]) -> list[Hit]:
        """The best passages, best first, of a request that `check` let pass."""
        search = configuration.get("managedSearchConfiguration") or {}
        sought = filters.Sought(search.get("filter"), own=OF_MANAGED)
        near = self.vectors.search(home["id"], self.reranking.meaning(text), _AMONG, sought)
        limit = search.get("numberOfResults") or DEFAULT_RESULTS.limit
        found = with_words(text, near)[:limit]  # rule managed.hybrid
        if reranking := search.get("rerankingConfiguration"):
            return self.reranking.reranked(text, found, reranking)
        custom = has_custom_embedding(loaded(home["body"]))
        kind = search.get("rerankingModelType") or ("NONE" if custom else "MANAGED")
        return found if kind == "MANAGED" else _relative(found)


def _relative(hits: list[Hit]) -> list[Hit]:
    """Rule managed.scores."""
    best = max((hit.score for hit in hits), default=0.0)
    return [replace(hit, score=hit.score / best) for hit in hits] if best else hits
