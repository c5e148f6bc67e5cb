"""
What makes text of documents before they are cut. It can't be changed after the data source was
made: ParsingConfiguration is create-only in CloudFormation.
"""

from dataclasses import dataclass
from typing import Any, Literal

import aws_cdk as cdk
from constructs import IConstruct

from stackroom_constructs.argument_checks import InvalidArgument, check_choice, check_said
from stackroom_constructs.bedrock_model import BedrockModel, Right

Parser = Literal["default", "bedrock_data_automation", "foundation_model"]
PARSERS = ("default", "bedrock_data_automation", "foundation_model")
_LONGEST_PROMPT = 10_000  # ParsingPromptText in the API model of bedrock-agent, botocore 1.44.5


@dataclass(frozen=True, kw_only=True)
class Parsing:
    """Fields as in KnowledgeBaseCreation, where they are described. Raises InvalidArgument."""

    parser: Parser = "default"
    model: str | None = None
    prompt: str | None = None
    owner: str = "Parsing"  # whose arguments they were

    def __post_init__(self) -> None:
        check_choice(self.owner, "parsing", self.parser, PARSERS)
        by_model = self.parser == "foundation_model"
        if by_model and self._bedrock_model is None:
            allowed = (
                "the id of a foundation model, alone or behind an inference profile, which"
                " parsing 'foundation_model' needs"
            )
            raise InvalidArgument(self.owner, "parsing_model", self.model, allowed)
        for argument, value in (("parsing_model", self.model), ("parsing_prompt", self.prompt)):
            if value is not None and not by_model:
                allowed = f"left out, since parsing is {self.parser!r} and not 'foundation_model'"
                raise InvalidArgument(self.owner, argument, value, allowed)
        if self.prompt is not None:
            check_said(self.owner, "parsing_prompt", self.prompt, _LONGEST_PROMPT)

    def configuration(self, scope: IConstruct) -> dict[str, Any] | None:
        """`parsingConfiguration` of CreateDataSource; None for Bedrock's default."""
        if self.parser == "bedrock_data_automation":
            return {"parsingStrategy": "BEDROCK_DATA_AUTOMATION"}
        if self._bedrock_model is None:
            return None
        asked: dict[str, Any] = {"modelArn": self._bedrock_model.arn(scope)}
        if self.prompt is not None:
            asked["parsingPrompt"] = {"parsingPromptText": self.prompt}
        return {
            "parsingStrategy": "BEDROCK_FOUNDATION_MODEL",
            "bedrockFoundationModelConfiguration": asked,
        }

    def rights(self, scope: IConstruct) -> tuple[Right, ...]:
        """What the knowledge base's service role needs for it."""
        if self.parser == "bedrock_data_automation":
            return _of_data_automation(cdk.Stack.of(scope))
        return () if self._bedrock_model is None else self._bedrock_model.rights(scope)

    def check_store(self, vector_store_type: str) -> None:
        """Raises InvalidArgument for what such a store doesn't do."""
        if vector_store_type == "MANAGED" and self.parser != "default":
            allowed = "default in a MANAGED knowledge base, which chooses its parser itself"
            raise InvalidArgument(self.owner, "parsing", self.parser, allowed)

    @property
    def _bedrock_model(self) -> BedrockModel | None:
        try:
            return BedrockModel.of(self.model) if self.model else None
        except ValueError:
            return None


def _of_data_automation(stack: cdk.Stack) -> tuple[Right, ...]:
    """
    The project is AWS's own; the profile is this account's, and sends work to other regions of its
    geography. That access is checked in these, too, is what users report, and AWS doesn't say.
    https://docs.aws.amazon.com/bedrock/latest/userguide/kb-permissions.html
    https://docs.aws.amazon.com/bedrock/latest/userguide/bda-cris.html
    """
    project = stack.format_arn(
        service="bedrock",
        account="aws",
        resource="data-automation-project",
        resource_name="public-rag-default",
    )
    profile = stack.format_arn(
        service="bedrock",
        region="*",
        resource="data-automation-profile",
        resource_name="*.data-automation-v1",
    )
    invocations = stack.format_arn(
        service="bedrock", resource="data-automation-invocation", resource_name="*"
    )
    return (
        Right(
            actions=("bedrock:InvokeDataAutomationAsync",),
            resources=(project, profile),
            because="AWS chooses the region of its own profile, by where there is room.",
        ),
        Right(
            actions=("bedrock:GetDataAutomationStatus",),
            resources=(invocations,),
            because="An invocation is named when it starts.",
        ),
    )
