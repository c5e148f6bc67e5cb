"""
An entry of KNOWLEDGE_BASES_CONFIG, which stackroom.aws.linked_settings reads.

The names of the members are a contract with whoever writes them (stackroom_constructs does).
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

import pydantic
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from stackroom.aws import linked_filters
from stackroom.aws.guardrail import Guardrail
from stackroom.aws.retrieve_models import Attribute, ImplicitFilter, Reranking
from stackroom.aws.retrieve_options import RetrieveOptions
from stackroom.tenancy import CATALOG, STORE_PREFIX, USER

# The tool that serves every knowledge base without a tool of its own.
DEFAULT_TOOL: Final = "retrieve_from_knowledge_base"
# What Bedrock's Retrieve searches, whatever it stands on.
STORES = ("S3_VECTORS", "OPENSEARCH_SERVERLESS", "RDS", "MANAGED")

_Said = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
# GuardrailConfiguration in the API model of bedrock-agent-runtime, botocore 1.44.5.
_GuardrailId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{1,64}$")]
_GuardrailVersion = Annotated[str, StringConstraints(pattern=r"^([1-9][0-9]{0,4}|DRAFT)$")]


class _Entry(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, hide_input_in_errors=True
    )


class RerankingSettings(_Entry):
    model_arn: _Said
    number_of_reranked_results: Annotated[int, Field(strict=True, ge=1, le=100)] | None = None
    reads_attributes: Annotated[bool, Field(strict=True)] = False
    fields_to_include: tuple[_Said, ...] = ()
    fields_to_exclude: tuple[_Said, ...] = ()
    additional_model_request_fields: Mapping[str, Any] | None = None


class AttributeSettings(_Entry):
    key: _Said
    type: Literal["STRING", "NUMBER", "BOOLEAN", "STRING_LIST"]
    description: _Said


class ImplicitFilterSettings(_Entry):
    model_arn: _Said
    metadata_attributes: Annotated[
        tuple[AttributeSettings, ...], Field(min_length=1, max_length=25)
    ]


class LinkedSettings(_Entry):
    """
    An entry that `retrieve_from_knowledge_base` serves.

    Ranges are those of Bedrock's Retrieve [API model of bedrock-agent-runtime, botocore 1.44.5].
    """

    knowledge_base_id: _Said
    name: _Said
    description: _Said
    number_of_results: Annotated[int, Field(strict=True, ge=1, le=100)] = 5
    retrieval_filter: Mapping[str, Any] | None = None
    enable_acl: Annotated[bool, Field(strict=True)] = False
    acl_metadata_field: Annotated[str, Field(min_length=1, max_length=100)] = "allowed_groups"
    guardrail_id: _GuardrailId | None = None
    guardrail_version: _GuardrailVersion = "DRAFT"
    vector_store_type: str = "S3_VECTORS"
    override_search_type: Literal["HYBRID", "SEMANTIC"] | None = None
    min_score: Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)] | None = None
    reranking: RerankingSettings | None = None
    implicit_filter: ImplicitFilterSettings | None = None
    retrieval_tool: Literal["retrieve_from_knowledge_base"] = DEFAULT_TOOL

    @pydantic.field_validator("vector_store_type")
    @classmethod
    def _is_known(cls, store: str) -> str:
        if store not in STORES:
            raise ValueError(f"{store!r} is no known store; allowed: {', '.join(STORES)}")
        return store

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
    def _fits_together(self) -> Self:
        if self.override_search_type == "HYBRID" and self.vector_store_type == "S3_VECTORS":
            raise ValueError("overrideSearchType HYBRID is not for S3_VECTORS; allowed: SEMANTIC")
        if self.vector_store_type == "MANAGED":
            for member, chosen in (
                ("overrideSearchType", self.override_search_type),
                ("implicitFilter", self.implicit_filter),
            ):
                if chosen is not None:
                    raise ValueError(f"{member} must be left out with MANAGED, which takes none")
        if self.retrieval_filter is not None:
            try:
                linked_filters.checked(
                    self.retrieval_filter,
                    store=self.vector_store_type,
                    is_narrowed=self.enable_acl,
                )
            except ValueError as error:
                raise ValueError(f"retrievalFilter {error}") from None
        _ = self.options  # which knows what goes together
        return self

    @property
    def groups_in(self) -> str | None:
        """The attribute that names the groups that may read a document; None if everyone may."""
        return self.acl_metadata_field if self.enable_acl else None

    @property
    def guardrail(self) -> Guardrail | None:
        if self.guardrail_id is None:
            return None
        return Guardrail(id=self.guardrail_id, version=self.guardrail_version)

    @property
    def options(self) -> RetrieveOptions:
        """Raises ValueError for what doesn't go together."""
        return RetrieveOptions(
            search_type=self.override_search_type,
            fixed_filter=self.retrieval_filter,
            reranking=_reranking(self.reranking),
            implicit_filter=_implicit_filter(self.implicit_filter),
            is_managed=self.vector_store_type == "MANAGED",
            has_cosine_scores=self.vector_store_type == "S3_VECTORS",
        )


class ToolsOwnSettings(_Entry):
    """An entry that a tool of its own serves, by whoever made it: all but the prompt is theirs."""

    model_config = ConfigDict(extra="allow")

    knowledge_base_id: _Said
    name: _Said
    description: _Said
    retrieval_tool: _Said


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
