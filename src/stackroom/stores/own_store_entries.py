"""
An entry of KNOWLEDGE_BASES_CONFIG whose store is searched itself, without Bedrock's Retrieve.

A store's own settings derive from `OwnStoreSettings` and say what the store needs beside them.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, Literal, Self

import pydantic
from pydantic import Field, model_validator

from stackroom.errors import SearchRefused
from stackroom.filters import Filter, Has, Lists
from stackroom.stores import fixed_filters
from stackroom.stores.entries import Entry, LinkedSettings, Said, embedding_of
from stackroom.tenancy import STORE_PREFIX, USER

# What stackroom.aws.bedrock.titan_embeddings can ask, and how long the vectors are that it makes.
# https://docs.aws.amazon.com/bedrock/latest/userguide/titan-embedding-models.html
_TITAN = "amazon.titan-embed-text-v2:0"
_DIMENSIONS = (256, 512, 1024)


class OwnRerankingSettings(Entry):
    """By Bedrock's Rerank, of what was found; the best `number_of_reranked_results` are kept."""

    model_arn: Said
    number_of_reranked_results: Annotated[int, Field(strict=True, ge=1, le=100)] | None = None


class OwnStoreSettings(LinkedSettings):
    """
    `tenancy` must be said, for nobody else knows what is in such a store: `shared` is for everyone
    who may ask the agent; of `user` each document is its owner's alone, whose id is the attribute
    `tenant_key`.

    The question is embedded with what the documents were: model and number of dimensions.
    """

    tenancy: Literal["shared", "user"]
    tenant_key: Annotated[str, Field(min_length=1, max_length=100)] = USER
    embedding_model: Said = _TITAN
    embedding_dimensions: Annotated[int, Field(strict=True, ge=1, le=4096)] = 1024
    reranking: OwnRerankingSettings | None = None

    @property
    def embedding(self) -> str:
        return embedding_of(self.embedding_model, self.embedding_dimensions)

    @pydantic.field_validator("tenant_key")
    @classmethod
    def _is_an_attribute(cls, name: str) -> str:
        if not name.strip() or name.strip().casefold().startswith(STORE_PREFIX):
            raise ValueError(
                f"{name!r} is no attribute that a document's owner stands in; allowed: any other"
                f" name that isn't blank and doesn't begin with {STORE_PREFIX}"
            )
        return name

    @pydantic.field_validator("embedding_model")
    @classmethod
    def _can_embed(cls, model: str) -> str:
        if model != _TITAN:
            raise ValueError(
                f"{model!r} is no model that questions are embedded by; allowed: {_TITAN}"
            )
        return model

    @pydantic.field_validator("embedding_dimensions")
    @classmethod
    def _is_made(cls, dimensions: int) -> int:
        if dimensions not in _DIMENSIONS:
            allowed = ", ".join(map(str, _DIMENSIONS))
            raise ValueError(f"{dimensions} is not what {_TITAN} makes; allowed: {allowed}")
        return dimensions

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        """What the store can't express is refused when it is read, not at the first question."""
        demanded: Mapping[str, Filter | None] = {
            "retrievalFilter": self.fixed_filter,
            "tenantKey": None if self.owner_in is None else Has(self.owner_in, ""),
            "aclMetadataField": None if self.groups_in is None else Lists(self.groups_in, ""),
        }
        for member, condition in demanded.items():
            try:
                if condition is not None:
                    self.check(condition)
            except SearchRefused as error:
                raise ValueError(
                    f"{member} can't be asked of {self.vector_store_type}: {error}"
                ) from None
        return self

    @abstractmethod
    def check(self, condition: Filter) -> None:
        """Raises SearchRefused for a filter that the store can't express."""
        raise NotImplementedError

    @property
    def fixed_filter(self) -> Filter | None:
        """What always holds, in the words of stackroom.filters."""
        if self.retrieval_filter is None:
            return None
        return fixed_filters.parsed(self.retrieval_filter)

    @property
    def owner_in(self) -> str | None:
        return self.tenant_key if self.tenancy == "user" else None
