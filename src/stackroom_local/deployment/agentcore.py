"""The AgentCore Gateway of a template, as the configuration of its stand-in."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stackroom_local.deployment.assembly import Template
from stackroom_local.deployment.intrinsics import REF, Attributes, TemplateScope
from stackroom_local.deployment.localisation import IN_GATEWAY, Resource, made_by_stand_in
from stackroom_local.gateway.gateway_configuration import (
    GatewayConfiguration,
    PolicyConfiguration,
    PolicyEngineConfiguration,
    TargetConfiguration,
    ToolDefinition,
)
from stackroom_local.gateway.issuer import CLIENT_ID
from stackroom_local.gateway.policy_engine import findings, parsed
from stackroom_local.local_errors import DeploymentFailed, UnknownResource
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


def gateway_of(
    template: Template, scope: TemplateScope, *, issuer_url: str
) -> GatewayConfiguration:
    """
    Return the gateway with its targets; `scope` has the attributes of the stack's other resources.
    """
    resources = made_by_stand_in(template, IN_GATEWAY)
    [gateway] = [each for each in resources if each.type == "AWS::BedrockAgentCore::Gateway"]
    targets = [each for each in resources if each.type == "AWS::BedrockAgentCore::GatewayTarget"]
    properties = scope.value(gateway.properties)
    made = scope.resources[gateway.logical_id]
    offered = [_target(each, scope) for each in targets]
    return GatewayConfiguration(
        gateway_id=made[REF],
        # Cognito's issuer and app client are the local issuer's here; nothing else of the
        # authorizer is in the template.
        allowed_client_ids=[CLIENT_ID],
        issuer_url=issuer_url,
        role_arn=properties["RoleArn"],
        interceptor=_interceptor(properties),
        targets=offered,
        policy_engine=policy_engine_of(
            properties, resources, scope, gateway_arn=made["GatewayArn"], targets=offered
        ),
    )


def _interceptor(properties: Mapping[str, Any]) -> str | None:
    configurations = properties.get("InterceptorConfigurations", [])
    if not configurations:
        return None
    [interceptor] = configurations  # one REQUEST interceptor is what the stand-in runs
    return str(interceptor["Interceptor"]["Lambda"]["Arn"])


def _target(resource: Resource, scope: TemplateScope) -> TargetConfiguration:
    properties = scope.value(resource.properties)
    target = properties["TargetConfiguration"]["Mcp"]["Lambda"]
    return TargetConfiguration(
        name=properties["Name"],
        target_id=scope.resources[resource.logical_id]["TargetId"],
        allowed_request_headers=properties["MetadataConfiguration"]["AllowedRequestHeaders"],
        function=target["LambdaArn"],
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
