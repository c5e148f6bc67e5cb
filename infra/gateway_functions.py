"""The functions behind the gateway, which only the gateway can invoke."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_

from infra.bundling import IDENTITY
from infra.catalog_rights import catalog_environment, grant_catalogs
from infra.data import DataStack
from infra.deployment import Deployment
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from infra.retrieval_rights import grant_retrieve, retrieval_environment
from infra.rights import Rights
from infra.search_rights import grant_vector_cache, search_bundle
from infra.sign_in import SignIn


@dataclass(frozen=True, kw_only=True)
class GatewayFunctions:
    """Creates each function in `stack`, with just the rights that it needs."""

    stack: cdk.Stack
    deployment: Deployment
    data: DataStack
    knowledge_base: KnowledgeBaseStack
    sign_in: SignIn

    def retrieve(self) -> HandlerFunction:
        handler = HandlerFunction(
            self.stack,
            "Retrieve",
            deployment=self.deployment,
            package="retrieve",
            timeout=cdk.Duration.seconds(30),
            memory_size=1024,
            group=search_bundle(self.deployment),
            environment=retrieval_environment(self._rights, knowledge_base=self.knowledge_base),
        )
        grant_retrieve(handler, rights=self._rights, knowledge_base=self.knowledge_base)
        return handler

    def catalog_tools(self) -> HandlerFunction:
        handler = HandlerFunction(
            self.stack,
            "CatalogTools",
            deployment=self.deployment,
            package="catalog_tools",
            timeout=cdk.Duration.minutes(5),  # to purge a catalog of some 10,000 documents
            memory_size=1024,
            group=search_bundle(self.deployment),
            environment=catalog_environment(self._rights, knowledge_base=self.knowledge_base),
        )
        grant_catalogs(handler, rights=self._rights, knowledge_base=self.knowledge_base)
        grant_vector_cache(handler, deployment=self.deployment)
        return handler

    def interceptor(self) -> HandlerFunction:
        return HandlerFunction(
            self.stack,
            "IdentityInterceptor",
            deployment=self.deployment,
            package="identity_interceptor",
            timeout=cdk.Duration.seconds(10),
            memory_size=512,
            environment={
                "IDENTITY_ISSUER": self.sign_in.issuer,
                "IDENTITY_JWKS_URL": f"{self.sign_in.issuer}/.well-known/jwks.json",
                "IDENTITY_CLIENT_IDS": json.dumps([self.sign_in.client.user_pool_client_id]),
                # The function exists before the gateway, whose id has a random suffix.
                "IDENTITY_AUDIENCES": json.dumps([mcp_url(f"{self.deployment.project}-*")]),
            },
            group=IDENTITY,
        )

    @property
    def _rights(self) -> Rights:
        return Rights(scope=self.stack, deployment=self.deployment, data=self.data)


def mcp_url(gateway_id: str) -> str:
    """
    Return the `gatewayUrl` of a gateway in the stack's region.

    https://docs.aws.amazon.com/bedrock-agentcore-control/latest/APIReference/API_GetGateway.html
    """
    host = f"{gateway_id}.gateway.bedrock-agentcore.{cdk.Aws.REGION}.{cdk.Aws.URL_SUFFIX}"
    return f"https://{host}/mcp"


def invoked_by_gateway_only(
    handler: HandlerFunction, *, role: iam.IPrincipal, sessions: Sequence[str]
) -> lambda_.CfnResourcePolicy:
    """
    Add a resource policy that denies everyone but the `sessions` of the gateway's role.

    `AWS::Lambda::Permission` could only add an Allow, which would let in everyone whose own role
    has lambda:InvokeFunction. [assumed: function.resource-deny]
    """
    arn = handler.function.function_arn
    statements = [
        iam.PolicyStatement(
            sid="TheGateway",
            principals=[role],
            actions=["lambda:InvokeFunction"],
            resources=[arn],
        ),
        iam.PolicyStatement(
            sid="NobodyElse",
            effect=iam.Effect.DENY,
            principals=[iam.AnyPrincipal()],
            actions=["lambda:InvokeFunction"],
            resources=[arn],
            conditions={"ArnNotLike": {"aws:PrincipalArn": list(sessions)}},
        ),
    ]
    return lambda_.CfnResourcePolicy(
        handler,
        "OnlyTheGateway",
        resource_arn=arn,
        policy_document=iam.PolicyDocument(statements=statements),
    )
