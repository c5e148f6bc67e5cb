"""Tool descriptions for agents match what the tools accept and the gateway does."""

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from docs.tools import TOOLS as PAGE
from docs.tools import tools
from functions.tool_targets import (
    STANDALONE,
    STRICT_TOOLS,
    TARGETS,
    TOOLS_CONFIG,
    schema_file,
    strict_tools,
)
from stackroom.access.tool import Arguments, Tool
from stackroom.tools.tools import tools_config

EVERY = {**TARGETS, **STANDALONE}
TOOLS = [(target, tool) for target, tools in EVERY.items() for tool in tools]
STRICT = {each["name"]: each for each in json.loads(strict_tools())}
KEYWORDS = ("type", "description", "anyOf", "items")
TYPES = {"string", "number", "boolean", "integer", "object", "array", "null"}
NAMED = {"domain": "finance", "tags": ["a", "b"]}


def schemas_in(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for member in schema.get("properties", {}).values():
        yield from schemas_in(member)
    if "items" in schema:
        yield from schemas_in(schema["items"])


def test_tool_docs_and_front_end_match_the_definitions() -> None:
    assert PAGE.read_text("utf-8") == tools(), "run: make generated"
    assert TOOLS_CONFIG.read_text("utf-8") == tools_config(), "run: make generated"
    assert STRICT_TOOLS.read_text("utf-8") == strict_tools(), "run: make generated"


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
def test_tool_name_fits_bedrock_and_arguments_are_described_without_user(
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


def faults_in_strict_mode(schema: dict[str, Any], where: str, depth: int = 1) -> Iterator[str]:
    """
    Yield what OpenAI's strict mode would not accept.

    https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
    """
    if unknown := set(schema) - {*KEYWORDS, "properties", "required", "additionalProperties"}:
        yield f"{where}: {unknown}"
    if depth > 10:
        yield f"{where}: nested too deeply"
    for option in schema.get("anyOf", ()):
        yield from faults_in_strict_mode(option, where, depth)
    kinds = schema.get("type", [])
    of_types = {kinds} if isinstance(kinds, str) else set(kinds)
    if not of_types <= TYPES or bool(of_types) == ("anyOf" in schema):
        yield f"{where}: {kinds}"
    if "array" in of_types:
        yield from faults_in_strict_mode(schema["items"], f"{where}[]", depth + 1)
    if "object" in of_types:
        if schema.get("additionalProperties") is not False:
            yield f"{where}: other properties are possible"
        if set(schema["required"]) != set(schema["properties"]):
            yield f"{where}: not all are required"
        for name, member in schema["properties"].items():
            yield from faults_in_strict_mode(member, f"{where}.{name}", depth + 1)


def test_openai_s_strict_mode_takes_all_of_them() -> None:
    assert set(STRICT) == {f"{to}___{each.name}" for to, tools in TARGETS.items() for each in tools}
    for name, tool in STRICT.items():
        assert tool["type"] == "function"
        assert tool["strict"] is True
        assert tool["parameters"]["type"] == "object"
        assert list(faults_in_strict_mode(tool["parameters"], name)) == []


@pytest.mark.parametrize(
    ("target", "tool"), [(target, tool) for target, tool in TOOLS if target in TARGETS]
)
def test_null_equals_omission_and_name_value_list_equals_an_object(
    target: str, tool: Tool[Arguments]
) -> None:
    schema = STRICT[f"{target}___{tool.name}"]["parameters"]["properties"]
    nulls = dict.fromkeys(schema)
    given = tool.definition()["inputSchema"]
    kinds = {name: given["properties"][name]["type"] for name in given.get("required", ())}
    needed = {name: {"string": "x", "boolean": True}[kind] for name, kind in kinds.items()}
    assert {name for name, each in schema.items() if '"null"' not in json.dumps(each)} == {*needed}
    listed = [name for name, each in schema.items() if "items" in each]
    assert all(list(schema[name]["items"]["properties"]) == ["name", "value"] for name in listed)
    pairs = [{"name": name, "value": value} for name, value in NAMED.items()]

    without = tool.parse({**nulls, **needed})
    named = tool.parse({**nulls, **needed, **dict.fromkeys(listed, pairs)})

    assert without == tool.parse(needed)
    assert named == tool.parse({**needed, **dict.fromkeys(listed, NAMED)})
