"""Everything the gateway may do: the CDK's own grants are wider, and lack a right it needs."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.deployment import Deployment
from stackroom_constructs.acknowledgments import accept_wildcard


class GatewayRole(iam.Role):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        function_arns: Sequence[str],
        policy_engine_arn: str,
    ) -> None:
        stack = cdk.Stack.of(scope)

        def arn(resource: str, name: str) -> str:
            return stack.format_arn(
                service="bedrock-agentcore", resource=resource, resource_name=name
            )

        # A gateway's id is its name and a suffix that only exists with it.
        gateways = arn("gateway", f"{deployment.project}-*")
        directory = arn("workload-identity-directory", "default")
        identities = f"{directory}/workload-identity/{deployment.project}-*"
        caller = {
            "StringEquals": {"aws:SourceAccount": stack.account},
            "ArnLike": {"aws:SourceArn": arn("gateway", "*")},
        }
        super().__init__(
            scope,
            construct_id,
            role_name=deployment.role_name("gateway"),
            assumed_by=iam.ServicePrincipal("bedrock-agentcore.amazonaws.com", conditions=caller),
            inline_policies={
                "Gateway": iam.PolicyDocument(
                    statements=[
                        _may("lambda:InvokeFunction", on=function_arns),
                        # Without it every call answers 500.
                        _may(
                            "bedrock-agentcore:GetWorkloadAccessToken", on=[directory, identities]
                        ),
                        _may("bedrock-agentcore:GetPolicyEngine", on=[policy_engine_arn]),
                        _may(
                            "bedrock-agentcore:AuthorizeAction",
                            "bedrock-agentcore:PartiallyAuthorizeActions",
                            on=[policy_engine_arn, gateways],
                        ),
                    ]
                )
            },
        )
        for wildcard in (gateways, identities):
            accept_wildcard(
                self,
                wildcard,
                because="The gateway needs its role first; the suffix of its id comes afterwards,"
                " and the project's name stands before it.",
            )


def _may(*actions: str, on: Sequence[str]) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=list(actions), resources=list(on))
