"""
The composition of a search over linked knowledge bases, for whoever runs an agent.

    linked_retrieval(linked_settings(os.environ["KNOWLEDGE_BASES_CONFIG"]), session.client)

Another store is an adapter of `ports.retrieval.KnowledgeBase`, a function here that makes it of its
settings, and a line in the table; its settings stand in linked_settings. An adapter is imported
when its first knowledge base is made: with it comes whatever it reaches its store by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stackroom.aws.bedrock.question_embeddings import QuestionEmbeddings
from stackroom.retrieval.linked_retrieval import LinkedKnowledgeBase, LinkedRetrieval
from stackroom.retrieval.search_arguments import DEFAULT_BUDGET, Budget
from stackroom.retrieval.wrappers import Coalesced
from stackroom.stores.bedrock.bedrock_entry import BedrockSettings
from stackroom.stores.entries import LinkedSettings
from stackroom.stores.opensearch.opensearch_entry import OpenSearchSettings
from stackroom.stores.own_store_entries import OwnStoreSettings
from stackroom.stores.pgvector.pgvector_entry import PgvectorSettings
from stackroom.stores.s3vectors.s3vectors_entry import VectorIndexSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from stackroom.ports.retrieval import KnowledgeBase
    from stackroom.stores.store_registry import AnyLinkedSettings

    Clients = Callable[[str], Any]


def linked_retrieval(
    settings: Iterable[AnyLinkedSettings], client: Clients, *, budget: Budget = DEFAULT_BUDGET
) -> LinkedRetrieval:
    """Of those that have no tool of their own; `client` makes a service's boto3 client."""
    embeddings = QuestionEmbeddings(client)
    return LinkedRetrieval(
        linked=tuple(
            _linked(each, client, embeddings)
            for each in settings
            if isinstance(each, LinkedSettings)
        ),
        budget=budget,
    )


def _linked(
    settings: LinkedSettings, client: Clients, embeddings: QuestionEmbeddings
) -> LinkedKnowledgeBase:
    return LinkedKnowledgeBase(
        knowledge_base_id=settings.knowledge_base_id,
        knowledge_base=Coalesced(_knowledge_base(settings, client, embeddings)),
        limit=settings.number_of_results,
        min_score=settings.min_score,
        groups_in=settings.groups_in,
        owner_in=settings.owner_in,
        embedding=settings.embedding,
    )


def _knowledge_base(
    settings: LinkedSettings, client: Clients, embeddings: QuestionEmbeddings
) -> KnowledgeBase:
    if isinstance(settings, OwnStoreSettings):
        made = _OWN_STORES[type(settings)](settings, client, embeddings)
        return _as_bedrock_would(made, settings, client)
    assert isinstance(settings, BedrockSettings), "the others are stores of our own"
    return _by_retrieve(settings, client)


def _as_bedrock_would(
    knowledge_base: KnowledgeBase, settings: OwnStoreSettings, client: Clients
) -> KnowledgeBase:
    """What Bedrock does beside searching, for a store that does nothing else."""
    if settings.fixed_filter is not None:
        from stackroom.retrieval.wrappers import Narrowed

        knowledge_base = Narrowed(knowledge_base, settings.fixed_filter)
    if settings.guardrail is not None:
        from stackroom.aws.bedrock.question_guard import QuestionGuard
        from stackroom.retrieval.wrappers import Guarded

        guard = QuestionGuard(client=client("embeddings"), guardrail=settings.guardrail)
        knowledge_base = Guarded(knowledge_base, guard.lets_through)
    if settings.reranking is not None:
        from stackroom.aws.bedrock.bedrock_reranking import BedrockReranker
        from stackroom.retrieval.wrappers import Reranked

        reranker = BedrockReranker(
            client("bedrock-agent-runtime"), model_arn=settings.reranking.model_arn
        )
        most = settings.reranking.number_of_reranked_results
        knowledge_base = Reranked(knowledge_base, reranker, most=most)
    return knowledge_base


def _by_retrieve(settings: BedrockSettings, client: Clients) -> KnowledgeBase:
    from stackroom.stores.bedrock.bedrock_adapter import BedrockKnowledgeBase

    return BedrockKnowledgeBase(
        client("bedrock-agent-runtime"),
        settings.knowledge_base_id,
        guardrail=settings.guardrail,
        options=settings.options,
    )


# ARG001: every store is handed the same; opensearch-py signs with the session's credentials.
def _in_opensearch(
    settings: OwnStoreSettings,
    client: Clients,  # noqa: ARG001
    embeddings: QuestionEmbeddings,
) -> KnowledgeBase:
    from stackroom.aws import session
    from stackroom.ports.retrieval import Search
    from stackroom.stores.opensearch.collection import Collection
    from stackroom.stores.opensearch.opensearch_adapter import OpenSearchKnowledgeBase

    assert isinstance(settings, OpenSearchSettings), "it is asked for these alone"
    is_hybrid = settings.override_search_type == "HYBRID"
    return OpenSearchKnowledgeBase(
        Collection(
            settings.collection_endpoint,
            credentials=session.credentials(),
            region=session.region(),
        ),
        settings.index_name,
        embeddings=embeddings.of(settings.embedding_model, settings.embedding_dimensions),
        fields=settings.fields,
        search=Search.HYBRID if is_hybrid else Search.SEMANTIC,
    )


def _by_query_vectors(
    settings: OwnStoreSettings, client: Clients, embeddings: QuestionEmbeddings
) -> KnowledgeBase:
    from stackroom.ports.retrieval import Search
    from stackroom.stores.s3vectors.index_watch import IndexWatch
    from stackroom.stores.s3vectors.s3vectors_adapter import S3VectorsKnowledgeBase
    from stackroom.stores.s3vectors.vector_passages import VectorReading

    assert isinstance(settings, VectorIndexSettings), "it is asked for these alone"
    vectors = client("s3vectors")
    by_meaning = settings.override_search_type == "SEMANTIC"
    search = Search.SEMANTIC if by_meaning else Search.HYBRID
    return S3VectorsKnowledgeBase(
        vectors,
        settings.index_arn,
        watch=IndexWatch(
            vectors,
            settings.index_arn,
            search=search,
            dimensions=settings.embedding_dimensions,
            text_key=settings.text_key,
            metrics=("cosine", "euclidean"),
        ),
        embeddings=embeddings.of(settings.embedding_model, settings.embedding_dimensions),
        search=search,
        reading=VectorReading(text_key=settings.text_key, source_key=settings.source_key),
    )


def _in_postgresql(
    settings: OwnStoreSettings, client: Clients, embeddings: QuestionEmbeddings
) -> KnowledgeBase:
    from stackroom.stores.pgvector.pgvector_composition import knowledge_base

    assert isinstance(settings, PgvectorSettings), "it is asked for these alone"
    return knowledge_base(settings, client, embeddings)


_OWN_STORES: Mapping[
    type[OwnStoreSettings],
    Callable[[OwnStoreSettings, Clients, QuestionEmbeddings], KnowledgeBase],
] = {
    OpenSearchSettings: _in_opensearch,
    PgvectorSettings: _in_postgresql,
    VectorIndexSettings: _by_query_vectors,
}
