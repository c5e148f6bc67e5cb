"""An agent's function inside a VPC: where it stands, and what that takes."""

from dataclasses import dataclass
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_bedrockagentcore as agentcore
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from stackroom_constructs.acknowledgments import accept_wildcard


@dataclass(frozen=True, kw_only=True)
class AgentNetwork:
    """
    The VPC of an agent.

    vpc: Must reach Bedrock, S3, KMS and CloudWatch Logs, by endpoints or NAT.
    subnets, security_groups: By default private subnets with egress, and a new group that allows
        all egress.
    """

    vpc: ec2.IVpc
    subnets: ec2.SubnetSelection | None = None
    security_groups: tuple[ec2.ISecurityGroup, ...] | None = None

    def __post_init__(self) -> None:
        if self.security_groups == ():
            raise ValueError("security_groups of an agent's network must be one or more, or None")

    def of_function(self) -> dict[str, Any]:
        """The arguments of `aws_lambda.Function`."""
        groups = list(self.security_groups) if self.security_groups is not None else None
        return {"vpc": self.vpc, "vpc_subnets": self.subnets, "security_groups": groups}

    def of_runtime(self, scope: Construct) -> agentcore.CfnRuntime.NetworkConfigurationProperty:
        """Its interfaces are made by a role of AgentCore's own, so the agent's needs no right."""
        chosen = self.subnets._values if self.subnets is not None else {}
        groups = self.security_groups or (ec2.SecurityGroup(scope, "SecurityGroup", vpc=self.vpc),)
        return agentcore.CfnRuntime.NetworkConfigurationProperty(
            network_mode="VPC",
            network_mode_config=agentcore.CfnRuntime.VpcConfigProperty(
                subnets=self.vpc.select_subnets(**chosen).subnet_ids,
                security_groups=[each.security_group_id for each in groups],
            ),
        )

    @staticmethod
    def allow(role: iam.Role) -> None:
        """
        What Lambda needs of the function's role to make and to remove network interfaces.

        The describing actions know no resources, and to remove an interface Lambda asks for all.
        https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html
        https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AWSLambdaVPCAccessExecutionRole.html
        """
        here = cdk.Stack.of(role).format_arn(service="ec2", resource="*", resource_name="*")
        on_interfaces = (
            "ec2:CreateNetworkInterface",
            "ec2:DeleteNetworkInterface",
            "ec2:AssignPrivateIpAddresses",
            "ec2:UnassignPrivateIpAddresses",
        )
        describing = ("ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets")
        for actions, resource in ((on_interfaces, here), (describing, "*")):
            role.add_to_principal_policy(
                iam.PolicyStatement(actions=list(actions), resources=[resource])
            )
        accept_wildcard(role, here, because="Lambda names the function's network interfaces.")
