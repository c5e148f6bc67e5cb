"""
How a knowledge base of Bedrock is searched, beyond how many passages are asked for.

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
    check_kind,
    check_range,
    check_said,
    check_share,
)
from stackroom_constructs.bedrock_model import BedrockModel, Right

_TYPES = ("STRING", "NUMBER", "BOOLEAN", "STRING_LIST")
_MOST_ATTRIBUTES = 25
_MOST_FIELDS = 100  # FieldsForReranking


@dataclass(frozen=True, kw_only=True)
class Reranking:
    """
    A model that reorders results by how well they answer the question.

    At Retrieve it is the knowledge base's service role that asks the model, not the agent: with
    `knowledge_base_id` see to it that the role may `bedrock:Rerank` on `*` and
    `bedrock:InvokeModel` on the model; with `create` it may.
    https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-prereq.html

    For a store that the agent searches itself it asks the model itself, and may. All but `model`
    and `number_of_results` are for Retrieve.

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
        _model("Reranking", self.model)
        check_flag("Reranking", "reads_attributes", self.reads_attributes)
        for name in ("fields_to_include", "fields_to_exclude"):
            fields = getattr(self, name)
            if isinstance(fields, str) or len(fields) > _MOST_FIELDS:
                allowed = f"a tuple of at most {_MOST_FIELDS} names"
                raise InvalidArgument("Reranking", name, fields, allowed)
            for each in fields:
                check_said("Reranking", name, each)
        if self.fields_to_include and self.fields_to_exclude:
            allowed = "left out beside fields_to_include"
            raise InvalidArgument("Reranking", "fields_to_exclude", self.fields_to_exclude, allowed)
        if self.number_of_results is not None:
            check_range("Reranking", "number_of_results", self.number_of_results, 1, 100)

    @property
    def bedrock_model(self) -> BedrockModel:
        return BedrockModel.of(self.model)

    def configuration(self, scope: IConstruct) -> dict[str, Any]:
        chosen = {
            "numberOfRerankedResults": self.number_of_results,
            "readsAttributes": self.reads_attributes or None,
            "fieldsToInclude": list(self.fields_to_include) or None,
            "fieldsToExclude": list(self.fields_to_exclude) or None,
            "additionalModelRequestFields": dict(self.model_fields) if self.model_fields else None,
        }
        told = {name: each for name, each in chosen.items() if each is not None}
        return {"modelArn": self.bedrock_model.arn(scope), **told}

    def rights(self, scope: IConstruct) -> tuple[Right, ...]:
        """
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
        check_said("MetadataAttribute", "key", self.key, 256)
        check_choice("MetadataAttribute", "type", self.type, _TYPES)
        check_said("MetadataAttribute", "description", self.description, 1024)


@dataclass(frozen=True, kw_only=True)
class ImplicitFilter:
    """
    A model that derives a filter from each question. Not for MANAGED knowledge bases.

    AWS doesn't say whether the caller asks the model or the knowledge base's service role: the
    agent may, and so may the role of a knowledge base made by `create`.
    https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html

    model: A Claude model of Anthropic's.
    attributes: 1 to 25.

    Raises InvalidArgument.
    """

    model: str
    attributes: tuple[MetadataAttribute, ...]

    def __post_init__(self) -> None:
        _model("ImplicitFilter", self.model)
        if not 1 <= len(self.attributes) <= _MOST_ATTRIBUTES:
            allowed = f"1 to {_MOST_ATTRIBUTES} attributes"
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


def _model(owner: str, model: str) -> None:
    try:
        BedrockModel.of(model)
    except ValueError as error:
        allowed = "the id of a foundation model, alone or behind an inference profile"
        raise InvalidArgument(owner, "model", model, allowed) from error


# The guardrail that the questions of a knowledge base go through.

# GuardrailConfiguration in the API model of bedrock-agent-runtime, botocore 1.44.5.
_GUARDRAIL = re.compile(r"[a-z0-9]{1,64}")
_VERSION = re.compile(r"[1-9][0-9]{0,4}|DRAFT")


@dataclass(frozen=True, kw_only=True)
class Guarding:
    """`id` None for no guardrail; `version` is a number, as text, or DRAFT."""

    id: str | None
    version: str

    def check(self, owner: Construct) -> None:
        """Raises InvalidArgument, which names guardrail_id or guardrail_version."""
        if self.id is not None:
            _check_pattern(owner, "guardrail_id", self.id, _GUARDRAIL)
        _check_pattern(owner, "guardrail_version", self.version, _VERSION)

    def exported(self) -> dict[str, Any]:
        """Members of the entry in KNOWLEDGE_BASES_CONFIG."""
        return {"guardrailId": self.id, "guardrailVersion": self.version}

    def rights(self, scope: IConstruct) -> tuple[Right, ...]:
        """To ask exactly this guardrail."""
        if self.id is None:
            return ()
        arn = cdk.Stack.of(scope).format_arn(
            service="bedrock", resource="guardrail", resource_name=self.id
        )
        return (Right(actions=("bedrock:ApplyGuardrail",), resources=(arn,)),)


def _check_pattern(owner: Construct, argument: str, value: Any, pattern: re.Pattern[str]) -> None:
    if cdk.Token.is_unresolved(value):
        return
    # A version is a number, and yet a text.
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise InvalidArgument(owner, argument, value, f"a text like {pattern.pattern}")


# How one knowledge base of Bedrock is searched: checked, exported, and what that takes.

# What Bedrock's Retrieve searches, whatever it stands on.
STORES = ("S3_VECTORS", "OPENSEARCH_SERVERLESS", "RDS", "MANAGED")
# Hybrid search needs a filterable text field, and MANAGED chooses for itself.
# https://docs.aws.amazon.com/bedrock/latest/userguide/kb-test-config.html
_HYBRID_STORES = ("OPENSEARCH_SERVERLESS", "RDS")


@dataclass(frozen=True, kw_only=True)
class BedrockSearch:
    """Fields as in BedrockKnowledgeBase, where they are described."""

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
        """Raises InvalidArgument."""
        check_choice(owner, "vector_store_type", self.store, STORES)
        check_flag(owner, "generation", self.generation)
        self._guarding.check(owner)
        self._check_search_type(owner)
        if self.min_score is not None:
            check_share(owner, "min_score", self.min_score)
        if self.reranking is not None:
            check_kind(owner, "reranking", self.reranking, Reranking, "a Reranking")
        if self.implicit_filter is not None:
            allowed = "an ImplicitFilter"
            check_kind(owner, "implicit_filter", self.implicit_filter, ImplicitFilter, allowed)
        if self.managed_reranking is not None:
            self._check_managed_reranking(owner)
        if self.implicit_filter is not None and self.store == "MANAGED":
            allowed = "left out with MANAGED, which makes no filters of questions"
            raise InvalidArgument(owner, "implicit_filter", self.implicit_filter, allowed)

    def check_embedding(self, owner: Construct, *, is_own: bool) -> None:
        """
        `is_own` where whoever makes the knowledge base chooses what embeds. Raises InvalidArgument.
        """
        if is_own and self.managed_reranking == "MANAGED":
            allowed = "NONE or left out, unless create.embedding_model is 'managed', too"
            raise InvalidArgument(owner, "managed_reranking", self.managed_reranking, allowed)

    def exported(self, scope: Construct) -> dict[str, Any]:
        """Members of the entry in KNOWLEDGE_BASES_CONFIG."""
        chosen = {
            "overrideSearchType": self.search_type,
            "minScore": self.min_score,
            "reranking": self.reranking and self.reranking.configuration(scope),
            "managedReranking": self.managed_reranking,
            "implicitFilter": self.implicit_filter and self.implicit_filter.configuration(scope),
        }
        return {
            **self._guarding.exported(),
            "vectorStoreType": self.store,
            **{name: each for name, each in chosen.items() if each is not None},
        }

    def statements(self, scope: Construct, knowledge_base_arn: str) -> list[iam.PolicyStatement]:
        """
        What the agent needs. RetrieveAndGenerate has no resource type, so it stands by itself, and
        who calls it asks the reranking model, which at Retrieve is the service role's affair.
        https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrock.html
        https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-prereq.html
        """
        rights = [Right(actions=("bedrock:Retrieve",), resources=(knowledge_base_arn,))]
        rights += self._guarding.rights(scope)
        if self.implicit_filter is not None:
            rights += self.implicit_filter.bedrock_model.rights(scope)
        if self.generation and self.store != "MANAGED":
            rights.append(Right(actions=("bedrock:RetrieveAndGenerate",), resources=("*",)))
            rights += [] if self.reranking is None else self.reranking.rights(scope)
        return [each.statement() for each in rights]

    def service_rights(self, scope: Construct) -> list[Right]:
        """What the service role of a knowledge base that is made needs for it."""
        return [
            *(() if self.reranking is None else self.reranking.rights(scope)),
            *(
                ()
                if self.implicit_filter is None
                else self.implicit_filter.bedrock_model.rights(scope)
            ),
        ]

    @property
    def _guarding(self) -> Guarding:
        return Guarding(id=self.guardrail_id, version=self.guardrail_version)

    def _check_managed_reranking(self, owner: Construct) -> None:
        chosen = self.managed_reranking
        check_choice(owner, "managed_reranking", chosen, ("MANAGED", "NONE"))
        if self.store != "MANAGED":
            allowed = f"left out with {self.store}, which has no model of its own for it"
            raise InvalidArgument(owner, "managed_reranking", chosen, allowed)
        if self.reranking is not None:
            allowed = "left out beside reranking: one of the two reranks"
            raise InvalidArgument(owner, "managed_reranking", chosen, allowed)

    def _check_search_type(self, owner: Construct) -> None:
        if self.search_type is None:
            return
        check_choice(owner, "override_search_type", self.search_type, ("HYBRID", "SEMANTIC"))
        if self.store == "MANAGED":
            allowed = "left out with MANAGED, which chooses for itself"
            raise InvalidArgument(owner, "override_search_type", self.search_type, allowed)
        if self.search_type == "HYBRID" and self.store not in _HYBRID_STORES:
            allowed = f"SEMANTIC with {self.store}; HYBRID is for {' and '.join(_HYBRID_STORES)}"
            raise InvalidArgument(owner, "override_search_type", self.search_type, allowed)
