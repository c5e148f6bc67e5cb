"""bedrock-agent-runtime's Retrieve."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from bedrock_kb_simulator import filters, implicit_filters
from bedrock_kb_simulator.assumptions import Assumptions
from bedrock_kb_simulator.clock import Clock
from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.embedding import Embedder, normalised
from bedrock_kb_simulator.identifiers import start_of, token_for
from bedrock_kb_simulator.indexes import index_of, is_managed
from bedrock_kb_simulator.knowledge_bases import knowledge_base
from bedrock_kb_simulator.managed_search import ManagedSearch
from bedrock_kb_simulator.metadata import OF_MANAGED, OF_VECTOR, OwnKeys
from bedrock_kb_simulator.objects import Value
from bedrock_kb_simulator.reranking import Reranking
from bedrock_kb_simulator.rules import (
    DEFAULT_RESULTS,
    HYBRID_SEARCH,
    MANAGED_USER_CONTEXT,
    MODEL_MISMATCH,
    NOT_SIMULATED,
    QUERY_LENGTH,
    RETRIEVE_PAGE,
    RETRIEVE_TOKEN,
    USER_CONTEXT,
    VECTOR_INDEX_MISSING,
)
from bedrock_kb_simulator.screening import Screening, Side, action_of
from bedrock_kb_simulator.store import Store, dumped
from bedrock_kb_simulator.vectors import Hit, Vectors


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    store: Store
    clock: Clock
    vectors: Vectors
    embedder: Embedder
    screening: Screening
    reranking: Reranking
    assumptions: Assumptions
    own: OwnKeys

    @property
    def managed(self) -> ManagedSearch:
        return ManagedSearch(vectors=self.vectors, reranking=self.reranking)

    def retrieve(self, parameters: Parameters) -> Parameters:
        """Under a guardrail, if one is named: rule retrieve.guardrail."""
        home = knowledge_base(self.store, parameters["knowledgeBaseId"])
        if parameters.get("userContext"):
            raise (MANAGED_USER_CONTEXT if is_managed(home) else USER_CONTEXT).broken()
        query = parameters["retrievalQuery"]
        if query.get("image") or query.get("type") == "IMAGE":
            raise NOT_SIMULATED.broken(what="images in Retrieve")
        guard = self.screening.asked_for(parameters)
        asked = (
            parameters["knowledgeBaseId"],
            query.get("text") or "",
            parameters.get("retrievalConfiguration") or {},
        )
        self.check(*asked)
        start = start_of(parameters, clock=self.clock, rule=RETRIEVE_TOKEN)
        verdict = guard.judged(asked[1], Side.INPUT) if guard else None
        hits = [] if verdict and verdict.blocked else self.hits(*asked)
        shown = managed_result if is_managed(home) else partial(reference, own=self.own)
        page = _page([{**shown(hit), "score": hit.score} for hit in hits[start:]])
        more, end = {}, start + len(page)
        if end < len(hits):
            token = token_for(parameters, end, clock=self.clock, rule=RETRIEVE_TOKEN)
            more = {"nextToken": token}
        return {"retrievalResults": page, **more, **action_of(verdict)}

    def check(self, knowledge_base_id: str, text: str, configuration: dict[str, Any]) -> None:
        """Raises ServiceError for what AWS refuses."""
        home = knowledge_base(self.store, knowledge_base_id)
        if is_managed(home):
            self.managed.check(home, text, configuration)
            return
        if not text.strip() or len(text) > QUERY_LENGTH.limit:
            raise QUERY_LENGTH.broken()
        if configuration.get("managedSearchConfiguration"):
            raise MODEL_MISMATCH.broken()
        search = configuration.get("vectorSearchConfiguration") or {}
        if search.get("overrideSearchType") == "HYBRID":
            raise HYBRID_SEARCH.broken(knowledge_base=knowledge_base_id)
        condition = search.get("filter")
        if condition is not None:
            takes_in = self.assumptions.s3_vectors_take_in
            grammar = filters.S3_VECTORS if takes_in else filters.S3_VECTORS_WITHOUT_IN
            filters.check(condition, grammar)
        if implicit := search.get("implicitFilterConfiguration"):
            implicit_filters.check(implicit)
        if reranking := search.get("rerankingConfiguration"):
            self.reranking.check(reranking)

    def hits(self, knowledge_base_id: str, text: str, configuration: dict[str, Any]) -> list[Hit]:
        """The best passages, best first, of a request that `check` let pass."""
        home = knowledge_base(self.store, knowledge_base_id)
        if is_managed(home):
            return self.managed.hits(home, text, configuration)
        index = index_of(self.store, knowledge_base_id)
        if index is None:
            raise VECTOR_INDEX_MISSING.broken()
        search = configuration.get("vectorSearchConfiguration") or {}
        query = normalised(self.embedder.embed(text)[: index.dimension])
        limit = search.get("numberOfResults") or DEFAULT_RESULTS.limit
        implicit = search.get("implicitFilterConfiguration")
        implied = implicit_filters.implied(implicit, text) if implicit else None
        sought = filters.Sought(search.get("filter"), implied, self.own)
        found = self.vectors.search(knowledge_base_id, query, limit, sought)
        reranking = search.get("rerankingConfiguration")
        return self.reranking.reranked(text, found, reranking) if reranking else found


def reference(hit: Hit, own: OwnKeys = OF_VECTOR) -> dict[str, Any]:
    """A passage as both Retrieve and RetrieveAndGenerate show it; S3 Vectors has no page key."""
    return _result(hit, own.of_vector(hit.owner, hit.key))


def managed_result(hit: Hit) -> dict[str, Any]:
    """A passage of a managed knowledge base: rules managed.filter-keys, managed.document-id."""
    return {**_result(hit, OF_MANAGED.of(hit.owner)), "documentId": hit.owner[1]}


def _result(hit: Hit, own: Mapping[str, Value]) -> dict[str, Any]:
    identifier = hit.owner[1]
    location: dict[str, Any] = {"type": "CUSTOM", "customDocumentLocation": {"id": identifier}}
    if identifier.startswith("s3://"):
        location = {"type": "S3", "s3Location": {"uri": identifier}}
    return {
        "content": {"type": "TEXT", "text": hit.text},
        "location": location,
        "metadata": {**hit.attributes, **own},
    }


def _page(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """As many of them as one answer holds, and one at least."""
    page: list[dict[str, Any]] = []
    size = 0
    for result in results:
        size += len(dumped(result).encode())
        if page and size > RETRIEVE_PAGE.limit:
            break
        page.append(result)
    return page
