"""The VPC of an agent, and the rights that it needs."""

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

    def function_arguments(self) -> dict[str, Any]:
        """Return the arguments of `aws_lambda.Function`."""
        groups = list(self.security_groups) if self.security_groups is not None else None
        return {"vpc": self.vpc, "vpc_subnets": self.subnets, "security_groups": groups}

    def runtime_configuration(
        self, scope: Construct
    ) -> agentcore.CfnRuntime.NetworkConfigurationProperty:
        """Return the network of a runtime, whose interfaces a role of AgentCore's own creates."""
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
        Let Lambda create and delete network interfaces with the function's role.

        The describing actions have no resource types, and deleting an interface requires all
        resources. https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html
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
