"""
The gateway: who may call it, and the tools behind it.

A token is checked three times: by the gateway's authorizer, by our interceptor, which turns it into
identity headers, and by Cedar. Only the gateway's role can invoke the functions behind it, because
anyone who invokes them directly could forge those headers.
"""

from dataclasses import dataclass

import aws_cdk as cdk
from aws_cdk import aws_bedrockagentcore as agentcore
from aws_cdk import aws_cognito as cognito
from constructs import Construct

from infra.data import DataStack
from infra.deployment import Deployment
from infra.function import HandlerFunction
from infra.gateway_functions import GatewayFunctions, invoked_by_gateway_only, mcp_url
from infra.gateway_role import GatewayRole
from infra.knowledge_base import KnowledgeBaseStack
from infra.sign_in import SignIn
from infra.tool_policies import permit_people
from infra.tool_target import tool_target

KNOWLEDGE = "knowledge"
CATALOGS = "catalogs"


@dataclass(frozen=True, kw_only=True)
class Target:
    """A target of the gateway: a function, with the tools of infra/tool_schemas/{target}.json."""

    target: str
    description: str
    handler: HandlerFunction


class GatewayStack(cdk.Stack):
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        data: DataStack,
        knowledge_base: KnowledgeBaseStack,
    ) -> None:
        super().__init__(scope, construct_id)
        self._deployment = deployment
        self._data = data

        self.sign_in = SignIn(
            self,
            "SignIn",
            deployment=deployment,
            user_pool=data.user_pool,
            uploader_policy=data.uploader_policy,
        )
        functions = GatewayFunctions(
            stack=self,
            deployment=deployment,
            data=data,
            knowledge_base=knowledge_base,
            sign_in=self.sign_in,
        )
        self.interceptor = functions.interceptor()
        self.targets = [
            Target(
                target=KNOWLEDGE,
                description="Search in the caller's documents.",
                handler=functions.retrieve(),
            ),
            Target(
                target=CATALOGS,
                description="Catalogs of the caller's documents.",
                handler=functions.catalog_tools(),
            ),
        ]
        self.tools = [target.handler for target in self.targets]
        self.handlers = [*self.tools, self.interceptor]
        engine_name = deployment.project.replace("-", "_")
        self._engine = agentcore.PolicyEngine(self, "Policies", policy_engine_name=engine_name)
        self._role = GatewayRole(
            self,
            "GatewayRole",
            deployment=deployment,
            function_names=[handler.name for handler in self.handlers],
            policy_engine_name=engine_name,
        )
        sessions = deployment.sessions_of(self, "gateway")
        self._only_gateway = [
            invoked_by_gateway_only(handler, role=self._role, sessions=sessions)
            for handler in self.handlers
        ]
        self.gateway = self._gateway()
        # Some clients reported that Cognito refuses `resource` if no resource server has that name:
        # https://github.com/jlowin/fastmcp/pull/2149 (invalid_grant), claude-ai-mcp 309 (400)
        # [assumed: cognito.resource-audience]
        cognito.UserPoolResourceServer(
            self,
            "Resource",
            user_pool=data.user_pool,
            identifier=self.mcp_url,
            user_pool_resource_server_name=deployment.project,
        )
        for target in self.targets:
            self._add(target)
        # Also without a console: an export can't be deleted while a stack imports it, and a console
        # that is about to be removed does so until it is deleted.
        # https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html
        self.export_value(self.sign_in.client.user_pool_client_id)
        self.export_value(self.gateway.gateway_id)
        self._add_outputs()

    def _gateway(self) -> agentcore.Gateway:
        versions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
        gateway = agentcore.Gateway(
            self,
            "Gateway",
            gateway_name=self._deployment.project,
            description="Search in the caller's documents.",
            protocol_configuration=agentcore.GatewayProtocol.mcp(
                supported_versions=[agentcore.MCPProtocolVersion.of(name) for name in versions]
            ),
            # Cognito's access tokens carry client_id, and an audience only if the client sent
            # `resource`: the interceptor checks that one.
            authorizer_configuration=agentcore.GatewayAuthorizer.using_cognito(
                user_pool=self._data.user_pool, allowed_clients=[self.sign_in.client]
            ),
            interceptor_configurations=[
                agentcore.LambdaInterceptor.for_request(
                    self.interceptor.function, pass_request_headers=True
                )
            ],
            policy_engine_configuration=agentcore.GatewayPolicyEngineConfig(
                policy_engine=self._engine, mode=agentcore.PolicyEngineMode.ENFORCE
            ),
            role=self._role.without_policy_updates(),
        )
        # Semantic search over tools is meant for hundreds of them, and would add a tool of its own.
        resource = gateway.node.default_child
        assert isinstance(resource, agentcore.CfnGateway), "a Gateway's child is its CfnGateway"
        resource.add_property_deletion_override("ProtocolConfiguration.Mcp.SearchType")
        return gateway

    def _add(self, target: Target) -> None:
        resource = tool_target(
            self,
            target.target,
            gateway_id=self.gateway.gateway_id,
            function_arn=target.handler.function.function_arn,
            description=target.description,
        )
        # Creating a target invokes its function once, as a trial.
        resource.node.add_dependency(*self._only_gateway)
        policies = permit_people(
            self._engine,
            target.target,
            project=self._deployment.project,
            gateway_arn=self.gateway.gateway_arn,
        )
        for policy in policies:
            # A policy names an action, which exists once the target does.
            policy.node.add_dependency(resource)

    @property
    def mcp_url(self) -> str:
        return mcp_url(self.gateway.gateway_id)

    def _add_outputs(self) -> None:
        cdk.CfnOutput(self, "McpUrl", value=self.mcp_url)
        cdk.CfnOutput(self, "ClientId", value=self.sign_in.client.user_pool_client_id)
        cdk.CfnOutput(self, "IdentityPoolId", value=self.sign_in.identity_pool.ref)
