"""Wildcards in what knowledge bases state, where IAM leaves no choice."""

from collections.abc import Sequence

from aws_cdk import aws_iam as iam
from constructs import IConstruct

from stackroom_constructs.acknowledgments import accept_wildcard

# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrock.html
_OF_NO_RESOURCE = {"bedrock:RetrieveAndGenerate", "bedrock:Rerank"}
_ANY_REGION = ":bedrock:*::foundation-model/"


def accept_stated(construct: IConstruct, statements: Sequence[iam.PolicyStatement]) -> None:
    """Accepts these alone: whoever states another wildcard has to say why it is right."""
    everywhere = [each for each in statements if "*" in each.resources]
    if everywhere and all(set(each.actions) <= _OF_NO_RESOURCE for each in everywhere):
        names = sorted({action for each in everywhere for action in each.actions})
        because = f"{' and '.join(names)} have no resource type in IAM."
        accept_wildcard(construct, "*", because=because)
    for statement in statements:
        by_profile = "bedrock:InferenceProfileArn" in str(statement.conditions)
        for arn in statement.resources:
            if by_profile and _ANY_REGION in arn and arn.count("*") == 1:
                because = "One model, in the regions of its inference profile, and only by that."
                accept_wildcard(construct, arn, because=because)
