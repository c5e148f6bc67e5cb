"""
An entry of KNOWLEDGE_BASES_CONFIG, which stackroom.stores.store_registry reads.

The names of the members are a contract with whoever writes them (stackroom_constructs does). What
all stores have in common stands here; what one needs beside it, with its store.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

import pydantic
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic.alias_generators import to_camel

from stackroom.aws.bedrock.guardrail import Guardrail
from stackroom.stores import linked_filters
from stackroom.tenancy import CATALOG, STORE_PREFIX, USER

# The tool that serves every knowledge base without a tool of its own.
DEFAULT_TOOL: Final = "retrieve_from_knowledge_base"

Said = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
# GuardrailConfiguration in the API model of bedrock-agent-runtime, botocore 1.44.5.
_GuardrailId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{1,64}$")]
_GuardrailVersion = Annotated[str, StringConstraints(pattern=r"^([1-9][0-9]{0,4}|DRAFT)$")]


class Entry(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, hide_input_in_errors=True
    )


def embedding_of(model: str, dimensions: int) -> str:
    return f"{model}, {dimensions} dimensions"


class LinkedSettings(Entry):
    """
    An entry that `retrieve_from_knowledge_base` serves.

    Ranges are those of Bedrock's Retrieve [API model of bedrock-agent-runtime, botocore 1.44.5],
    for other stores, too.
    """

    knowledge_base_id: Said
    name: Said
    description: Said
    number_of_results: Annotated[int, Field(strict=True, ge=1, le=100)] = 5
    retrieval_filter: Mapping[str, Any] | None = None
    enable_acl: Annotated[bool, Field(strict=True)] = False
    acl_metadata_field: Annotated[str, Field(min_length=1, max_length=100)] = "allowed_groups"
    guardrail_id: _GuardrailId | None = None
    guardrail_version: _GuardrailVersion = "DRAFT"
    vector_store_type: str = "S3_VECTORS"
    override_search_type: Literal["HYBRID", "SEMANTIC"] | None = None
    min_score: Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)] | None = None
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
                linked_filters.checked(
                    self.retrieval_filter,
                    store=self.vector_store_type,
                    is_narrowed=self.enable_acl,
                )
            except ValueError as error:
                raise ValueError(f"retrievalFilter {error}") from None
        return self

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
        """What the documents were embedded with, model and length of vectors; None if unknown."""
        return None

    @property
    def guardrail(self) -> Guardrail | None:
        if self.guardrail_id is None:
            return None
        return Guardrail(id=self.guardrail_id, version=self.guardrail_version)


class ToolsOwnSettings(Entry):
    """An entry that a tool of its own serves, by whoever made it: all but the prompt is theirs."""

    model_config = ConfigDict(extra="allow")

    knowledge_base_id: Said
    name: Said
    description: Said
    retrieval_tool: Said
