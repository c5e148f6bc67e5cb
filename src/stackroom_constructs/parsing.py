"""
The extraction of text from documents before chunking.

It can't be changed after the data source's creation: ParsingConfiguration is create-only in
CloudFormation.
"""

from dataclasses import dataclass
from typing import Any, Literal

import aws_cdk as cdk
from constructs import IConstruct

from stackroom_constructs.argument_checks import InvalidArgument, check_choice, check_text
from stackroom_constructs.bedrock_model import BedrockModel, Right

Parser = Literal["default", "bedrock_data_automation", "foundation_model"]
PARSERS = ("default", "bedrock_data_automation", "foundation_model")
_MAX_PROMPT = 10_000  # ParsingPromptText in the API model of bedrock-agent, botocore 1.44.5


@dataclass(frozen=True, kw_only=True)
class Parsing:
    """A parser with the fields of KnowledgeBaseCreation. Raises InvalidArgument."""

    parser: Parser = "default"
    model: str | None = None
    prompt: str | None = None
    owner: str = "Parsing"  # the subject of errors

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
                allowed = f"omitted, since parsing is {self.parser!r} and not 'foundation_model'"
                raise InvalidArgument(self.owner, argument, value, allowed)
        if self.prompt is not None:
            check_text(self.owner, "parsing_prompt", self.prompt, _MAX_PROMPT)

    def configuration(self, scope: IConstruct) -> dict[str, Any] | None:
        """`parsingConfiguration` of CreateDataSource; None for Bedrock's default."""
        if self.parser == "bedrock_data_automation":
            return {"parsingStrategy": "BEDROCK_DATA_AUTOMATION"}
        if self._bedrock_model is None:
            return None
        model: dict[str, Any] = {"modelArn": self._bedrock_model.arn(scope)}
        if self.prompt is not None:
            model["parsingPrompt"] = {"parsingPromptText": self.prompt}
        return {
            "parsingStrategy": "BEDROCK_FOUNDATION_MODEL",
            "bedrockFoundationModelConfiguration": model,
        }

    def rights(self, scope: IConstruct) -> tuple[Right, ...]:
        """Return the rights that the knowledge base's service role needs for it."""
        if self.parser == "bedrock_data_automation":
            return _data_automation_rights(cdk.Stack.of(scope))
        return () if self._bedrock_model is None else self._bedrock_model.rights(scope)

    def check_store(self, vector_store_type: str) -> None:
        """Raise InvalidArgument for a parser that the store doesn't support."""
        if vector_store_type == "MANAGED" and self.parser != "default":
            allowed = "default in a MANAGED knowledge base, which chooses its parser itself"
            raise InvalidArgument(self.owner, "parsing", self.parser, allowed)

    @property
    def _bedrock_model(self) -> BedrockModel | None:
        try:
            return BedrockModel.of(self.model) if self.model else None
        except ValueError:
            return None


def _data_automation_rights(stack: cdk.Stack) -> tuple[Right, ...]:
    """
    Return the rights to AWS's own project, and to this account's profile in its geography.

    Users report that access is also checked in the profile's other regions, which AWS doesn't
    document. https://docs.aws.amazon.com/bedrock/latest/userguide/kb-permissions.html
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
