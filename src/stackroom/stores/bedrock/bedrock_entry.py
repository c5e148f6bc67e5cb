"""The settings of a knowledge base of Bedrock's, and how those of the pool are searched."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated, Literal, Self

import pydantic
from pydantic import Field, model_validator

from stackroom.runs.capacity import INDEX_QUERIES, MANAGED_RETRIEVES, RETRIEVES
from stackroom.stores.bedrock.retrieve_options import (
    ImplicitFilterSettings,
    RerankingSettings,
    RetrieveOptions,
)
from stackroom.stores.entries import Clients, LinkedSettings, PoolSearch, Said, embedding_of

if TYPE_CHECKING:
    from stackroom.aws.bedrock.question_embeddings import QuestionEmbeddings
    from stackroom.model.passages import KnowledgeBase
    from stackroom.model.records import PoolMember

logger = logging.getLogger(__name__)

STANDS_ON = ("S3_VECTORS", "OPENSEARCH_SERVERLESS", "RDS", "MANAGED")


class BedrockSettings(LinkedSettings):
    """
    A knowledge base that Bedrock's Retrieve searches, whatever it stands on.

    `managed_reranking` is of a MANAGED knowledge base: its service's own model, or none.

    `embedding_model` and `embedding_dimensions` are said of a knowledge base that is made with
    them; Bedrock embeds the question.
    """

    embedding_model: Said | None = None
    embedding_dimensions: Annotated[int, Field(strict=True, ge=1, le=4096)] | None = None
    reranking: RerankingSettings | None = None
    managed_reranking: Literal["MANAGED", "NONE"] | None = None
    implicit_filter: ImplicitFilterSettings | None = None

    @pydantic.field_validator("vector_store_type")
    @classmethod
    def _is_known(cls, store: str) -> str:
        if store not in STANDS_ON:
            raise ValueError(f"{store!r} is no known store; allowed: {', '.join(STANDS_ON)}")
        return store

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.override_search_type == "HYBRID" and self.vector_store_type == "S3_VECTORS":
            raise ValueError("overrideSearchType HYBRID is not for S3_VECTORS; allowed: SEMANTIC")
        is_managed = self.vector_store_type == "MANAGED"
        if self.managed_reranking is not None and not is_managed:
            raise ValueError(
                f"managedReranking must be left out with {self.vector_store_type}; it is for"
                " MANAGED alone"
            )
        if self.managed_reranking is not None and self.reranking is not None:
            raise ValueError("managedReranking must be left out beside reranking")
        if is_managed:
            for member, chosen in (
                ("overrideSearchType", self.override_search_type),
                ("implicitFilter", self.implicit_filter),
            ):
                if chosen is not None:
                    raise ValueError(f"{member} must be left out with MANAGED, which takes none")
        return self

    @property
    def embedding(self) -> str | None:
        if self.embedding_model is None or self.embedding_dimensions is None:
            return None
        return embedding_of(self.embedding_model, self.embedding_dimensions)

    @property
    def options(self) -> RetrieveOptions:
        return RetrieveOptions(
            search_type=self.override_search_type,
            fixed_filter=self.fixed_filter,
            reranking=self.reranking,
            implicit_filter=self.implicit_filter,
            is_managed=self.vector_store_type == "MANAGED",
            managed_reranking=self.managed_reranking,
            has_cosine_scores=self.vector_store_type == "S3_VECTORS",
        )

    def knowledge_base(
        self,
        client: Clients,
        embeddings: QuestionEmbeddings,  # noqa: ARG002 - Bedrock embeds the question
    ) -> KnowledgeBase:
        from stackroom.stores.bedrock.bedrock_adapter import BedrockKnowledgeBase

        return BedrockKnowledgeBase(
            client("bedrock-agent-runtime"),
            self.knowledge_base_id,
            guardrail=self.guardrail,
            options=self.options,
        )

    @classmethod
    def of_pool(cls, member: PoolMember, search: PoolSearch) -> KnowledgeBase:
        """
        For who searches for somebody, as the deployment says. Whoever only looks whether something
        is found asks the index itself, or Bedrock's Retrieve where no index is known: a MANAGED one
        has none.
        """
        index = None if member.is_managed else member.index
        if search.via is None and index is not None:
            from stackroom.stores.s3vectors.index_presence import IndexPresence

            return IndexPresence(search.client("s3vectors"), index)
        if search.via is None:
            return _retrieve(member, search)
        found = _paced_retrieve(member, search)
        if search.via == "s3vectors" and index is not None:
            found = _query_vectors(index, search, fallback=found)
        elif search.via == "s3vectors" and not member.is_managed:
            logger.warning(
                "%r is searched through Retrieve: no index in KB_POOL", member.knowledge_base_id
            )
        return _for_somebody(found, search)

    @classmethod
    def documents_at_once(cls, member: PoolMember) -> int:
        if member.is_managed or member.index is None:
            return super().documents_at_once(member)
        from stackroom.stores.s3vectors.index_presence import AT_ONCE

        return AT_ONCE


def _paced_retrieve(member: PoolMember, search: PoolSearch) -> KnowledgeBase:
    from stackroom.search.rate_limiter import Paced

    operation, per_second = "Retrieve", RETRIEVES
    if member.is_managed:  # a rate of its own
        operation = f"Retrieve of {member.knowledge_base_id}"
        per_second = MANAGED_RETRIEVES
    found = _retrieve(member, search, client="searches")
    return Paced(found, search.token_bucket(operation, per_second), repeats_failures=True)


def _retrieve(
    member: PoolMember, search: PoolSearch, *, client: str = "bedrock-agent-runtime"
) -> KnowledgeBase:
    from stackroom.stores.bedrock.bedrock_adapter import BedrockKnowledgeBase

    return BedrockKnowledgeBase(
        search.client(client),
        member.knowledge_base_id,
        first_page=search.first_page,
        guardrail=search.guardrail,
        options=RetrieveOptions(is_managed=member.is_managed),
    )


def _query_vectors(index: str, search: PoolSearch, *, fallback: KnowledgeBase) -> KnowledgeBase:
    from stackroom.aws.bedrock.question_guard import QuestionGuard
    from stackroom.search.rate_limiter import Paced
    from stackroom.stores.s3vectors.s3vectors_adapter import S3VectorsKnowledgeBase
    from stackroom.stores.s3vectors.vector_passages import VectorReading

    guard = None
    if search.guardrail is not None:
        guard = QuestionGuard(client=search.client("embeddings"), guardrail=search.guardrail)
    found = S3VectorsKnowledgeBase(
        search.client("s3vectors"),
        index,
        embeddings=search.embeddings(),
        fallback=fallback,
        reading=VectorReading(first_page=search.first_page),
        lets_through=guard.lets_through if guard else None,
    )
    return Paced(found, search.token_bucket("QueryVectors", INDEX_QUERIES))


def _for_somebody(found: KnowledgeBase, search: PoolSearch) -> KnowledgeBase:
    """Reranked by the model that whoever deploys has chosen, if any."""
    if search.rerank_model_arn is None:
        return found
    from stackroom.aws.bedrock.bedrock_reranking import BedrockReranker
    from stackroom.search.wrappers import Reranked

    client = search.client("bedrock-agent-runtime")
    return Reranked(found, BedrockReranker(client, model_arn=search.rerank_model_arn))
