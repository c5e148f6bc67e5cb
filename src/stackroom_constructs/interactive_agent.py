"""An agent that people talk to: a process in AgentCore Runtime that streams its answers."""

import json

import aws_cdk as cdk
from aws_cdk import aws_bedrockagentcore as agentcore
from aws_cdk import aws_cognito as cognito
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

from stackroom_constructs import environment
from stackroom_constructs.acknowledgments import accept, accept_wildcard
from stackroom_constructs.agent_definition import AgentDefinitionProps
from stackroom_constructs.agent_network import AgentNetwork
from stackroom_constructs.argument_checks import InvalidArgument
from stackroom_constructs.base_agent import BaseAgent, agent_bundle, has_dependencies

# A file at the root of the zip, next to which its imports are found. The local mode recognises our
# agents by its name.
ENTRY_POINT = "stackroom_interactive_agent.py"
_ENTRY = "from stackroom_agents.interactive import serve\n\nserve()\n"
_LOGS = "/aws/bedrock-agentcore/runtimes/"


class InteractiveAgent(BaseAgent):
    """
    A process in AgentCore Runtime that streams answers to signed-in users and remembers sessions.

    user_pool: Cognito pool whose users may ask.
    user_pool_clients: Its app clients whose tokens are accepted.
    session_ttl: Whole days that sessions are kept after their last turn; 1 by default.
    removal_policy: Of key and session bucket, which is deleted only if empty.

    `.invocations_url` is its address once it is deployed.

    For the other arguments see BaseAgent. It has no layers, since a runtime takes none, and no text
    of a question is in any log.
    """

    MODEL_ACTION = "bedrock:InvokeModelWithResponseStream"

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        agent_name: str,
        agent_definition: AgentDefinitionProps,
        user_pool: cognito.IUserPool,
        user_pool_clients: list[cognito.IUserPoolClient],
        session_ttl: cdk.Duration | None = None,
        network: AgentNetwork | None = None,
        encryption_key: kms.IKey | None = None,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.DESTROY,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            agent_name=agent_name,
            agent_definition=agent_definition,
            network=network,
            encryption_key=encryption_key,
            removal_policy=removal_policy,
        )
        if not user_pool_clients:
            raise InvalidArgument(self, "user_pool_clients", user_pool_clients, "one or more")
        if layers := [*agent_definition.lambda_layers, *self.knowledge_bases.layers]:
            raise InvalidArgument(
                self, "lambda_layers", layers, "empty, since a runtime has no layers"
            )
        self.sessions = self._sessions(session_ttl or cdk.Duration.days(1))
        issuer = (
            f"https://cognito-idp.{user_pool.env.region}.amazonaws.com/{user_pool.user_pool_id}"
        )
        clients = [each.user_pool_client_id for each in user_pool_clients]
        variables = {
            **self.variables,
            "SESSIONS_BUCKET": self.sessions.bucket_name,
            "IDENTITY_ISSUER": issuer,
            "IDENTITY_JWKS_URL": f"{issuer}/.well-known/jwks.json",
            "IDENTITY_CLIENT_IDS": json.dumps(clients),
            "AWS_DEFAULT_REGION": cdk.Stack.of(self).region,
        }
        environment.check_each(self, variables)
        self.runtime = self._runtime(variables, issuer, clients)
        self.runtime.node.add_dependency(self.agent_role)  # and its policy
        stack = cdk.Stack.of(self)
        arn = (
            f"arn%3A{stack.partition}%3Abedrock-agentcore%3A{stack.region}%3A{stack.account}"
            f"%3Aruntime%2F{self.runtime.attr_agent_runtime_id}"
        )
        self.invocations_url = (
            f"https://bedrock-agentcore.{stack.region}.amazonaws.com/runtimes/{arn}/invocations"
        )

    def _host(self) -> iam.IPrincipal:
        """
        Return AgentCore's principal.

        https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/runtime-permissions.html
        """
        return iam.ServicePrincipal(
            "bedrock-agentcore.amazonaws.com",
            conditions={"StringEquals": {"aws:SourceAccount": cdk.Stack.of(self).account}},
        )

    def _allow_host(self) -> None:
        """
        Allow the runtime to write logs with the role.

        Of the rights on AWS's page, only these are needed: the agent uses no image, trace, metric
        or workload token. The runtime creates the log group, and names it after itself with ten
        random characters.
        https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/runtime-permissions.html
        """
        self.runtime_name = cdk.Names.unique_resource_name(self, max_length=48)
        stack = cdk.Stack.of(self)
        groups = f"arn:{stack.partition}:logs:{stack.region}:{stack.account}:log-group:"
        every, own = f"{groups}*", f"{groups}{_LOGS}{self.runtime_name}-*"
        for actions, resource in (
            ("logs:DescribeLogGroups", every),
            ("logs:DescribeLogStreams logs:CreateLogGroup", own),
            ("logs:CreateLogStream logs:PutLogEvents", f"{own}:log-stream:*"),
        ):
            self.allow(actions, resource)
            accept_wildcard(
                self.agent_role, resource, because="The runtime names its log group and streams."
            )

    def _sessions(self, retention: cdk.Duration) -> s3.Bucket:
        bucket = s3.Bucket(
            self,
            "Sessions",
            encryption=s3.BucketEncryption.KMS,
            encryption_key=self.encryption_key,
            bucket_key_enabled=True,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            removal_policy=self.removal_policy,
            lifecycle_rules=[s3.LifecycleRule(expiration=retention)],
        )
        accept(bucket, "S1", because="The agent alone reads it; who asks what is nobody's to log.")
        objects = bucket.arn_for_objects("*")
        self.allow("s3:GetObject s3:PutObject", objects)
        # With it S3 reports a missing session as not found instead of forbidden.
        self.allow("s3:ListBucket", bucket.bucket_arn)
        self.allow("kms:Decrypt kms:GenerateDataKey", self.encryption_key.key_arn)
        accept_wildcard(self.agent_role, objects, because="Sessions are named by their users.")
        return bucket

    def _runtime(
        self, variables: dict[str, str], issuer: str, clients: list[str]
    ) -> agentcore.CfnRuntime:
        """
        Create the runtime as an L1, because the L2 adds rights to the role that it doesn't need.
        """
        bundle = agent_bundle(self, extras=("agents", "identity"), files={ENTRY_POINT: _ENTRY})
        code = s3_assets.Asset(
            self, "Code", **bundle.asset(with_dependencies=has_dependencies(self))
        )
        self.allow("s3:GetObject", code.bucket.arn_for_objects(code.s3_object_key))
        of = agentcore.CfnRuntime
        return of(
            self,
            "Runtime",
            agent_runtime_name=self.runtime_name,
            agent_runtime_artifact=of.AgentRuntimeArtifactProperty(
                code_configuration=of.CodeConfigurationProperty(
                    code=of.CodeProperty(
                        s3=of.S3LocationProperty(
                            bucket=code.s3_bucket_name, prefix=code.s3_object_key
                        )
                    ),
                    entry_point=[ENTRY_POINT],
                    runtime="PYTHON_3_13",
                )
            ),
            role_arn=self.agent_role.role_arn,
            network_configuration=(
                self.network.runtime_configuration(self)
                if self.network is not None
                else of.NetworkConfigurationProperty(network_mode="PUBLIC")
            ),
            protocol_configuration="HTTP",
            environment_variables=variables,
            authorizer_configuration=of.AuthorizerConfigurationProperty(
                custom_jwt_authorizer=of.CustomJWTAuthorizerConfigurationProperty(
                    discovery_url=f"{issuer}/.well-known/openid-configuration",
                    allowed_clients=clients,
                )
            ),
            # Without it the process doesn't get the token, and answers nobody.
            request_header_configuration=of.RequestHeaderConfigurationProperty(
                request_header_allowlist=["Authorization"]
            ),
        )
