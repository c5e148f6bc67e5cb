"""
Search in an existing collection of OpenSearch Serverless from an existing gateway.

The stack stands alone. It creates a function, the rights to search, and one target of the gateway,
and changes nothing else.
"""

import json

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_opensearchserverless as aoss
from constructs import Construct

from infra.bundling import OPENSEARCH
from infra.deployment import Deployment
from infra.function import HandlerFunction
from infra.gateway_functions import invoked_by_gateway_only
from infra.opensearch_settings import ExistingResources
from infra.tool_target import tool_target

TARGET = "opensearch"


class OpenSearchRetrieveStack(cdk.Stack):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        existing: ExistingResources,
    ) -> None:
        environment = existing.environment  # the policy must be in the collection's region
        super().__init__(scope, construct_id, env=environment)
        self.handler = self._function(deployment, existing)
        policy = self._data_access(deployment, existing)
        sessions = self.format_arn(
            service="sts",
            region="",
            resource="assumed-role",
            resource_name=f"{existing.gateway_role}/*",
        )
        only_gateway = invoked_by_gateway_only(
            self.handler,
            role=iam.ArnPrincipal(existing.gateway_role_arn),
            sessions=[existing.gateway_role_arn, sessions],
        )
        self.target = tool_target(
            self,
            TARGET,
            gateway_id=existing.gateway_id,
            function_arn=self.handler.function.function_arn,
            description="Search in a collection of OpenSearch Serverless.",
            headers=(),
        )
        # Creating a target invokes its function once, as a trial.
        self.target.node.add_dependency(only_gateway, policy)

    def _function(self, deployment: Deployment, existing: ExistingResources) -> HandlerFunction:
        entry = {
            "knowledgeBaseId": existing.collection_name,
            "name": existing.collection_name,
            "description": f"The collection {existing.collection_name}.",
            "vectorStoreType": "OPENSEARCH_SERVERLESS",
            "collectionEndpoint": existing.endpoint,
            "tenancy": existing.tenancy,
            **existing.search.configuration(),
        }
        handler = HandlerFunction(
            self,
            "Retrieve",
            deployment=deployment,
            package="opensearch_retrieve",
            timeout=cdk.Duration.seconds(existing.search.timeout),
            memory_size=existing.search.memory,
            group=OPENSEARCH,
            environment={"KNOWLEDGE_BASES_CONFIG": json.dumps([entry])},
        )
        model = self.format_arn(
            service="bedrock",
            account="",
            resource="foundation-model",
            resource_name=existing.search.embedding_model,
        )
        handler.allow("bedrock:InvokeModel", on=model)
        handler.allow("aoss:APIAccessAll", on=existing.collection_arn)
        return handler

    def _data_access(
        self, deployment: Deployment, existing: ExistingResources
    ) -> aoss.CfnAccessPolicy:
        """
        Create the policy for what the role may do in the collection; aoss:APIAccessAll only lets it
        connect.

        https://docs.aws.amazon.com/opensearch-service/latest/developerguide/serverless-data-access.html
        """
        index = f"index/{existing.collection_name}/{existing.search.index_name}"
        rule = {
            "ResourceType": "index",
            "Resource": [index],
            "Permission": ["aoss:DescribeIndex", "aoss:ReadDocument"],
        }
        statement = {"Rules": [rule], "Principal": [self.handler.role.role_arn]}
        return aoss.CfnAccessPolicy(
            self,
            "DataAccess",
            name=f"{deployment.project}-retrieve",
            type="data",
            description=f"{deployment.project} reads one index",
            policy=self.to_json_string([statement]),
        )
