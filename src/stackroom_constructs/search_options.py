"""
Options of searches in Bedrock knowledge bases.

Ranges are those of `Retrieve` [API model of bedrock-agent-runtime, botocore 1.44.5].
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct

from stackroom_constructs.argument_checks import (
    InvalidArgument,
    check_choice,
    check_flag,
    check_fraction,
    check_kind,
    check_range,
    check_text,
)
from stackroom_constructs.bedrock_model import BedrockModel, Right

_TYPES = ("STRING", "NUMBER", "BOOLEAN", "STRING_LIST")
_MAX_ATTRIBUTES = 25
_MAX_FIELDS = 100  # FieldsForReranking


@dataclass(frozen=True, kw_only=True)
class Reranking:
    """
    A model that reorders results by how well they answer the question.

    For Retrieve, the knowledge base's service role calls the model, not the agent: with
    `knowledge_base_id`, grant the role `bedrock:Rerank` on `*` and `bedrock:InvokeModel` on the
    model; with `create`, it has these rights.
    https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-prereq.html

    For a store that the agent searches itself, the agent calls the model, and has the rights. All
    arguments but `model` and `number_of_results` are for Retrieve.

    model: Such as `amazon.rerank-v1:0` or `cohere.rerank-v3-5:0`.
    number_of_results: How many to keep, 1 to 100.
    reads_attributes, fields_to_include, fields_to_exclude: With Retrieve: read all
        attributes beside the text, only these or all but these, at most 100.
    model_fields: With Retrieve: other request fields of the model.

    Raises InvalidArgument.
    """

    model: str
    number_of_results: int | None = None
    reads_attributes: bool = False
    fields_to_include: tuple[str, ...] = ()
    fields_to_exclude: tuple[str, ...] = ()
    model_fields: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        _check_model("Reranking", self.model)
        check_flag("Reranking", "reads_attributes", self.reads_attributes)
        for name in ("fields_to_include", "fields_to_exclude"):
            fields = getattr(self, name)
            if isinstance(fields, str) or len(fields) > _MAX_FIELDS:
                allowed = f"a tuple of at most {_MAX_FIELDS} names"
                raise InvalidArgument("Reranking", name, fields, allowed)
            for each in fields:
                check_text("Reranking", name, each)
        if self.fields_to_include and self.fields_to_exclude:
            allowed = "omitted with fields_to_include"
            raise InvalidArgument("Reranking", "fields_to_exclude", self.fields_to_exclude, allowed)
        if self.number_of_results is not None:
            check_range("Reranking", "number_of_results", self.number_of_results, 1, 100)

    @property
    def bedrock_model(self) -> BedrockModel:
        return BedrockModel.of(self.model)

    def configuration(self, scope: IConstruct) -> dict[str, Any]:
        options = {
            "numberOfRerankedResults": self.number_of_results,
            "readsAttributes": self.reads_attributes or None,
            "fieldsToInclude": list(self.fields_to_include) or None,
            "fieldsToExclude": list(self.fields_to_exclude) or None,
            "additionalModelRequestFields": dict(self.model_fields) if self.model_fields else None,
        }
        options = {name: each for name, each in options.items() if each is not None}
        return {"modelArn": self.bedrock_model.arn(scope), **options}

    def rights(self, scope: IConstruct) -> tuple[Right, ...]:
        """
        Return the rights to rerank.

        https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrock.html
        """
        because = "The action has no resource type; the model has, beside it."
        rerank = Right(actions=("bedrock:Rerank",), resources=("*",), because=because)
        return rerank, *self.bedrock_model.rights(scope)


@dataclass(frozen=True, kw_only=True)
class MetadataAttribute:
    """
    key, type, description: 1 to 256 characters; description, for the model: 1 to 1,024.

    Raises InvalidArgument.
    """

    key: str
    type: Literal["STRING", "NUMBER", "BOOLEAN", "STRING_LIST"]
    description: str

    def __post_init__(self) -> None:
        check_text("MetadataAttribute", "key", self.key, 256)
        check_choice("MetadataAttribute", "type", self.type, _TYPES)
        check_text("MetadataAttribute", "description", self.description, 1024)


@dataclass(frozen=True, kw_only=True)
class ImplicitFilter:
    """
    A model that derives a filter from each question. Not for MANAGED knowledge bases.

    AWS doesn't say whether the caller or the knowledge base's service role calls the model: the
    agent has the right, and so has the role of a knowledge base made by `create`.
    https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html

    model: A Claude model of Anthropic's.
    attributes: 1 to 25.

    Raises InvalidArgument.
    """

    model: str
    attributes: tuple[MetadataAttribute, ...]

    def __post_init__(self) -> None:
        _check_model("ImplicitFilter", self.model)
        if not 1 <= len(self.attributes) <= _MAX_ATTRIBUTES:
            allowed = f"1 to {_MAX_ATTRIBUTES} attributes"
            raise InvalidArgument("ImplicitFilter", "attributes", self.attributes, allowed)

    @property
    def bedrock_model(self) -> BedrockModel:
        return BedrockModel.of(self.model)

    def configuration(self, scope: IConstruct) -> dict[str, Any]:
        return {
            "modelArn": self.bedrock_model.arn(scope),
            "metadataAttributes": [
                {"key": each.key, "type": each.type, "description": each.description}
                for each in self.attributes
            ],
        }


def _check_model(owner: str, model: str) -> None:
    try:
        BedrockModel.of(model)
    except ValueError as error:
        allowed = "the id of a foundation model, alone or behind an inference profile"
        raise InvalidArgument(owner, "model", model, allowed) from error


# The guardrail of a knowledge base's questions.

# GuardrailConfiguration in the API model of bedrock-agent-runtime, botocore 1.44.5.
_GUARDRAIL = re.compile(r"[a-z0-9]{1,64}")
_VERSION = re.compile(r"[1-9][0-9]{0,4}|DRAFT")


@dataclass(frozen=True, kw_only=True)
class GuardrailSettings:
    """A guardrail, or none if `id` is None; `version` is a number as text, or DRAFT."""

    id: str | None
    version: str

    def check(self, owner: Construct) -> None:
        """Raise InvalidArgument that names guardrail_id or guardrail_version."""
        if self.id is not None:
            _check_pattern(owner, "guardrail_id", self.id, _GUARDRAIL)
        _check_pattern(owner, "guardrail_version", self.version, _VERSION)

    def members(self) -> dict[str, Any]:
        """Return the members of the entry in KNOWLEDGE_BASES_CONFIG."""
        return {"guardrailId": self.id, "guardrailVersion": self.version}

    def rights(self, scope: IConstruct) -> tuple[Right, ...]:
        """Return the right to apply exactly this guardrail."""
        return () if self.id is None else (guardrail_right(scope, self.id),)


def guardrail_right(scope: IConstruct, guardrail_id: str) -> Right:
    """
    Return the right to apply a guardrail, also through a guardrail profile.

    The profile sends a request to another region, where its caller needs the right to the profile.
    A guardrail of the tier STANDARD must have one.
    https://docs.aws.amazon.com/bedrock/latest/userguide/guardrail-profiles-permissions.html
    https://docs.aws.amazon.com/bedrock/latest/userguide/guardrails-tiers.html
    """
    stack = cdk.Stack.of(scope)
    guardrail = stack.format_arn(
        service="bedrock", resource="guardrail", resource_name=guardrail_id
    )
    profiles = stack.format_arn(
        service="bedrock", region="*", resource="guardrail-profile", resource_name="*"
    )
    return Right(
        actions=("bedrock:ApplyGuardrail",),
        resources=(guardrail, profiles),
        because="The profile is the guardrail's, in regions that AWS may add to; without the"
        " guardrail it applies nothing.",
    )


def _check_pattern(owner: Construct, argument: str, value: Any, pattern: re.Pattern[str]) -> None:
    if cdk.Token.is_unresolved(value):
        return
    # A version is a number in a string.
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise InvalidArgument(owner, argument, value, f"a text like {pattern.pattern}")


# The search options of a Bedrock knowledge base: validated, exported, and their rights.

# The stores that Bedrock's Retrieve searches.
STORES = ("S3_VECTORS", "OPENSEARCH_SERVERLESS", "RDS", "MANAGED")


@dataclass(frozen=True, kw_only=True)
class BedrockSearch:
    """The search options of BedrockKnowledgeBase, which describes them."""

    store: str
    generation: bool
    guardrail_id: str | None
    guardrail_version: str
    search_type: str | None
    min_score: float | None
    reranking: Reranking | None
    implicit_filter: ImplicitFilter | None
    managed_reranking: str | None = None

    def check(self, owner: Construct) -> None:
        """
        Raise InvalidArgument for invalid options. Which of them the store takes, the agent checks.
        """
        check_choice(owner, "vector_store_type", self.store, STORES)
        check_flag(owner, "generation", self.generation)
        self._guardrail.check(owner)
        if self.search_type is not None:
            check_choice(owner, "override_search_type", self.search_type, ("HYBRID", "SEMANTIC"))
        if self.min_score is not None:
            check_fraction(owner, "min_score", self.min_score)
        if self.reranking is not None:
            check_kind(owner, "reranking", self.reranking, Reranking, "a Reranking")
        if self.implicit_filter is not None:
            allowed = "an ImplicitFilter"
            check_kind(owner, "implicit_filter", self.implicit_filter, ImplicitFilter, allowed)
        if self.managed_reranking is not None:
            check_choice(owner, "managed_reranking", self.managed_reranking, ("MANAGED", "NONE"))

    def check_embedding(self, owner: Construct, *, is_own: bool) -> None:
        """
        Check the options against the embedding model of a created knowledge base.

        `is_own` if the creator chooses the model. Raises InvalidArgument.
        """
        if is_own and self.managed_reranking == "MANAGED":
            allowed = "NONE or omitted, unless create.embedding_model is 'managed', too"
            raise InvalidArgument(owner, "managed_reranking", self.managed_reranking, allowed)

    def members(self, scope: Construct) -> dict[str, Any]:
        """Return the members of the entry in KNOWLEDGE_BASES_CONFIG."""
        options = {
            "overrideSearchType": self.search_type,
            "minScore": self.min_score,
            "reranking": self.reranking and self.reranking.configuration(scope),
            "managedReranking": self.managed_reranking,
            "implicitFilter": self.implicit_filter and self.implicit_filter.configuration(scope),
        }
        return {
            **self._guardrail.members(),
            "vectorStoreType": self.store,
            **{name: each for name, each in options.items() if each is not None},
        }

    def statements(self, scope: Construct, knowledge_base_arn: str) -> list[iam.PolicyStatement]:
        """
        Return the agent's rights.

        RetrieveAndGenerate has no resource type, so it has a statement of its own, and its caller
        calls the reranking model, which for Retrieve is the service role.
        https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrock.html
        https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-prereq.html
        """
        rights = [Right(actions=("bedrock:Retrieve",), resources=(knowledge_base_arn,))]
        rights += self._guardrail.rights(scope)
        if self.implicit_filter is not None:
            rights += self.implicit_filter.bedrock_model.rights(scope)
        if self.generation and self.store != "MANAGED":
            rights.append(Right(actions=("bedrock:RetrieveAndGenerate",), resources=("*",)))
            rights += [] if self.reranking is None else self.reranking.rights(scope)
        return [each.statement() for each in rights]

    def service_rights(self, scope: Construct) -> list[Right]:
        """Return the rights that a created knowledge base's service role needs."""
        return [
            *(() if self.reranking is None else self.reranking.rights(scope)),
            *(
                ()
                if self.implicit_filter is None
                else self.implicit_filter.bedrock_model.rights(scope)
            ),
        ]

    @property
    def _guardrail(self) -> GuardrailSettings:
        return GuardrailSettings(id=self.guardrail_id, version=self.guardrail_version)
