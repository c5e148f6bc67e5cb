"""
The base of knowledge bases: what an agent needs to know about them.

A custom class derives from `BaseKnowledgeBase`, or implements `IKnowledgeBase`.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import jsii
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

from stackroom_constructs.argument_checks import (
    InvalidArgument,
    Owner,
    check_flag,
    check_range,
    check_text,
)

# Attributes that Bedrock or Stackroom's pool sets itself.
# https://docs.aws.amazon.com/bedrock/latest/userguide/kb-metadata.html
_RESERVED = "x-amz-bedrock"
_POOL_ATTRIBUTES = ("user_id", "catalog_id")
_MAX_KEY = 100  # FilterKey in the API model of bedrock-agent-runtime, botocore 1.44.5

# ToolName in the API model of bedrock-runtime, botocore 1.44.5.
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")

DEFAULT_TOOL = "retrieve_from_knowledge_base"


@dataclass(frozen=True, kw_only=True)
class RetrievalTool:
    """
    The tool that searches a knowledge base; Stackroom's own by default.

    Stackroom's tool serves every knowledge base whose configuration names a `vectorStoreType` that
    it knows.

    name: 1 to 64 letters, digits, `_`, `-`.
    asset, module: Strands tools: a .py file or zip, or an importable module.
    layers, packages: What it needs; packages such as `opensearch-py>=3`.
    """

    name: str = DEFAULT_TOOL
    asset: s3_assets.Asset | None = None
    module: str | None = None
    layers: tuple[lambda_.ILayerVersion, ...] = ()
    packages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        has_own_name = self.name != DEFAULT_TOOL
        if not _TOOL_NAME.fullmatch(self.name):
            allowed = "1 to 64 letters, digits, _ and -"
            raise InvalidArgument(type(self).__name__, "name", self.name, allowed)
        if self.asset is not None and self.module is not None:
            raise ValueError(
                f"retrieval tool {self.name!r} must have an asset or a module, not both"
            )
        if has_own_name and self.asset is None and self.module is None:
            raise ValueError(f"retrieval tool {self.name!r} needs an asset or a module")

    @property
    def is_default(self) -> bool:
        return self.name == DEFAULT_TOOL


@runtime_checkable
class IKnowledgeBase(Protocol):
    """A knowledge base that an agent's `knowledge_bases=[...]` accepts."""

    @property
    def name(self) -> str:
        """The name for people and the model; not blank."""

    @property
    def description(self) -> str:
        """The content, by which a model decides whether to search; not blank."""

    def generate_iam_permissions(self) -> list[iam.PolicyStatement]:
        """Return all statements that searching requires, for the agent's role."""

    def export_configuration(self) -> dict[str, Any]:
        """
        Return the entry in KNOWLEDGE_BASES_CONFIG, ready for JSON; it may contain CDK tokens.

        A knowledge base that the default tool searches has all members that `BedrockKnowledgeBase`
        exports; one with a tool of its own may have others.
        """

    def retrieval_tool(self) -> RetrievalTool:
        """Return the tool that searches the knowledge base."""


class BaseKnowledgeBase(Construct, metaclass=jsii.JSIIAbstractClass):
    """
    The base of knowledge bases: their name, and how results are selected.

    name: Shown to people and the model.
    description: What it contains, for the model.
    number_of_results: Passages per search, 1 to 100.
    retrieval_filter: An attribute filter that always applies, as Bedrock's RetrievalFilter:
        groups of 2 to 5, nested once. An agent checks it when it starts.
    enable_acl, acl_metadata_field: Return documents only to the groups in this attribute;
        without it, to nobody.

    Raises InvalidArgument.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        description: str,
        number_of_results: int = 5,
        retrieval_filter: Mapping[str, Any] | None = None,
        enable_acl: bool = False,
        acl_metadata_field: str = "allowed_groups",
    ) -> None:
        super().__init__(scope, construct_id)
        check_text(self, "name", name)
        check_text(self, "description", description)
        check_range(self, "number_of_results", number_of_results, 1, 100)
        check_flag(self, "enable_acl", enable_acl)
        check_attribute(self, "acl_metadata_field", acl_metadata_field)
        self._name = name
        self._description = description
        self._shared = {
            "name": name,
            "description": description,
            "numberOfResults": number_of_results,
            "retrievalFilter": retrieval_filter,
            "enableAcl": enable_acl,
            "aclMetadataField": acl_metadata_field,
        }

    @property
    def name(self) -> str:
        return self._name

    @property
    def description(self) -> str:
        return self._description

    @abstractmethod
    def generate_iam_permissions(self) -> list[iam.PolicyStatement]:
        """Return all statements that searching requires, for the agent's role."""

    def export_configuration(self) -> dict[str, Any]:
        """
        Return the common part of the entry in KNOWLEDGE_BASES_CONFIG, to which subclasses add.
        """
        return dict(self._shared)

    def retrieval_tool(self) -> RetrievalTool:
        """Return Stackroom's own tool."""
        return RetrievalTool()


def check_attribute(owner: Owner, argument: str, name: Any) -> None:
    """Check the name of an attribute that only its author writes. Raises InvalidArgument."""
    check_text(owner, argument, name, _MAX_KEY)
    if name.strip().casefold().startswith(_RESERVED) or name in _POOL_ATTRIBUTES:
        allowed = f"an attribute of your own, not {_RESERVED}... or {' or '.join(_POOL_ATTRIBUTES)}"
        raise InvalidArgument(owner, argument, name, allowed)
