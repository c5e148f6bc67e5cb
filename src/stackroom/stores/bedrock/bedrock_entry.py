"""An entry of KNOWLEDGE_BASES_CONFIG that Bedrock's Retrieve searches, whatever it stands on."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

import pydantic
from pydantic import Field, model_validator

from stackroom.stores.bedrock.retrieve_models import Attribute, ImplicitFilter, Reranking
from stackroom.stores.bedrock.retrieve_options import RetrieveOptions
from stackroom.stores.entries import Entry, LinkedSettings, Said, embedding_of

STORES = ("S3_VECTORS", "OPENSEARCH_SERVERLESS", "RDS", "MANAGED")


class RerankingSettings(Entry):
    model_arn: Said
    number_of_reranked_results: Annotated[int, Field(strict=True, ge=1, le=100)] | None = None
    reads_attributes: Annotated[bool, Field(strict=True)] = False
    fields_to_include: tuple[Said, ...] = ()
    fields_to_exclude: tuple[Said, ...] = ()
    additional_model_request_fields: Mapping[str, Any] | None = None


class AttributeSettings(Entry):
    key: Said
    type: Literal["STRING", "NUMBER", "BOOLEAN", "STRING_LIST"]
    description: Said


class ImplicitFilterSettings(Entry):
    model_arn: Said
    metadata_attributes: Annotated[
        tuple[AttributeSettings, ...], Field(min_length=1, max_length=25)
    ]


class BedrockSettings(LinkedSettings):
    """
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
        if store not in STORES:
            raise ValueError(f"{store!r} is no known store; allowed: {', '.join(STORES)}")
        return store

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.override_search_type == "HYBRID" and self.vector_store_type == "S3_VECTORS":
            raise ValueError("overrideSearchType HYBRID is not for S3_VECTORS; allowed: SEMANTIC")
        if self.managed_reranking is not None:
            self._check_managed_reranking()
        if self.vector_store_type == "MANAGED":
            for member, chosen in (
                ("overrideSearchType", self.override_search_type),
                ("implicitFilter", self.implicit_filter),
            ):
                if chosen is not None:
                    raise ValueError(f"{member} must be left out with MANAGED, which takes none")
        _ = self.options  # which knows what goes together
        return self

    def _check_managed_reranking(self) -> None:
        if self.vector_store_type != "MANAGED":
            raise ValueError(
                f"managedReranking must be left out with {self.vector_store_type}; it is for"
                " MANAGED alone"
            )
        if self.reranking is not None:
            raise ValueError("managedReranking must be left out beside reranking")

    @property
    def embedding(self) -> str | None:
        if self.embedding_model is None or self.embedding_dimensions is None:
            return None
        return embedding_of(self.embedding_model, self.embedding_dimensions)

    @property
    def options(self) -> RetrieveOptions:
        """Raises ValueError for what doesn't go together."""
        return RetrieveOptions(
            search_type=self.override_search_type,
            fixed_filter=self.retrieval_filter,
            reranking=_reranking(self.reranking),
            implicit_filter=_implicit_filter(self.implicit_filter),
            is_managed=self.vector_store_type == "MANAGED",
            managed_reranking=self.managed_reranking,
            has_cosine_scores=self.vector_store_type == "S3_VECTORS",
        )


def _reranking(chosen: RerankingSettings | None) -> Reranking | None:
    if chosen is None:
        return None
    return Reranking(
        model_arn=chosen.model_arn,
        number_of_reranked_results=chosen.number_of_reranked_results,
        reads_attributes=chosen.reads_attributes,
        fields_to_include=chosen.fields_to_include,
        fields_to_exclude=chosen.fields_to_exclude,
        model_fields=chosen.additional_model_request_fields,
    )


def _implicit_filter(chosen: ImplicitFilterSettings | None) -> ImplicitFilter | None:
    if chosen is None:
        return None
    attributes = [
        Attribute(key=each.key, type=each.type, description=each.description)
        for each in chosen.metadata_attributes
    ]
    return ImplicitFilter(model_arn=chosen.model_arn, attributes=attributes)
