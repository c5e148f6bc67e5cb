"""As whom Bedrock works for a knowledge base."""

from collections.abc import Iterable

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from stackroom_constructs.acknowledgments import accept_wildcard
from stackroom_constructs.model import Right


class ServiceRole(iam.Role):
    """
    Taken by Bedrock alone, for knowledge bases of this account and region, with exactly these
    rights. A right with a wildcard says why.
    """

    def __init__(self, scope: Construct, construct_id: str, *, rights: Iterable[Right]) -> None:
        rights = list(rights)
        super().__init__(
            scope,
            construct_id,
            assumed_by=_bedrock_in(cdk.Stack.of(scope)),
            # Inline, so that the rights exist as soon as the role does.
            inline_policies={
                "Ingestion": iam.PolicyDocument(statements=[each.statement() for each in rights])
            },
        )
        for right in rights:
            for arn in right.resources:
                if "*" in arn:
                    assert right.because, f"{arn} has a wildcard and no reason for it"
                    accept_wildcard(self, arn, because=right.because)


def _bedrock_in(stack: cdk.Stack) -> iam.ServicePrincipal:
    caller = {
        "StringEquals": {"aws:SourceAccount": stack.account},
        "ArnLike": {
            "aws:SourceArn": stack.format_arn(
                service="bedrock", resource="knowledge-base", resource_name="*"
            )
        },
    }
    return iam.ServicePrincipal("bedrock.amazonaws.com", conditions=caller)
