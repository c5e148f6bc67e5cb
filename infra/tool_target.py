"""The tools of a gateway target, in the gateway's format."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aws_cdk import aws_bedrockagentcore as agentcore
from constructs import Construct

# The interceptor sets these headers, whatever the caller sent.
_IDENTITY_HEADERS = ("x-user-sub", "x-user-groups", "x-session-id")

_Schema = agentcore.CfnGatewayTarget.SchemaDefinitionProperty


def schema_file(target: str) -> Path:
    return Path(__file__).with_name("tool_schemas") / f"{target}.json"


def tools(target: str) -> list[dict[str, Any]]:
    """Return the target's tools, which functions/tool_targets.py generates."""
    definitions: list[dict[str, Any]] = json.loads(schema_file(target).read_text("utf-8"))
    return definitions


def tool_target(
    scope: Construct,
    name: str,
    *,
    gateway_id: str,
    function_arn: str,
    description: str,
    headers: Sequence[str] = _IDENTITY_HEADERS,
) -> agentcore.CfnGatewayTarget:
    """
    Create the target as a plain resource: the construct can't allow headers (aws-cdk pull request
    37184).

    `headers` are those that the function receives; if empty, it receives none.
    """
    of = agentcore.CfnGatewayTarget
    functions_tools = of.McpLambdaTargetConfigurationProperty(
        lambda_arn=function_arn,
        tool_schema=of.ToolSchemaProperty(
            inline_payload=[_definition(tool) for tool in tools(name)]
        ),
    )
    return of(
        scope,
        name.title(),
        gateway_identifier=gateway_id,
        name=name,
        description=description,
        credential_provider_configurations=[
            of.CredentialProviderConfigurationProperty(credential_provider_type="GATEWAY_IAM_ROLE")
        ],
        metadata_configuration=of.MetadataConfigurationProperty(
            allowed_request_headers=list(headers)
        )
        if headers
        else None,
        target_configuration=of.TargetConfigurationProperty(
            mcp=of.McpTargetConfigurationProperty(lambda_=functions_tools)
        ),
    )


def _definition(tool: Mapping[str, Any]) -> agentcore.CfnGatewayTarget.ToolDefinitionProperty:
    return agentcore.CfnGatewayTarget.ToolDefinitionProperty(
        name=tool["name"],
        description=tool["description"],
        input_schema=_schema(tool["inputSchema"]),
    )


def _schema(schema: Mapping[str, Any]) -> _Schema:
    """Return a tool's JSON schema; unknown keys fail, since the gateway refuses them."""
    nested = {
        name: _schema(member) for name, member in schema.get("properties", {}).items()
    } or None
    items = _schema(schema["items"]) if "items" in schema else None
    own = {key: value for key, value in schema.items() if key not in ("properties", "items")}
    return _Schema(**own, properties=nested, items=items)
