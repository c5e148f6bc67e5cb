"""The settings of a knowledge base of Bedrock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

import pydantic
from pydantic import Field, model_validator

from stackroom.aws.bedrock.retrieve_options import (
    ImplicitFilterSettings,
    RerankingSettings,
    RetrieveOptions,
    Said,
)
from stackroom_stores.entries import Clients, LinkedSettings, embedding_of

if TYPE_CHECKING:
    from stackroom.aws.bedrock.question_embeddings import QuestionEmbeddings
    from stackroom.model.passages import KnowledgeBase

STANDS_ON = ("S3_VECTORS", "OPENSEARCH_SERVERLESS", "RDS", "MANAGED")


class BedrockSettings(LinkedSettings):
    """
    A knowledge base that Bedrock's Retrieve searches, whatever its vector store.

    `managed_reranking` chooses a MANAGED knowledge base's reranker: its service's own model, or
    none. `embedding_model` and `embedding_dimensions` describe how it was made; Bedrock embeds the
    question.
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
        from stackroom.aws.bedrock.bedrock_adapter import BedrockKnowledgeBase

        return BedrockKnowledgeBase(
            client("bedrock-agent-runtime"),
            self.knowledge_base_id,
            guardrail=self.guardrail,
            options=self.options,
        )
