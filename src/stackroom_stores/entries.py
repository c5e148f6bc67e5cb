"""
A knowledge base's settings, and how it is built from them: what all stores have in common.

Linked to an agent, it is an entry of KNOWLEDGE_BASES_CONFIG, whose field names are a contract with
its writers (stackroom_constructs). A store's own settings derive from `LinkedSettings` and add what
it needs; those of a store that is searched without Bedrock's Retrieve, from `OwnStoreSettings`.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

import pydantic
from pydantic import ConfigDict, Field, StringConstraints, model_validator

from stackroom.access.tenancy import CATALOG, STORE_PREFIX, USER
from stackroom.aws.bedrock import configured_filters
from stackroom.aws.bedrock.guardrail import Guardrail
from stackroom.aws.bedrock.retrieve_options import Entry, OwnRerankingSettings, Results, Said
from stackroom.errors import SearchRefused
from stackroom.model.filters import Filter, Has, Lists

if TYPE_CHECKING:
    from stackroom.aws.bedrock.question_embeddings import QuestionEmbeddings
    from stackroom.model.passages import KnowledgeBase

Clients = Callable[[str], Any]  # makes a service's boto3 client

# The tool that serves every knowledge base without a tool of its own.
DEFAULT_TOOL: Final = "retrieve_from_knowledge_base"

Score = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
# GuardrailConfiguration in the API model of bedrock-agent-runtime (botocore 1.44.5)
_GuardrailId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{1,64}$")]
_GuardrailVersion = Annotated[str, StringConstraints(pattern=r"^([1-9][0-9]{0,4}|DRAFT)$")]


def embedding_of(model: str, dimensions: int) -> str:
    return f"{model}, {dimensions} dimensions"


class LinkedSettings(Entry):
    """
    A knowledge base that `retrieve_from_knowledge_base` searches.

    Ranges are those of Bedrock's Retrieve, for other stores, too.
    """

    knowledge_base_id: Said
    name: Said
    description: Said
    number_of_results: Results = 5
    retrieval_filter: Mapping[str, Any] | None = None
    enable_acl: Annotated[bool, Field(strict=True)] = False
    acl_metadata_field: Annotated[str, Field(min_length=1, max_length=100)] = "allowed_groups"
    guardrail_id: _GuardrailId | None = None
    guardrail_version: _GuardrailVersion = "DRAFT"
    vector_store_type: str = "S3_VECTORS"
    override_search_type: Literal["HYBRID", "SEMANTIC"] | None = None
    min_score: Score | None = None
    retrieval_tool: Literal["retrieve_from_knowledge_base"] = DEFAULT_TOOL

    @pydantic.field_validator("acl_metadata_field")
    @classmethod
    def _is_free(cls, name: str) -> str:
        if not name.strip():
            raise ValueError("must not be blank")
        if name.strip().casefold().startswith(STORE_PREFIX) or name in (USER, CATALOG):
            raise ValueError(
                f"{name!r} is reserved; allowed: any other name of an attribute, but for"
                f" {USER}, {CATALOG} and what begins with {STORE_PREFIX}"
            )
        return name

    @model_validator(mode="after")
    def _has_a_filter(self) -> Self:
        if self.retrieval_filter is not None:
            try:
                configured_filters.check(
                    self.retrieval_filter, store=self.vector_store_type, is_narrowed=self.enable_acl
                )
            except ValueError as error:
                raise ValueError(f"retrievalFilter {error}") from None
        return self

    @property
    def fixed_filter(self) -> Filter | None:
        """The filter of every search, in terms of stackroom.model.filters."""
        if self.retrieval_filter is None:
            return None
        return configured_filters.parsed(self.retrieval_filter)

    @property
    def groups_in(self) -> str | None:
        """The attribute that names the groups that may read a document; None if everyone may."""
        return self.acl_metadata_field if self.enable_acl else None

    @property
    def owner_in(self) -> str | None:
        """The attribute that names the one user who may read a document; None if others may."""
        return None

    @property
    def embedding(self) -> str | None:
        """The documents' embedding, its model and dimensions; None if unknown."""
        return None

    @property
    def guardrail(self) -> Guardrail | None:
        if self.guardrail_id is None:
            return None
        return Guardrail(id=self.guardrail_id, version=self.guardrail_version)

    @abstractmethod
    def knowledge_base(self, client: Clients, embeddings: "QuestionEmbeddings") -> "KnowledgeBase":
        """
        Return the knowledge base; its adapter and its store's client library are imported here.
        """


class ToolsOwnSettings(Entry):
    """An entry with a tool of its own, whose author decides everything but the prompt."""

    model_config = ConfigDict(extra="allow")

    knowledge_base_id: Said
    name: Said
    description: Said
    retrieval_tool: Said


# What BedrockEmbeddings can ask, and how long the vectors are that it makes.
# https://docs.aws.amazon.com/bedrock/latest/userguide/titan-embedding-models.html
_TITAN = "amazon.titan-embed-text-v2:0"
_DIMENSIONS = (256, 512, 1024)


class OwnStoreSettings(LinkedSettings):
    """
    A store that is searched without Bedrock's Retrieve.

    `tenancy` is required, since only its owner knows what is in such a store. With `shared`,
    everyone who may ask the agent may read every document; with `user`, each document has one
    owner, whose id is the attribute `tenant_key`. The question is embedded like the documents, by
    model and dimensions.
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
        """
        Refuse a filter that the store can't express when it is read, not at the first question.
        """
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

    def knowledge_base(self, client: Clients, embeddings: "QuestionEmbeddings") -> "KnowledgeBase":
        """Return the store's adapter with the steps that Bedrock adds to a search."""
        found = self.searched(client, embeddings)
        if self.fixed_filter is not None:
            from stackroom.search.wrappers import Narrowed

            found = Narrowed(found, self.fixed_filter)
        if self.guardrail is not None:
            from stackroom.aws.bedrock.question_guard import QuestionGuard
            from stackroom.search.wrappers import Guarded

            guard = QuestionGuard(client=client("embeddings"), guardrail=self.guardrail)
            found = Guarded(found, guard.lets_through)
        if self.reranking is not None:
            from stackroom.aws.bedrock.bedrock_reranking import BedrockReranker
            from stackroom.search.wrappers import Reranked

            chosen, runtime = self.reranking, client("bedrock-agent-runtime")
            reranker = BedrockReranker(runtime, model_arn=chosen.model_arn)
            found = Reranked(found, reranker, most=chosen.number_of_reranked_results)
        return found

    @abstractmethod
    def searched(self, client: Clients, embeddings: "QuestionEmbeddings") -> "KnowledgeBase":
        """Return the store's adapter alone."""

    @abstractmethod
    def check(self, condition: Filter) -> None:
        """Raise SearchRefused for a filter that the store can't express."""

    @property
    def owner_in(self) -> str | None:
        return self.tenant_key if self.tenancy == "user" else None
