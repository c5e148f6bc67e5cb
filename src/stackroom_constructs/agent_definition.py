"""The definition of an agent: its model, prompt, tools and knowledge bases."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

from stackroom_constructs.argument_checks import (
    InvalidArgument,
    check_choice,
    check_kind,
    check_range,
)
from stackroom_constructs.base_knowledge_base import IKnowledgeBase
from stackroom_constructs.bedrock_model import BedrockModel

# The limits of an agent's search [src/stackroom/search/search_arguments.py].
MAX_TOKENS = 100_000
PRIORITIES = ("similarity", "recency", "balanced")

_ASSET = "an Asset of aws_cdk.aws_s3_assets"


@dataclass(frozen=True, kw_only=True)
class AgentDefinitionProps:
    """
    The definition of an agent.

    bedrock_model: The only foundation model or system-defined inference profile it may invoke.
    system_prompt: Text file, passed unchanged; knowledge bases' descriptions follow it.
    tools: .py files, zips or folders with Strands tools.
    lambda_layers: For the tools; at most five, with those of knowledge bases.
    additional_policy_statements_for_tools, additional_policy_statements_for_knowledge_bases: IAM
        statements added to the role unchanged.
    knowledge_bases: A mapping has the arguments of a `BedrockKnowledgeBase`.
    retrieve_max_tokens: Text per search, in tokens of 4 characters, 1 to 100,000; the model may
        override it.
    retrieve_prioritize_by: What to keep if not all fits: `similarity`, `recency` or `balanced`.
    """

    bedrock_model: str | BedrockModel
    system_prompt: s3_assets.Asset
    tools: Sequence[s3_assets.Asset] = ()
    lambda_layers: Sequence[lambda_.ILayerVersion] = ()
    additional_policy_statements_for_tools: Sequence[iam.PolicyStatement] = ()
    knowledge_bases: Sequence[IKnowledgeBase | Mapping[str, Any]] | None = None
    additional_policy_statements_for_knowledge_bases: Sequence[iam.PolicyStatement] = ()
    retrieve_max_tokens: int = 4000
    retrieve_prioritize_by: str = PRIORITIES[0]

    def model(self, scope: Construct) -> BedrockModel:
        if isinstance(self.bedrock_model, BedrockModel):
            return self.bedrock_model
        try:
            return BedrockModel.of(self.bedrock_model)
        except ValueError as error:
            raise ValueError(f"{scope.node.path}: bedrock_model {error}") from error

    def budget(self, scope: Construct) -> dict[str, str]:
        """Return the variables of the retrieval budget that differ from the agent's defaults."""
        defaults, variables = AgentDefinitionProps, {}
        tokens, first = self.retrieve_max_tokens, self.retrieve_prioritize_by
        check_range(scope, "retrieve_max_tokens", tokens, 1, MAX_TOKENS)
        check_choice(scope, "retrieve_prioritize_by", first, PRIORITIES)
        if tokens != defaults.retrieve_max_tokens:
            variables["RETRIEVE_MAX_TOKENS"] = str(tokens)
        if first != defaults.retrieve_prioritize_by:
            variables["RETRIEVE_PRIORITIZE_BY"] = str(first)
        return variables

    def check_assets(self, scope: Construct) -> None:
        prompt = self.system_prompt
        check_kind(scope, "system_prompt", prompt, s3_assets.Asset, f"{_ASSET}, a text file")
        for number, each in enumerate(self.tools):
            allowed = f"{_ASSET}, a .py file, or a zip or a folder of them"
            check_kind(scope, f"tools[{number}]", each, s3_assets.Asset, allowed)
        if not prompt.is_file or prompt.is_zip_archive:
            raise InvalidArgument(scope, "system_prompt", prompt.node.path, "a single text file")
        hashes = [each.asset_hash for each in self.tools]
        for tool, its_hash in zip(self.tools, hashes, strict=True):
            if tool.is_file and not str(tool.asset_path).endswith((".py", ".zip")):
                allowed = "a .py file, or a zip or a folder of them"
                raise InvalidArgument(scope, "tools", tool.node.path, allowed)
            if hashes.count(its_hash) > 1:
                raise InvalidArgument(scope, "tools", tool.node.path, "given once")
