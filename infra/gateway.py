"""
The way in for agents: who may call, and which tools they find.

A token is checked three times: by the gateway's authorizer, by our interceptor, which turns it
into identity headers, and by Cedar. The functions behind it can be invoked by the gateway's role
alone, because whoever invokes them directly could invent those headers.
"""

import aws_cdk as cdk
from aws_cdk import aws_bedrockagentcore as agentcore
from constructs import Construct

from infra.data import DataStack
from infra.deployment import Deployment
from infra.gateway_functions import GatewayFunctions, invoked_by_gateway_only
from infra.gateway_role import GatewayRole
from infra.knowledge_base import KnowledgeBaseStack
from infra.sign_in import SignIn
from infra.tool_target import tool_target, tools

TARGET = "knowledge"


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
            self, "SignIn", user_pool=data.user_pool, uploader_policy=data.uploader_policy
        )
        functions = GatewayFunctions(
            stack=self,
            deployment=deployment,
            data=data,
            knowledge_base=knowledge_base,
            sign_in=self.sign_in,
        )
        self.retrieve = functions.retrieve()
        self.interceptor = functions.interceptor()
        self._engine = agentcore.PolicyEngine(
            self, "Policies", policy_engine_name=deployment.project.replace("-", "_")
        )
        self._role = GatewayRole(
            self,
            "GatewayRole",
            deployment=deployment,
            function_arns=[
                self.retrieve.function.function_arn,
                self.interceptor.function.function_arn,
            ],
            policy_engine_arn=self._engine.policy_engine_arn,
        )
        only_gateway = [
            invoked_by_gateway_only(function, deployment=deployment, role=self._role)
            for function in (self.retrieve, self.interceptor)
        ]
        self.gateway = self._gateway()
        target = tool_target(
            self,
            TARGET,
            gateway_id=self.gateway.gateway_id,
            function_arn=self.retrieve.function.function_arn,
            description="Search in the caller's documents.",
        )
        # Making a target invokes its function once, as a trial.
        target.node.add_dependency(*only_gateway)
        # The policy names an action that exists with the target.
        self._permit_users().node.add_dependency(target)

        self.handlers = [self.retrieve, self.interceptor]
        self._print()

    def _gateway(self) -> agentcore.Gateway:
        versions = ["2025-06-18", "2025-11-25", "2026-07-28"]
        gateway = agentcore.Gateway(
            self,
            "Gateway",
            gateway_name=self._deployment.project,
            description="Search in the caller's documents.",
            protocol_configuration=agentcore.GatewayProtocol.mcp(
                supported_versions=[agentcore.MCPProtocolVersion.of(name) for name in versions]
            ),
            # Cognito's access tokens carry client_id and no audience.
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
        # Semantic search over tools is for hundreds of them, and would add a tool of its own.
        resource = gateway.node.default_child
        assert isinstance(resource, agentcore.CfnGateway), "a Gateway's child is its CfnGateway"
        resource.add_property_deletion_override("ProtocolConfiguration.Mcp.SearchType")
        return gateway

    def _permit_users(self) -> agentcore.Policy:
        """
        The second fence: a user's access token carries a user name, a program's doesn't.
        Cedar denies what no policy permits, and the tool list shows a caller nothing else.
        """
        actions = ", ".join(
            f'AgentCore::Action::"{TARGET}___{tool["name"]}"' for tool in tools(TARGET)
        )
        return self._engine.add_policy(
            "UsersMayAsk",
            policy_name="users_may_ask",
            description="People who signed in may use every tool; whose documents, we decide.",
            statement=agentcore.PolicyStatement.from_cedar(
                "permit(principal is AgentCore::OAuthUser, "
                f"action in [{actions}], "
                f'resource == AgentCore::Gateway::"{self.gateway.gateway_arn}") '
                'when { principal.hasTag("username") };'
            ),
            validation_mode=agentcore.PolicyValidationMode.FAIL_ON_ANY_FINDINGS,
        )

    def _print(self) -> None:
        host = f"{self.gateway.gateway_id}.gateway.bedrock-agentcore.{self.region}"
        cdk.CfnOutput(self, "McpUrl", value=f"https://{host}.{self.url_suffix}/mcp")
        cdk.CfnOutput(self, "ClientId", value=self.sign_in.client.user_pool_client_id)
        cdk.CfnOutput(self, "IdentityPoolId", value=self.sign_in.identity_pool.ref)
