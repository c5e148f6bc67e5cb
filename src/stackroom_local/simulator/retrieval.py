"""bedrock-agent-runtime's Retrieve."""

from dataclasses import dataclass
from typing import Any

from stackroom_local.simulator import filters
from stackroom_local.simulator.dispatch import Parameters
from stackroom_local.simulator.embedding import Embedder, normalised
from stackroom_local.simulator.indexes import index_of
from stackroom_local.simulator.knowledge_bases import knowledge_base
from stackroom_local.simulator.metadata import own_keys
from stackroom_local.simulator.rules import (
    DEFAULT_RESULTS,
    HYBRID_SEARCH,
    MODEL_MISMATCH,
    NOT_SIMULATED,
    QUERY_LENGTH,
    VECTOR_INDEX_MISSING,
)
from stackroom_local.simulator.screening import Screening, Side, action_of
from stackroom_local.simulator.store import Store
from stackroom_local.simulator.vectors import Hit, Vectors


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    store: Store
    vectors: Vectors
    embedder: Embedder
    screening: Screening

    def retrieve(self, parameters: Parameters) -> Parameters:
        """Under a guardrail, if one is named: rule retrieve.guardrail."""
        for member in ("userContext", "nextToken"):
            if parameters.get(member):
                raise NOT_SIMULATED.broken(what=f"{member} of Retrieve")
        guard = self.screening.asked_for(parameters)
        asked = (
            parameters["knowledgeBaseId"],
            parameters["retrievalQuery"].get("text") or "",
            parameters.get("retrievalConfiguration") or {},
        )
        self.check(*asked)
        verdict = guard.judged(asked[1], Side.INPUT) if guard else None
        hits = [] if verdict and verdict.blocked else self.hits(*asked)
        results = [{**reference(hit), "score": hit.score} for hit in hits]
        return {"retrievalResults": results, **action_of(verdict)}

    def check(self, knowledge_base_id: str, text: str, configuration: dict[str, Any]) -> None:
        """Raises ServiceError for what AWS refuses."""
        knowledge_base(self.store, knowledge_base_id)
        if not text.strip() or len(text) > QUERY_LENGTH.limit:
            raise QUERY_LENGTH.broken()
        if configuration.get("managedSearchConfiguration"):
            raise MODEL_MISMATCH.broken()
        search = configuration.get("vectorSearchConfiguration") or {}
        _refuse_unsimulated(search)
        condition = search.get("filter")
        if condition is not None:
            filters.check(condition)

    def hits(self, knowledge_base_id: str, text: str, configuration: dict[str, Any]) -> list[Hit]:
        """The best passages, best first, of a request that `check` let pass."""
        index = index_of(self.store, knowledge_base_id)
        if index is None:
            raise VECTOR_INDEX_MISSING.broken()
        search = configuration.get("vectorSearchConfiguration") or {}
        query = normalised(self.embedder.embed(text)[: index.dimension])
        limit = search.get("numberOfResults") or DEFAULT_RESULTS.limit
        sought = filters.Sought(search.get("filter"))
        return self.vectors.search(knowledge_base_id, query, limit, sought)


def reference(hit: Hit) -> dict[str, Any]:
    """A passage as both Retrieve and RetrieveAndGenerate show it; S3 Vectors has no page key."""
    source, identifier = hit.owner
    location: dict[str, Any] = {"type": "CUSTOM", "customDocumentLocation": {"id": identifier}}
    if identifier.startswith("s3://"):
        location = {"type": "S3", "s3Location": {"uri": identifier}}
    return {
        "content": {"type": "TEXT", "text": hit.text},
        "location": location,
        "metadata": {**hit.attributes, **own_keys((source, identifier), hit.key)},
    }


def _refuse_unsimulated(search: dict[str, Any]) -> None:
    if search.get("overrideSearchType") == "HYBRID":
        raise HYBRID_SEARCH.broken()
    for member in ("implicitFilterConfiguration", "rerankingConfiguration"):
        if search.get(member):
            raise NOT_SIMULATED.broken(what=member)
