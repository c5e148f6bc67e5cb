"""bedrock-agent-runtime's Retrieve and Rerank."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from bedrock_kb_simulator import metadata_filters, rules
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.bucket_objects import Value
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.embedder import Embedder, normalise
from bedrock_kb_simulator.identifiers import start_of, token_for
from bedrock_kb_simulator.indexes import index_of, is_managed
from bedrock_kb_simulator.knowledge_bases import knowledge_base
from bedrock_kb_simulator.metadata import OF_MANAGED, OwnKeys
from bedrock_kb_simulator.screening import Screening, Side, action_of
from bedrock_kb_simulator.store import Row, Store, dumped
from bedrock_kb_simulator.vector_bucket_policies import refusal_of_role
from bedrock_kb_simulator.vectors import Hit, Vectors

# Rerank, and Retrieve's rerankingConfiguration, with a stand-in for the models: rule
# rerank.stand-in.

# https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-supported.html
_MODELS = ("amazon.rerank-v1:0", "cohere.rerank-v3-5:0")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True)
class Reranking:
    embedder: Embedder

    def rerank(self, parameters: Parameters) -> Parameters:
        chosen = parameters["rerankingConfiguration"]["bedrockRerankingConfiguration"]
        _check_model(chosen["modelConfiguration"], "Rerank")
        texts = [_text(source) for source in parameters["sources"]]
        limit = chosen.get("numberOfResults") or len(texts)
        if limit > len(texts):
            raise rules.RERANK_RESULTS.broken(most=len(texts))
        question = parameters["queries"][0]["textQuery"]["text"]
        ranked = self._rank(question, texts)[:limit]
        return {"results": [{"index": at, "relevanceScore": score} for at, score in ranked]}

    def check(self, configuration: dict[str, Any]) -> None:
        """Raise ServiceError for an invalid rerankingConfiguration of Retrieve."""
        chosen = configuration.get("bedrockRerankingConfiguration")
        if chosen is None:
            raise rules.RERANKING_EMPTY.broken()
        _check_model(chosen["modelConfiguration"], "Retrieve")
        metadata = chosen.get("metadataConfiguration") or {}
        is_selective = metadata.get("selectionMode") == "SELECTIVE"
        selected = metadata.get("selectiveModeConfiguration") or {}
        if (is_selective and len(selected) != 1) or (selected and not is_selective):
            raise rules.RERANKING_FIELDS.broken()

    def reranked(self, question: str, hits: list[Hit], configuration: dict[str, Any]) -> list[Hit]:
        """Return the hits in the order of a checked configuration: rule retrieve.reranking."""
        chosen = configuration["bedrockRerankingConfiguration"]
        metadata = chosen.get("metadataConfiguration") or {}
        ranked = self._rank(question, [_reranked_text(hit, metadata) for hit in hits])
        limit = chosen.get("numberOfRerankedResults") or len(hits)
        return [replace(hits[at], score=score) for at, score in ranked[:limit]]

    def _rank(self, question: str, texts: list[str]) -> list[tuple[int, float]]:
        """Return each text's position and relevance, most relevant first."""
        query, words = self.embedder.embed_question(question), _words(question)
        scores = [
            _between(float(self.embedder.embed(text) @ query), _word_share(words, _words(text)))
            for text in texts
        ]
        return sorted(enumerate(scores), key=lambda each: -each[1])


def with_words(question: str, hits: list[Hit]) -> list[Hit]:
    """Score hits by their similarity and the question's words; return them best first."""
    words = _words(question)
    scored = [
        replace(hit, score=_between(hit.score, _word_share(words, _words(hit.text))))
        for hit in hits
    ]
    return sorted(scored, key=lambda hit: -hit.score)


def _check_model(configuration: dict[str, Any], operation: str) -> None:
    if configuration["modelArn"].rpartition("/")[2] not in _MODELS:
        raise rules.RERANK_MODEL.broken()
    if configuration.get("additionalModelRequestFields"):
        raise rules.NOT_SIMULATED.broken(what=f"additionalModelRequestFields of {operation}")


def _reranked_text(hit: Hit, metadata: dict[str, Any]) -> str:
    """Return the text of a passage and its selected attributes, which the model reads."""
    fields = metadata.get("selectiveModeConfiguration") or {}
    included, excluded = (
        {field["fieldName"] for field in fields.get(member, ())}
        for member in ("fieldsToInclude", "fieldsToExclude")
    )
    read = [
        f"{key}: {value}"
        for key, value in hit.attributes.items()
        if metadata and key not in excluded and (not included or key in included)
    ]
    return "\n".join([hit.text, *read])


def _text(source: dict[str, Any]) -> str:
    document = source["inlineDocumentSource"]
    if "textDocument" not in document:
        raise rules.NOT_SIMULATED.broken(what="Rerank of documents that are no text")
    return str(document["textDocument"].get("text") or "")


def _between(similarity: float, shared: float) -> float:
    return (max(0.0, similarity) + shared) / 2


def _word_share(query_words: set[str], present: set[str]) -> float:
    return len(query_words & present) / len(query_words) if query_words else 0.0


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


# Retrieve's managedSearchConfiguration.

_CANDIDATES = 200  # nearest passages, which are then scored by the question's words


def _scale_scores(hits: list[Hit]) -> list[Hit]:
    """Scale scores so that the best is 1: rule managed.reranking."""
    best = max((hit.score for hit in hits), default=0.0)
    return [replace(hit, score=hit.score / best) for hit in hits] if best else hits


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    store: Store
    clock: Clock
    vectors: Vectors
    embedder: Embedder
    screening: Screening
    reranking: Reranking
    own_keys: OwnKeys

    def retrieve(self, parameters: Parameters) -> Parameters:
        """Answer Retrieve, under a guardrail if one is named: rule retrieve.guardrail."""
        home = knowledge_base(self.store, parameters["knowledgeBaseId"])
        if parameters.get("userContext"):
            raise rules.NOT_SIMULATED.broken(what="userContext")
        query = parameters["retrievalQuery"]
        if query.get("image") or query.get("type") == "IMAGE":
            raise rules.NOT_SIMULATED.broken(what="images in Retrieve")
        guard = self.screening.requested(parameters)
        text = query.get("text") or ""
        configuration = parameters.get("retrievalConfiguration") or {}
        self._check(home, text, configuration)
        start = start_of(parameters, clock=self.clock)
        verdict = guard.judge(text, Side.INPUT) if guard else None
        hits = [] if verdict and verdict.blocked else self._hits(home, text, configuration)
        shown = managed_result if is_managed(home) else partial(reference, own_keys=self.own_keys)
        page = _page([{**shown(hit), "score": hit.score} for hit in hits[start:]])
        more, end = {}, start + len(page)
        if end < len(hits):
            token = token_for(parameters, end, clock=self.clock)
            more = {"nextToken": token}
        return {"retrievalResults": page, **more, **action_of(verdict)}

    def _check(self, home: Row, text: str, configuration: dict[str, Any]) -> None:
        """Raise ServiceError for a request that AWS refuses."""
        if is_managed(home):
            self._check_managed(text, configuration)
            return
        if not text.strip() or len(text) > rules.QUERY_LENGTH.limit:
            raise rules.QUERY_LENGTH.broken()
        if configuration.get("managedSearchConfiguration"):
            raise rules.MODEL_MISMATCH.broken()
        search = configuration.get("vectorSearchConfiguration") or {}
        if search.get("overrideSearchType") == "HYBRID":
            raise rules.HYBRID_SEARCH.broken(knowledge_base=home["id"])
        condition = search.get("filter")
        if condition is not None:
            metadata_filters.check(condition, metadata_filters.S3_VECTORS)
        if search.get("implicitFilterConfiguration"):
            raise rules.NOT_SIMULATED.broken(what="implicit filters")
        if reranking := search.get("rerankingConfiguration"):
            self.reranking.check(reranking)

    def _hits(self, home: Row, text: str, configuration: dict[str, Any]) -> list[Hit]:
        """Return the best passages of a checked request, best first."""
        if is_managed(home):
            return self._managed_hits(home, text, configuration)
        index = index_of(self.store, home["id"])
        if index is None:
            raise rules.VECTOR_INDEX_MISSING.broken()
        denied = refusal_of_role(self.store, home["id"], "QueryVectors", "GetVectors")
        if denied is not None:
            raise denied
        search = configuration.get("vectorSearchConfiguration") or {}
        query = normalise(self.embedder.embed_question(text)[: index.dimension])
        limit = search.get("numberOfResults") or rules.DEFAULT_RESULTS.limit
        document_filter = metadata_filters.DocumentFilter(search.get("filter"), self.own_keys)
        found = self.vectors.search(home["id"], query, limit, document_filter)
        reranking = search.get("rerankingConfiguration")
        return self.reranking.reranked(text, found, reranking) if reranking else found

    def _check_managed(self, text: str, configuration: dict[str, Any]) -> None:
        """Raise ServiceError for a request that AWS refuses."""
        if configuration.get("vectorSearchConfiguration"):
            raise rules.VECTOR_SEARCH_ON_MANAGED.broken()
        if not text.strip():
            raise rules.MANAGED_QUERY_EMPTY.broken()
        if len(text) > rules.MANAGED_QUERY_LENGTH.limit:
            raise rules.MANAGED_QUERY_LENGTH.broken()
        search = configuration.get("managedSearchConfiguration") or {}
        if search.get("filter") is not None:
            metadata_filters.check(search["filter"], metadata_filters.MANAGED)
        chosen = search.get("rerankingModelType")
        reranking = search.get("rerankingConfiguration")
        if (chosen == "CUSTOM") != bool(reranking):
            raise rules.MANAGED_RERANKING_CUSTOM.broken()
        if reranking:
            self.reranking.check(reranking)

    def _managed_hits(self, home: Row, text: str, configuration: dict[str, Any]) -> list[Hit]:
        """Return the best passages of a checked request, best first."""
        search = configuration.get("managedSearchConfiguration") or {}
        document_filter = metadata_filters.DocumentFilter(search.get("filter"), own_keys=OF_MANAGED)
        meaning = normalise(self.embedder.embed_question(text))
        near = self.vectors.search(home["id"], meaning, _CANDIDATES, document_filter)
        limit = search.get("numberOfResults") or rules.DEFAULT_RESULTS.limit
        found = with_words(text, near)[:limit]  # rule managed.hybrid
        if reranking := search.get("rerankingConfiguration"):
            return self.reranking.reranked(text, found, reranking)
        return _scale_scores(found) if search.get("rerankingModelType") == "NONE" else found


def reference(hit: Hit, own_keys: OwnKeys) -> dict[str, Any]:
    """Return a passage as Retrieve shows it; S3 Vectors has no page key."""
    return _result(hit, own_keys.of_vector(hit.owner, hit.key))


def managed_result(hit: Hit) -> dict[str, Any]:
    """Return a passage of a managed knowledge base: rule managed.document-id."""
    return {**_result(hit, OF_MANAGED.of(hit.owner)), "documentId": hit.owner[1]}


def _result(hit: Hit, own_keys: Mapping[str, Value]) -> dict[str, Any]:
    identifier = hit.owner[1]
    location: dict[str, Any] = {"type": "CUSTOM", "customDocumentLocation": {"id": identifier}}
    if identifier.startswith("s3://"):
        location = {"type": "S3", "s3Location": {"uri": identifier}}
    return {
        "content": {"type": "TEXT", "text": hit.text},
        "location": location,
        "metadata": {**hit.attributes, **own_keys},
    }


def _page(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first results that fit in one response, at least one."""
    page: list[dict[str, Any]] = []
    size = 0
    for result in results:
        size += len(dumped(result).encode())
        if page and size > rules.RETRIEVE_PAGE.limit:
            break
        page.append(result)
    return page
