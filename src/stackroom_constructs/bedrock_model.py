"""A model of Bedrock by its id: its ARNs, and exactly the rights to invoke it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import IConstruct

from stackroom_constructs.argument_checks import InvalidArgument, Owner, check_range

# The id of a system-defined inference profile starts with the geography of its regions.
# https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html
GLOBAL = "global"
PROFILES = (GLOBAL, "us", "ca", "eu", "apac", "jp", "au", "us-gov")
_MODEL = re.compile(
    rf"((?P<profile>{'|'.join(PROFILES)})\.)?(?P<model>[a-z0-9-]+\.[a-z0-9.-]+(:[0-9a-z]+)*)"
)


@dataclass(frozen=True, kw_only=True)
class Right:
    """Actions on resources; `because` is the reason for a wildcard."""

    actions: tuple[str, ...]
    resources: tuple[str, ...]
    where: Mapping[str, object] = field(default_factory=dict)
    because: str = ""

    def statement(self) -> iam.PolicyStatement:
        return iam.PolicyStatement(
            actions=list(self.actions), resources=list(self.resources), conditions=self.where
        )


@dataclass(frozen=True, kw_only=True)
class BedrockModel:
    """
    A model of Bedrock by its id.

    `model` is a foundation model; `profile` the geography in which it may run, None for this region
    only.

        BedrockModel.of("global.amazon.nova-2-lite-v1:0").arn(stack)
    """

    model: str
    profile: str | None = None

    @classmethod
    def of(cls, model_id: str) -> Self:
        """
        Return the model. Raises ValueError for other ids than of a foundation model or its profile.
        """
        match = _MODEL.fullmatch(model_id)
        if match is None:
            raise ValueError(
                f"{model_id!r} must be the id of a foundation model, alone or"
                f" behind {', '.join(PROFILES)} and a dot"
            )
        return cls(model=match["model"], profile=match["profile"])

    @property
    def id(self) -> str:
        """The id for Converse."""
        return self.model if self.profile is None else f"{self.profile}.{self.model}"

    def arn(self, scope: IConstruct) -> str:
        """Return the ARN of the inference profile, or else of the foundation model."""
        if self.profile is None:
            return self.foundation_model_arn(scope)
        return cdk.Stack.of(scope).format_arn(
            service="bedrock", resource="inference-profile", resource_name=self.id
        )

    def foundation_model_arn(self, scope: IConstruct, region: str | None = None) -> str:
        return cdk.Stack.of(scope).format_arn(
            service="bedrock",
            region=region,
            account="",
            resource="foundation-model",
            resource_name=self.model,
        )

    def rights(
        self, scope: IConstruct, *, by: Sequence[str] = ("bedrock:InvokeModel",)
    ) -> tuple[Right, ...]:
        """
        Return the rights to invoke exactly this model.

        `by` are the actions: those of Converse and InvokeModel, or of their streams. Behind an
        inference profile, the model may run wherever the profile sends a request, but only through
        it. Converse has no action of its own in IAM: it requires InvokeModel, and ConverseStream
        requires InvokeModelWithResponseStream [API reference: Converse, ConverseStream].

        A global profile requires the model here, and the model without a region.
        https://docs.aws.amazon.com/bedrock/latest/userguide/global-cross-region-inference.html
        https://docs.aws.amazon.com/bedrock/latest/userguide/geographic-cross-region-inference.html
        """
        arn, invoke = self.arn(scope), tuple(by)
        if self.profile is None:
            return (Right(actions=invoke, resources=(arn,)),)
        by_profile = {"StringEquals": {"bedrock:InferenceProfileArn": arn}}
        profile = Right(actions=(*invoke, "bedrock:GetInferenceProfile"), resources=(arn,))
        if self.profile == GLOBAL:
            everywhere = tuple(self.foundation_model_arn(scope, region) for region in (None, ""))
            return profile, Right(actions=invoke, resources=everywhere, where=by_profile)
        return profile, Right(
            actions=invoke,
            resources=(self.foundation_model_arn(scope, "*"),),
            where=by_profile,
            because="One model, in the regions of its inference profile, which AWS may add to.",
        )


# The embedding model of chunks and questions, and its dimensions.

TITAN = "amazon.titan-embed-text-v2:0"
# https://docs.aws.amazon.com/bedrock/latest/userguide/titan-embedding-models.html
_TITAN_DIMENSIONS = (256, 512, 1024)
# https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-limitations.html
_MAX_DIMENSIONS = 4096


def check_dimensions(owner: Owner, argument: str, value: Any, *, model: str) -> None:
    """Check the dimensions of a model's vectors. Raises InvalidArgument."""
    check_range(owner, argument, value, 1, _MAX_DIMENSIONS)
    if model == TITAN and value not in _TITAN_DIMENSIONS:
        allowed = f"one of {', '.join(map(str, _TITAN_DIMENSIONS))} with {TITAN}"
        raise InvalidArgument(owner, argument, value, allowed)
