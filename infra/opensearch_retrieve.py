"""
A collection of OpenSearch Serverless, searched from a gateway: for whom both are there already.

The stack stands alone. It makes a function, what lets that function search, and one target of the
gateway, and changes nothing else of either.
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
from infra.opensearch_settings import Existing
from infra.tool_target import tool_target

TARGET = "opensearch"


class OpenSearchRetrieveStack(cdk.Stack):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        existing: Existing,
    ) -> None:
        where = existing.environment  # a policy of another region's would be of other collections
        super().__init__(scope, construct_id, env=where)
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
        # Making a target invokes its function once, as a trial.
        self.target.node.add_dependency(only_gateway, policy)

    def _function(self, deployment: Deployment, existing: Existing) -> HandlerFunction:
        entry = {
            "knowledgeBaseId": existing.collection_name,
            "name": existing.collection_name,
            "description": f"The collection {existing.collection_name}.",
            "vectorStoreType": "OPENSEARCH_SERVERLESS",
            "collectionEndpoint": existing.endpoint,
            "tenancy": existing.tenancy,
            **existing.searched.configuration(),
        }
        handler = HandlerFunction(
            self,
            "Retrieve",
            deployment=deployment,
            package="opensearch_retrieve",
            timeout=cdk.Duration.seconds(existing.searched.timeout),
            memory_size=existing.searched.memory,
            group=OPENSEARCH,
            environment={"KNOWLEDGE_BASES_CONFIG": json.dumps([entry])},
        )
        model = self.format_arn(
            service="bedrock",
            account="",
            resource="foundation-model",
            resource_name=existing.searched.embedding_model,
        )
        handler.allow("bedrock:InvokeModel", on=model)
        handler.allow("aoss:APIAccessAll", on=existing.collection_arn)
        return handler

    def _data_access(self, deployment: Deployment, existing: Existing) -> aoss.CfnAccessPolicy:
        """
        IAM's aoss:APIAccessAll lets a role speak to a collection; what it may do there, this says.
        https://docs.aws.amazon.com/opensearch-service/latest/developerguide/serverless-data-access.html
        """
        index = f"index/{existing.collection_name}/{existing.searched.index_name}"
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
