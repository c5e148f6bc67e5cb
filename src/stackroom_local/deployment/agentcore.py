"""The AgentCore Gateway of a template, as the configuration of its stand-in."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bedrock_kb_simulator.access_keys import AccessKey, write_private
from stackroom_local.deployment.assembly import Template
from stackroom_local.deployment.intrinsics import REF, Attributes, TemplateScope
from stackroom_local.deployment.localisation import IN_GATEWAY, Resource, made_by_stand_in
from stackroom_local.deployment.resource_policies import InvocationRights
from stackroom_local.gateway.gateway_configuration import (
    FunctionConfiguration,
    GatewayConfiguration,
    PolicyConfiguration,
    PolicyEngineConfiguration,
    TargetConfiguration,
    ToolDefinition,
    mcp_urls,
)
from stackroom_local.gateway.issuer import CLIENT_ID
from stackroom_local.gateway.policy_engine import findings, parsed
from stackroom_local.local_errors import DeploymentFailed, UnknownResource
from stackroom_local.project_files import task_root
from stackroom_local.state import ACCOUNT, REGION

_ARN = f"arn:aws:bedrock-agentcore:{REGION}:{ACCOUNT}"


def attributes_of(stack: str, resource: Resource) -> Attributes:
    """
    Return the values of references to a resource before it exists; on AWS ids end at random.

    Return values as in the CloudFormation reference of each type.
    """
    name = f"{resource.properties.get('Name', resource.logical_id)}-local00000"
    id_ = name.replace("_", "-")
    gateway = f"{_ARN}:gateway/{id_}"
    engine = f"{_ARN}:policy-engine/{id_}"
    match resource.type:
        case "AWS::BedrockAgentCore::Gateway":
            return {
                REF: id_,
                "GatewayIdentifier": id_,
                "GatewayArn": gateway,
                "GatewayUrl": f"https://{id_}.gateway.bedrock-agentcore.{REGION}.amazonaws.com/mcp",
            }
        case "AWS::BedrockAgentCore::GatewayTarget":
            return {REF: id_, "TargetId": id_}
        case "AWS::BedrockAgentCore::PolicyEngine":
            return {REF: engine, "PolicyEngineArn": engine, "PolicyEngineId": id_}
        case "AWS::BedrockAgentCore::Policy":
            return {REF: name, "PolicyId": name}
        case _:
            raise UnknownResource(stack, resource.logical_id, resource.type)


@dataclass(frozen=True, kw_only=True)
class FunctionEnvironment:
    """
    The functions behind the gateway as ministack's Lambda has them; `aws_lambda` is its client.

    Their processes are the stand-in's, since ministack passes no client context. Each gets its
    synthesised role from a profile of `config_file`, by which boto3 assumes and renews it.
    """

    aws_lambda: Any
    rights: InvocationRights
    endpoints: Mapping[str, str]
    key: AccessKey  # that may assume their roles
    config_file: Path

    def of(self, arn: str, **overrides: str) -> FunctionConfiguration:
        deployed = self.aws_lambda.get_function_configuration(FunctionName=arn)
        name = deployed["FunctionName"]
        self._add_profile(name, deployed["Role"])
        return FunctionConfiguration(
            name=name,
            handler=deployed["Handler"],
            timeout_seconds=deployed["Timeout"],
            memory=deployed["MemorySize"],
            environment={
                **deployed["Environment"]["Variables"],
                **self.endpoints,
                "AWS_CONFIG_FILE": str(self.config_file),
                "AWS_PROFILE": name,
                **overrides,
            },
        )

    def _add_profile(self, name: str, role: str) -> None:
        with self.config_file.open("a") as file:
            file.write(f"[profile {name}]\nrole_arn = {role}\nsource_profile = local\n")

    def begin(self) -> None:
        profile = (
            f"[profile local]\naws_access_key_id = {self.key.access_key_id}\n"
            f"aws_secret_access_key = {self.key.secret_access_key}\nregion = {REGION}\n"
        )
        write_private(self.config_file, profile.encode())


def gateway_of(
    template: Template, scope: TemplateScope, functions: FunctionEnvironment, *, issuer_url: str
) -> GatewayConfiguration:
    """
    Return the gateway with its targets; `scope` has the attributes of the stack's other resources.
    """
    functions.begin()
    resources = made_by_stand_in(template, IN_GATEWAY)
    [gateway] = [each for each in resources if each.type == "AWS::BedrockAgentCore::Gateway"]
    targets = [each for each in resources if each.type == "AWS::BedrockAgentCore::GatewayTarget"]
    properties = scope.value(gateway.properties)
    made = scope.resources[gateway.logical_id]
    functions.rights.require(scope.stack, properties["RoleArn"], _invoked(resources, scope))
    offered = [_target(each, scope, functions) for each in targets]
    return GatewayConfiguration(
        gateway_id=made[REF],
        # Cognito's issuer and app client are the local issuer's here; nothing else of the
        # authorizer is in the template.
        allowed_client_ids=[CLIENT_ID],
        issuer_url=issuer_url,
        interceptor=_interceptor(properties, functions, issuer_url),
        targets=offered,
        policy_engine=policy_engine_of(
            properties, resources, scope, gateway_arn=made["GatewayArn"], targets=offered
        ),
        task_root=task_root(),
    )


def _invoked(resources: Iterable[Resource], scope: TemplateScope) -> Iterator[str]:
    """Yield the functions that a gateway and its targets name."""
    for resource in resources:
        properties = scope.value(resource.properties)
        match resource.type:
            case "AWS::BedrockAgentCore::Gateway":
                for configuration in properties.get("InterceptorConfigurations", []):
                    yield configuration["Interceptor"]["Lambda"]["Arn"]
            case "AWS::BedrockAgentCore::GatewayTarget":
                yield properties["TargetConfiguration"]["Mcp"]["Lambda"]["LambdaArn"]


def _interceptor(
    properties: Mapping[str, Any], functions: FunctionEnvironment, issuer_url: str
) -> FunctionConfiguration | None:
    configurations = properties.get("InterceptorConfigurations", [])
    if not configurations:
        return None
    [interceptor] = configurations  # one REQUEST interceptor is what the stand-in runs
    port = urlsplit(issuer_url).port
    assert port is not None, "the stand-in is the issuer too, at a port of its own"
    return functions.of(
        interceptor["Interceptor"]["Lambda"]["Arn"],
        IDENTITY_ISSUER=issuer_url,
        IDENTITY_JWKS_URL=f"{issuer_url}/.well-known/jwks.json",
        IDENTITY_CLIENT_IDS=json.dumps([CLIENT_ID]),
        IDENTITY_AUDIENCES=json.dumps(mcp_urls(port)),
    )


def _target(
    resource: Resource, scope: TemplateScope, functions: FunctionEnvironment
) -> TargetConfiguration:
    properties = scope.value(resource.properties)
    target = properties["TargetConfiguration"]["Mcp"]["Lambda"]
    return TargetConfiguration(
        name=properties["Name"],
        target_id=scope.resources[resource.logical_id]["TargetId"],
        allowed_request_headers=properties["MetadataConfiguration"]["AllowedRequestHeaders"],
        function=functions.of(target["LambdaArn"]),
        tools=[_tool(tool) for tool in target["ToolSchema"]["InlinePayload"]],
    )


def _tool(definition: Mapping[str, Any]) -> ToolDefinition:
    return ToolDefinition(
        name=definition["Name"],
        description=definition["Description"],
        inputSchema=_schema(definition["InputSchema"]),
    )


def _schema(definition: Mapping[str, Any]) -> Any:
    """
    Return a schema with its keywords as the API spells them; CloudFormation capitalises keywords
    only.
    """
    schema = {name.lower(): value for name, value in definition.items()}
    if "items" in schema:
        schema["items"] = _schema(schema["items"])
    if "properties" in schema:
        schema["properties"] = {
            name: _schema(value) for name, value in schema["properties"].items()
        }
    return schema


# The Cedar policies of a template, checked as the service checks them when they are made.


def policy_engine_of(
    gateway: Mapping[str, Any],
    resources: Iterable[Resource],
    scope: TemplateScope,
    *,
    gateway_arn: str,
    targets: Sequence[TargetConfiguration],
) -> PolicyEngineConfiguration | None:
    """
    Return the engine that a gateway's properties name, with its policies, or None.

    Raises `DeploymentFailed` for an invalid policy, with Cedar's reasons.
    """
    configuration = gateway.get("PolicyEngineConfiguration")
    if configuration is None:
        return None
    policies = []
    for resource in resources:
        if resource.type == "AWS::BedrockAgentCore::Policy":
            properties = scope.value(resource.properties)
            if configuration["Arn"].endswith(f":policy-engine/{properties['PolicyEngineId']}"):
                _check(scope.stack, resource.logical_id, properties, targets)
                id_ = scope.resources[resource.logical_id]["PolicyId"]
                policies.append(
                    PolicyConfiguration(policy_id=id_, statement=_statement(properties))
                )
    return PolicyEngineConfiguration(gateway_arn=gateway_arn, policies=policies)


def _statement(properties: Mapping[str, Any]) -> str:
    statement: str = properties["Definition"]["Cedar"]["Statement"]
    return statement


def _check(
    stack: str,
    logical_id: str,
    properties: Mapping[str, Any],
    targets: Sequence[TargetConfiguration],
) -> None:
    """
    Check names and types, as the service does in every mode of validation.

    https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/policy-create-update-validation.html
    """
    statement = _statement(properties)
    try:
        parsed(statement)
        found = findings(statement, targets)
    except ValueError as error:
        raise DeploymentFailed(stack, "refused", [f"{logical_id}: no Cedar: {error}"]) from error
    if found:
        raise DeploymentFailed(stack, "refused", [f"{logical_id}: {each}" for each in found])
