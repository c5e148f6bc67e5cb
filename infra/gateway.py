"""
The way in for agents: who may call, and which tools they find.

A token is checked three times: by the gateway's authorizer, by our interceptor, which turns it
into identity headers, and by Cedar. The functions behind it can be invoked by the gateway's role
alone, because whoever invokes them directly could invent those headers.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_bedrockagentcore as agentcore
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.acknowledgments import accept_wildcard
from infra.bundling import IDENTITY
from infra.data import PAGE_MAPS, DataStack
from infra.deployment import Deployment
from infra.function import HandlerFunction
from infra.knowledge_base import KnowledgeBaseStack
from infra.sign_in import SignIn

TARGET = "knowledge"
TOOLS = Path(__file__).with_name("tool_schemas") / f"{TARGET}.json"

# Written by the interceptor, whatever the caller sent under these names.
_IDENTITY_HEADERS = ["x-user-sub", "x-user-groups"]

_Schema = agentcore.CfnGatewayTarget.SchemaDefinitionProperty


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
        self._knowledge_base = knowledge_base

        self.sign_in = SignIn(
            self, "SignIn", user_pool=data.user_pool, uploader_policy=data.uploader_policy
        )
        self.retrieve = self._retrieve()
        self.interceptor = self._interceptor()
        self._engine = agentcore.PolicyEngine(
            self, "Policies", policy_engine_name=deployment.project.replace("-", "_")
        )
        self._role = self._gateway_role()
        only_gateway = [
            self._invoked_by_gateway_only(function)
            for function in (self.retrieve, self.interceptor)
        ]
        self.gateway = self._gateway()
        target = self._target()
        # Making a target invokes its function once, as a trial.
        target.node.add_dependency(*only_gateway)
        # The policy names an action that exists with the target.
        self._permit_users().node.add_dependency(target)

        self.handlers = [self.retrieve, self.interceptor]
        self._print()

    def _retrieve(self) -> HandlerFunction:
        handler = HandlerFunction(
            self,
            "Retrieve",
            deployment=self._deployment,
            package="retrieve",
            timeout=cdk.Duration.seconds(30),
            memory_size=1024,
            environment={
                "KB_CATALOG_TABLE": self._data.catalog_table.table_name,
                "KB_DOCS_BUCKET": self._data.bucket.bucket_name,
                "KB_POOL": self._knowledge_base.pool_json,
                "RETRIEVE_MIN_SCORE": "0.0",
                "RETRIEVE_MAX_TOKENS": "4000",
            },
        )
        catalogs = self._data.catalog_table.table_arn
        handler.allow("dynamodb:GetItem", "dynamodb:BatchGetItem", on=catalogs)
        handler.allow("dynamodb:Query", on=[catalogs, f"{catalogs}/index/user_id-index"])
        handler.allow("bedrock:Retrieve", on=self._knowledge_base.knowledge_base_arns)
        # ListBucket, or a page map that doesn't exist answers 403 instead of 404.
        handler.allow("s3:ListBucket", on=self._data.bucket.bucket_arn)
        handler.allow(
            "s3:GetObject",
            on=self._deployment.document_arns(self, PAGE_MAPS),
            because="One map per document.",
        )
        return handler

    def _interceptor(self) -> HandlerFunction:
        return HandlerFunction(
            self,
            "IdentityInterceptor",
            deployment=self._deployment,
            package="identity_interceptor",
            timeout=cdk.Duration.seconds(10),
            memory_size=512,
            environment={
                "IDENTITY_ISSUER": self.sign_in.issuer,
                "IDENTITY_JWKS_URL": f"{self.sign_in.issuer}/.well-known/jwks.json",
                "IDENTITY_CLIENT_IDS": json.dumps([self.sign_in.client.user_pool_client_id]),
            },
            group=IDENTITY,
        )

    def _gateway_role(self) -> iam.Role:
        """Everything the gateway may do, stated here: CDK's own grants are wider and incomplete."""
        caller = {
            "StringEquals": {"aws:SourceAccount": self.account},
            "ArnLike": {"aws:SourceArn": self._agentcore_arn("gateway", "*")},
        }
        role = iam.Role(
            self,
            "GatewayRole",
            role_name=self._deployment.role_name("gateway"),
            assumed_by=iam.ServicePrincipal("bedrock-agentcore.amazonaws.com", conditions=caller),
            inline_policies={"Gateway": iam.PolicyDocument(statements=self._gateway_rights())},
        )
        for arn in (self._gateways(), self._workload_identities()):
            accept_wildcard(
                role,
                arn,
                because="The gateway needs its role first; the suffix of its id comes afterwards,"
                " and the project's name stands before it.",
            )
        return role

    def _gateway_rights(self) -> list[iam.PolicyStatement]:
        directory = self._agentcore_arn("workload-identity-directory", "default")
        engine = self._engine.policy_engine_arn
        return [
            iam.PolicyStatement(
                actions=["lambda:InvokeFunction"],
                resources=[
                    self.retrieve.function.function_arn,
                    self.interceptor.function.function_arn,
                ],
            ),
            # Without it every call answers 500.
            iam.PolicyStatement(
                actions=["bedrock-agentcore:GetWorkloadAccessToken"],
                resources=[directory, self._workload_identities()],
            ),
            iam.PolicyStatement(actions=["bedrock-agentcore:GetPolicyEngine"], resources=[engine]),
            iam.PolicyStatement(
                actions=[
                    "bedrock-agentcore:AuthorizeAction",
                    "bedrock-agentcore:PartiallyAuthorizeActions",
                ],
                resources=[engine, self._gateways()],
            ),
        ]

    def _invoked_by_gateway_only(self, handler: HandlerFunction) -> lambda_.CfnResourcePolicy:
        """
        A whole policy with a Deny: `AWS::Lambda::Permission` only ever adds an Allow, and leaves
        everyone in who has lambda:InvokeFunction by their own role.
        """
        arn = handler.function.function_arn
        gateway = self._deployment.sessions_of(self, "gateway")
        statements = [
            iam.PolicyStatement(
                sid="TheGateway",
                principals=[self._role],
                actions=["lambda:InvokeFunction"],
                resources=[arn],
            ),
            iam.PolicyStatement(
                sid="NobodyElse",
                effect=iam.Effect.DENY,
                principals=[iam.AnyPrincipal()],
                actions=["lambda:InvokeFunction"],
                resources=[arn],
                conditions={"ArnNotLike": {"aws:PrincipalArn": gateway}},
            ),
        ]
        return lambda_.CfnResourcePolicy(
            handler,
            "OnlyTheGateway",
            resource_arn=arn,
            policy_document=iam.PolicyDocument(statements=statements),
        )

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
        # A search over tools pays for hundreds of them; it would add a tool of its own to these.
        resource = gateway.node.default_child
        assert isinstance(resource, agentcore.CfnGateway), "a Gateway's child is its CfnGateway"
        resource.add_property_deletion_override("ProtocolConfiguration.Mcp.SearchType")
        return gateway

    def _target(self) -> agentcore.CfnGatewayTarget:
        """The plain resource: the construct can't allow headers (aws-cdk pull request 37184)."""
        of = agentcore.CfnGatewayTarget
        return of(
            self,
            "Knowledge",
            gateway_identifier=self.gateway.gateway_id,
            name=TARGET,
            description="Search in the caller's documents.",
            credential_provider_configurations=[
                of.CredentialProviderConfigurationProperty(
                    credential_provider_type="GATEWAY_IAM_ROLE"
                )
            ],
            metadata_configuration=of.MetadataConfigurationProperty(
                allowed_request_headers=_IDENTITY_HEADERS
            ),
            target_configuration=of.TargetConfigurationProperty(
                mcp=of.McpTargetConfigurationProperty(
                    lambda_=of.McpLambdaTargetConfigurationProperty(
                        lambda_arn=self.retrieve.function.function_arn,
                        tool_schema=of.ToolSchemaProperty(
                            inline_payload=[_definition(tool) for tool in tools()]
                        ),
                    )
                )
            ),
        )

    def _permit_users(self) -> agentcore.Policy:
        """
        The second fence: a user's access token carries a user name, a program's doesn't.
        Cedar denies what no policy permits, and the tool list shows a caller nothing else.
        """
        actions = ", ".join(f'AgentCore::Action::"{TARGET}___{tool["name"]}"' for tool in tools())
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

    def _gateways(self) -> str:
        """A gateway's id is its name and a suffix that only exists with it."""
        return self._agentcore_arn("gateway", f"{self._deployment.project}-*")

    def _workload_identities(self) -> str:
        name = f"default/workload-identity/{self._deployment.project}-*"
        return self._agentcore_arn("workload-identity-directory", name)

    def _agentcore_arn(self, resource: str, name: str) -> str:
        return self.format_arn(service="bedrock-agentcore", resource=resource, resource_name=name)

    def _print(self) -> None:
        host = f"{self.gateway.gateway_id}.gateway.bedrock-agentcore.{self.region}"
        cdk.CfnOutput(self, "McpUrl", value=f"https://{host}.{self.url_suffix}/mcp")
        cdk.CfnOutput(self, "ClientId", value=self.sign_in.client.user_pool_client_id)
        cdk.CfnOutput(self, "IdentityPoolId", value=self.sign_in.identity_pool.ref)


def tools() -> list[dict[str, Any]]:
    """The target's tools, as `python -m stackroom.tools` prints them."""
    definitions: list[dict[str, Any]] = json.loads(TOOLS.read_text("utf-8"))
    return definitions


def _definition(tool: Mapping[str, Any]) -> agentcore.CfnGatewayTarget.ToolDefinitionProperty:
    return agentcore.CfnGatewayTarget.ToolDefinitionProperty(
        name=tool["name"],
        description=tool["description"],
        input_schema=_schema(tool["inputSchema"]),
    )


def _schema(schema: Mapping[str, Any]) -> _Schema:
    """A tool's JSON schema; unknown keys fail, since the gateway refuses them."""
    nested = {
        name: _schema(member) for name, member in schema.get("properties", {}).items()
    } or None
    items = _schema(schema["items"]) if "items" in schema else None
    own = {key: value for key, value in schema.items() if key not in ("properties", "items")}
    return _Schema(**own, properties=nested, items=items)
