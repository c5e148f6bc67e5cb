"""
The gateway's role: the CDK's own grants are wider, and lack a right that it needs.

Creating the gateway and its targets tries these rights at once, and IAM takes a while to propagate
a new role. CloudFormation retries a target several times, with pauses
(https://github.com/aws/aws-cdk/issues/36826, answer of 2026-05-26). Nobody reports that of the
gateway's own check of its policy engine (https://github.com/awslabs/nx-plugin-for-aws/pull/996): so
the role names what is created later, refers to nothing, and exists before the first function.
"""

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
        function_names: Sequence[str],
        policy_engine_name: str,
    ) -> None:
        stack = cdk.Stack.of(scope)

        def arn(resource: str, name: str) -> str:
            return stack.format_arn(
                service="bedrock-agentcore", resource=resource, resource_name=name
            )

        functions = [
            stack.format_arn(
                service="lambda",
                resource="function",
                resource_name=name,
                arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
            )
            for name in function_names
        ]
        # The id of either is its name and a suffix that exists only after its creation.
        engine = arn("policy-engine", f"{policy_engine_name}-*")
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
                        _may("lambda:InvokeFunction", on=functions),
                        # Without it every call answers 500.
                        _may(
                            "bedrock-agentcore:GetWorkloadAccessToken", on=[directory, identities]
                        ),
                        _may("bedrock-agentcore:GetPolicyEngine", on=[engine]),
                        _may(
                            "bedrock-agentcore:AuthorizeAction",
                            "bedrock-agentcore:PartiallyAuthorizeActions",
                            on=[engine, gateways],
                        ),
                    ]
                )
            },
        )
        for wildcard in (engine, gateways, identities):
            accept_wildcard(
                self,
                wildcard,
                because="The gateway and its engine come after the role, and so do the suffixes of"
                " their ids; the project's name stands before them.",
            )


def _may(*actions: str, on: Sequence[str]) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=list(actions), resources=list(on))
