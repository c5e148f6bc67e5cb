"""
Search in an existing collection of OpenSearch Serverless from an existing gateway.

The stack stands alone. It creates a function, the rights to search, and one target of the gateway,
and changes nothing else.
"""

import json

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.bundling import OPENSEARCH
from infra.deployment import Deployment
from infra.function import HandlerFunction
from infra.gateway_functions import invoked_by_gateway_only
from infra.opensearch_settings import Settings
from infra.tool_target import tool_target

TARGET = "opensearch"


class OpenSearchRetrieveStack(cdk.Stack):
    def __init__(
        self, scope: Construct, construct_id: str, *, deployment: Deployment, settings: Settings
    ) -> None:
        # The policy must be in the collection's region.
        super().__init__(scope, construct_id, env=settings.environment)
        knowledge_base = settings.knowledge_base(self)
        handler = HandlerFunction(
            self,
            "Retrieve",
            deployment=deployment,
            package="opensearch_retrieve",
            timeout=cdk.Duration.seconds(settings.timeout),
            memory_size=settings.memory,
            group=OPENSEARCH,
            environment={
                "KNOWLEDGE_BASES_CONFIG": json.dumps([knowledge_base.export_configuration()])
            },
        )
        for statement in knowledge_base.generate_iam_permissions():
            handler.role.add_to_principal_policy(statement)
        policy = knowledge_base.allow_reading(handler.role)
        policy.name = f"{deployment.project}-retrieve"
        sessions = self.format_arn(
            service="sts",
            region="",
            resource="assumed-role",
            resource_name=f"{settings.gateway_role}/*",
        )
        only_gateway = invoked_by_gateway_only(
            handler,
            role=iam.ArnPrincipal(settings.gateway_role_arn),
            sessions=[settings.gateway_role_arn, sessions],
        )
        target = tool_target(
            self,
            TARGET,
            gateway_id=settings.gateway_id,
            function_arn=handler.function.function_arn,
            description="Search in a collection of OpenSearch Serverless.",
            headers=(),
        )
        # Creating a target invokes its function once, as a trial.
        target.node.add_dependency(only_gateway, policy)
