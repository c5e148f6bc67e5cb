"""What agents are told of our tools, against what the tools take and what the gateway does."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from docs.tools import TOOLS as PAGE
from docs.tools import tools
from functions.tool_targets import ALONE, SCHEMAS, TARGETS, TOOLS_CONFIG, schema_file
from stackroom.catalog_tools.front_end import tools_config
from stackroom.gateway.tool import Arguments, Tool

EVERY = {**TARGETS, **ALONE}
TOOLS = [(target, tool) for target, tools in EVERY.items() for tool in tools]


def schemas_in(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for member in schema.get("properties", {}).values():
        yield from schemas_in(member)
    if "items" in schema:
        yield from schemas_in(schema["items"])


def test_what_is_deployed_and_what_pages_and_the_front_end_say_is_what_the_code_defines() -> None:
    deployed = {path.stem: path.read_text() for path in SCHEMAS.glob("*.json")}

    assert deployed == {target: schema_file(target) for target in EVERY}, "run: make generated"
    assert PAGE.read_text("utf-8") == tools(), "run: make generated"
    assert TOOLS_CONFIG.read_text("utf-8") == tools_config(), "run: make generated"


@pytest.mark.parametrize("target", EVERY)
def test_the_gateway_accepts_the_schemas(target: str) -> None:
    gateway = boto3.client(
        "bedrock-agentcore-control",
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )
    payload = json.loads(schema_file(target))
    function = {
        "lambdaArn": "arn:aws:lambda:us-east-1:123456789012:function:f",
        "toolSchema": {"inlinePayload": payload},
    }
    mcp = {"lambda": function}
    answer = {
        "gatewayArn": "arn:aws:bedrock-agentcore:us-east-1:123456789012:gateway/g-1234567890",
        "targetId": "T123456789",
        "createdAt": 0,
        "updatedAt": 0,
        "status": "READY",
        "name": target,
        "targetConfiguration": {"mcp": mcp},
        "credentialProviderConfigurations": [{"credentialProviderType": "GATEWAY_IAM_ROLE"}],
    }

    with Stubber(gateway) as stubber:
        stubber.add_response("create_gateway_target", answer)
        gateway.create_gateway_target(
            gatewayIdentifier="g-1234567890", name=target, targetConfiguration={"mcp": mcp}
        )

    stubber.assert_no_pending_responses()


@pytest.mark.parametrize(("target", "tool"), TOOLS)
def test_a_tools_name_fits_every_argument_is_described_and_none_asks_who_calls(
    target: str, tool: Tool[Arguments]
) -> None:
    # Bedrock Converse: toolSpec.name, at most 64 of [a-zA-Z0-9_-]
    assert len(f"{target}___{tool.name}") <= 64
    definition = json.loads(json.dumps(tool.definition()))
    properties = definition["inputSchema"]["properties"]

    assert all(member.get("type") for member in schemas_in(definition["inputSchema"]))
    assert all(member.get("description") for member in properties.values())
    assert not [name for name in properties if "user" in name]
    assert set(properties) == set(tool.arguments.model_fields)
