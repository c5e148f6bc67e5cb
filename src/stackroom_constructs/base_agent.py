"""The base of all agents: a role, a key, a log group, and the agent's definition."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct, IConstruct

from stackroom_constructs import environment
from stackroom_constructs.acknowledgments import accept_wildcard
from stackroom_constructs.agent_definition import AgentDefinitionProps
from stackroom_constructs.agent_knowledge_bases import AgentKnowledgeBases
from stackroom_constructs.agent_network import AgentNetwork
from stackroom_constructs.argument_checks import InvalidArgument, check_flag, check_kind
from stackroom_constructs.bundling import BASE_SERVICES, Bundle, source_of

# The log group of an agent's function, encrypted with the agent's key.

# Personal data that a question may contain: email and postal addresses, credentials,
# card numbers.
# https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/protect-sensitive-log-data-types.html
_PROTECTED = (
    logs.DataIdentifier.EMAILADDRESS,
    logs.DataIdentifier.ADDRESS,
    logs.DataIdentifier.AWSSECRETKEY,
    logs.DataIdentifier.OPENSSHPRIVATEKEY,
    logs.DataIdentifier.PGPPRIVATEKEY,
    logs.DataIdentifier.PKCSPRIVATEKEY,
    logs.DataIdentifier.PUTTYPRIVATEKEY,
    logs.DataIdentifier.CREDITCARDNUMBER,
    logs.DataIdentifier.CREDITCARDEXPIRATION,
    logs.DataIdentifier.CREDITCARDSECURITYCODE,
)


class AgentLogs(logs.LogGroup):
    """
    A log group that is encrypted with the agent's key.

    With observability on, it contains people's questions; then CloudWatch Logs also finds, counts
    and masks personal data and credentials in it. An imported key can't be changed here: the app
    gets a warning that the key's own policy must let CloudWatch Logs use it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        key: kms.IKey,
        is_observed: bool,
        removal_policy: cdk.RemovalPolicy,
    ) -> None:
        # The name is fixed, because the key's policy names the group and the group the key.
        name = f"/aws/lambda/{cdk.Names.unique_resource_name(scope, separator='-')}"
        super().__init__(
            scope,
            construct_id,
            log_group_name=name,
            encryption_key=key,
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=removal_policy,
            data_protection_policy=(
                logs.DataProtectionPolicy(identifiers=list(_PROTECTED)) if is_observed else None
            ),
        )
        allowed = key.add_to_resource_policy(_log_encryption(self, name))
        if not allowed.statement_added:
            cdk.Annotations.of(self).add_warning_v2(
                "stackroom:key-of-logs",
                "The policy of this agent's encryption_key must let CloudWatch Logs use it for"
                f" {name}, see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/"
                "encrypt-log-data-kms.html",
            )


def _log_encryption(scope: Construct, log_group_name: str) -> iam.PolicyStatement:
    """
    Return the statement of the key's policy for the log group.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
    """
    arn = cdk.Stack.of(scope).format_arn(
        service="logs",
        resource="log-group",
        resource_name=log_group_name,
        arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
    )
    return iam.PolicyStatement(
        principals=[iam.ServicePrincipal(f"logs.{cdk.Aws.REGION}.amazonaws.com")],
        actions=[
            "kms:Encrypt",
            "kms:Decrypt",
            "kms:ReEncryptFrom",
            "kms:ReEncryptTo",
            "kms:GenerateDataKey",
            "kms:GenerateDataKeyWithoutPlaintext",
            "kms:DescribeKey",
        ],
        resources=["*"],  # of a key's policy: the key
        conditions={"ArnEquals": {"kms:EncryptionContext:aws:logs:arn": arn}},
    )


# Wildcards in the statements of knowledge bases that IAM requires.

# https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonbedrock.html
_WITHOUT_RESOURCE = {"bedrock:RetrieveAndGenerate", "bedrock:Rerank"}
_ANY_REGION = ":bedrock:*::foundation-model/"
_GUARDRAIL_PROFILES = ":guardrail-profile/*"


def accept_statements(construct: IConstruct, statements: Sequence[iam.PolicyStatement]) -> None:
    """Accept the wildcards that IAM requires; any other needs a reason of its own."""
    everywhere = [each for each in statements if "*" in each.resources]
    if everywhere and all(set(each.actions) <= _WITHOUT_RESOURCE for each in everywhere):
        names = sorted({action for each in everywhere for action in each.actions})
        because = f"{' and '.join(names)} have no resource type in IAM."
        accept_wildcard(construct, "*", because=because)
    for statement in statements:
        by_profile = "bedrock:InferenceProfileArn" in str(statement.conditions)
        for arn in statement.resources:
            if by_profile and _ANY_REGION in arn and arn.count("*") == 1:
                because = "One model, in the regions of its inference profile, and only by that."
                accept_wildcard(construct, arn, because=because)
            elif arn.endswith(_GUARDRAIL_PROFILES):
                because = "Without the guardrail itself, a profile of guardrails applies nothing."
                accept_wildcard(construct, arn, because=because)


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}")


class BaseAgent(Construct):
    """
    The half that agents share; `BatchAgent` adds a function to it, `InteractiveAgent` a runtime.

    agent_name: Name in logs and metrics: 1 to 64 letters, digits, spaces, `.`, `_`, `-`.
    agent_definition: Model, prompt, tools, knowledge bases.
    enable_observability: Log questions, with personal data masked, and count results.
    network, encryption_key: VPC and KMS key; by default no VPC and a new, rotating key.
    removal_policy: Of key and logs.
    agent_architecture: Of the function.

    The role may read the prompt and the tools, by their exact keys. If the account's bootstrap
    bucket has a KMS key of its own, `additional_policy_statements_for_tools` must allow kms:Decrypt
    on it. Raises InvalidArgument, and TooLarge for more than a function's environment holds.
    """

    # The action for Converse; ConverseStream takes another one.
    MODEL_ACTION = "bedrock:InvokeModel"

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        agent_name: str,
        agent_definition: AgentDefinitionProps,
        enable_observability: bool = False,
        network: AgentNetwork | None = None,
        encryption_key: kms.IKey | None = None,
        removal_policy: cdk.RemovalPolicy = cdk.RemovalPolicy.DESTROY,
        agent_architecture: lambda_.Architecture = lambda_.Architecture.ARM_64,
    ) -> None:
        super().__init__(scope, construct_id)
        if not _NAME.fullmatch(agent_name):
            raise InvalidArgument(self, "agent_name", agent_name, f"text like {_NAME.pattern}")
        check_flag(self, "enable_observability", enable_observability)
        if network is not None:
            check_kind(self, "network", network, AgentNetwork, "an AgentNetwork")
        self.agent_name = agent_name
        self.definition = agent_definition
        self.is_observed = enable_observability
        self.network = network
        self.architecture = agent_architecture
        self.bedrock_model = agent_definition.model(self)
        agent_definition.check_assets(self)
        self._budget = agent_definition.budget(self)
        self.knowledge_bases = AgentKnowledgeBases.of(self, agent_definition.knowledge_bases or ())
        own_assets = [each.asset for each in self.knowledge_bases.own_tools]
        assets = [*agent_definition.tools, *(each for each in own_assets if each is not None)]
        # Without duplicates, since the tool of a knowledge base may also be among the agent's
        # tools.
        self._tools = list({each.asset_hash: each for each in assets}.values())
        self.encryption_key = encryption_key or kms.Key(
            self, "Key", enable_key_rotation=True, removal_policy=removal_policy
        )
        self.removal_policy = removal_policy
        self.agent_role = self._role()
        self._allow_model_and_assets()
        self._allow_host()
        self.variables = self._variables()

    def _role(self) -> iam.Role:
        definition, linked = self.definition, self.knowledge_bases
        stated = {
            "Tools": definition.additional_policy_statements_for_tools,
            "KnowledgeBases": (
                *linked.statements,
                *definition.additional_policy_statements_for_knowledge_bases,
            ),
        }
        role = iam.Role(
            self,
            "Role",
            assumed_by=self._host(),
            inline_policies={
                # Not minimised, so that others' statements are not merged and can be found.
                name: iam.PolicyDocument(statements=list(statements), minimize=False)
                for name, statements in stated.items()
                if statements
            },
        )
        if linked.statements:
            # The acknowledgment covers the whole role: it applies to each of its inline policies.
            itself = role.node.default_child
            assert itself is not None, "a role is a resource"
            accept_statements(
                itself, [each for statements in stated.values() for each in statements]
            )
        return role

    def _allow_model_and_assets(self) -> None:
        for right in self.bedrock_model.rights(self, by=(self.MODEL_ACTION,)):
            self.agent_role.add_to_principal_policy(right.statement())
            for arn in right.resources:
                if "*" in arn:
                    accept_wildcard(self.agent_role, arn, because=right.because)
        read = [
            each.bucket.arn_for_objects(each.s3_object_key)
            for each in (self.definition.system_prompt, *self._tools)
        ]
        self.allow("s3:GetObject", *read)

    def _host(self) -> iam.IPrincipal:
        """Return the principal that runs the agent and assumes its role."""
        return iam.ServicePrincipal("lambda.amazonaws.com")

    def _allow_host(self) -> None:
        self.log_group = AgentLogs(
            self,
            "Logs",
            key=self.encryption_key,
            is_observed=self.is_observed,
            removal_policy=self.removal_policy,
        )
        streams = f"{self.log_group.log_group_arn}:*"
        self.allow("logs:CreateLogStream logs:PutLogEvents", streams)
        accept_wildcard(
            self.agent_role, streams, because="Streams are named when an environment starts."
        )
        # Lambda decrypts the environment with the role, by a grant that a recreated role has lost.
        # https://repost.aws/knowledge-center/lambda-kmsaccessdeniedexception-errors
        self.allow("kms:Decrypt", self.encryption_key.key_arn)
        if self.network is not None:
            self.network.allow(self.agent_role)

    def allow(self, actions: str, *resources: str) -> None:
        """Allow `actions`, separated by spaces."""
        self.agent_role.add_to_principal_policy(
            iam.PolicyStatement(actions=actions.split(), resources=list(resources))
        )

    def _variables(self) -> dict[str, str]:
        prompt, linked = self.definition.system_prompt, self.knowledge_bases
        modules = [{"module": each.module} for each in linked.own_tools if each.module is not None]
        tools = [*map(_location, self._tools), *modules]
        variables = {
            "SYSTEM_PROMPT_S3_BUCKET_NAME": prompt.s3_bucket_name,
            "SYSTEM_PROMPT_S3_KEY": prompt.s3_object_key,
            "TOOLS_CONFIG": json.dumps(tools, separators=(",", ":")),
            "MODEL_ID": self.bedrock_model.id,
            "POWERTOOLS_SERVICE_NAME": self.agent_name,
            "POWERTOOLS_METRICS_NAMESPACE": "Stackroom",
            "LOG_LEVEL": "INFO",
        }
        if linked.entries:
            variables[environment.KNOWLEDGE_BASES_CONFIG] = environment.knowledge_bases_config(
                self, linked.entries
            )
            variables |= self._budget
        if self.is_observed:
            variables["ENABLE_OBSERVABILITY"] = "true"
        return variables


def _location(tool: s3_assets.Asset) -> dict[str, Any]:
    return {
        "bucketName": tool.s3_bucket_name,
        "key": tool.s3_object_key,
        # The CDK sets both for a zip that is given as a file; the handler accepts only one of them.
        "isFile": tool.is_file and not tool.is_zip_archive,
        "isZipArchive": tool.is_zip_archive,
    }


# The content of an agent's zip: Stackroom's code, and the packages of the agent and its tools.

_CONTEXT = "stackroom:bundling"
# The services that an agent calls if it runs only Stackroom's own code.
SERVICES = BASE_SERVICES | {
    "bedrock-agent-runtime",
    "bedrock-runtime",
    "rds",  # signs the tokens that PostgreSQL is reached with
    "s3",
    "s3vectors",
    "sqs",
}


def agent_bundle(
    agent: BaseAgent,
    *,
    extras: tuple[str, ...] = ("agents",),
    files: Mapping[str, str] | None = None,
) -> Bundle:
    linked = agent.knowledge_bases
    runs_others_code = bool(
        agent.definition.tools
        or agent.definition.lambda_layers
        or linked.own_tools
        or linked.layers
        or linked.packages
    )
    return Bundle(
        folders={
            name: source_of(name) for name in ("stackroom_agents", "stackroom", "stackroom_stores")
        },
        files=files or {},
        extras=extras,
        packages=linked.packages,
        # The calls of others' code are unknown, so that every service must remain.
        services=None if runs_others_code else SERVICES,
        architecture=agent.architecture,
    )


def has_dependencies(agent: BaseAgent) -> bool:
    for name in agent.node.get_all_context():
        if name.startswith("stackroom:") and name != _CONTEXT:
            raise InvalidArgument(
                agent, "context", name, f"{_CONTEXT!r}, the only one of Stackroom"
            )
    chosen = agent.node.try_get_context(_CONTEXT) or "full"
    if chosen not in ("full", "none"):
        raise InvalidArgument(agent, f"context {_CONTEXT}", chosen, "'full' or 'none'")
    return bool(chosen == "full")
