"""The gateway's side of the wire, as its documentation has it, over raw HTTP."""

import json
from typing import Any

import httpx2
import pytest

from stackroom_local.gateway.configuration import GatewayConfiguration
from stackroom_local.gateway.issuer import Issuer
from tests.gateway.serving import (
    TOOL,
    RunningGateway,
    a_call,
    a_configuration,
    a_target,
)


def test_a_function_gets_the_arguments_alone_and_the_rest_in_its_client_context(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    """Though they break the schema."""
    token = issuer.mint("alice", session="s-1")
    arguments: dict[str, Any] = {"query": ["no", "text"], "top_k": None}

    seen = gateway.echo(token=token, **arguments)

    custom = seen["custom"]
    assert seen["event"] == arguments
    assert custom.pop("bedrockAgentCoreAwsRequestId")
    assert custom == {
        "bedrockAgentCoreMessageVersion": "1.0",
        "bedrockAgentCoreMcpMessageId": "1",
        "bedrockAgentCoreGatewayId": "stackroom-abc1234567",
        "bedrockAgentCoreTargetId": "TGT1234567",
        "bedrockAgentCoreToolName": TOOL,
        "bedrockAgentCorePropagatedHeaders": {
            "x-user-sub": "alice",
            "x-user-groups": ",",
            "x-session-id": "s-1",
        },
        "bedrockAgentCorePropagatedQueryParameters": {},
    }


def test_whatever_a_function_returns_is_json_in_one_text_block(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    token = issuer.mint("alice")
    for do, text in {
        "text": '"good"',
        "http": '{"statusCode": 200, "body": "{}", "isError": true}',
    }.items():
        result = gateway.call({"do": do}, token=token)

        assert result["content"] == [{"type": "text", "text": text}]
        assert result["isError"] is False
        assert "structuredContent" not in result


def test_debug_mode_tells_what_went_wrong_in_a_function(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    result = gateway.call({"do": "raise"}, token=issuer.mint("alice"))

    detail = {"type": "text", "text": "Lambda function error: RuntimeError: kaboom"}
    assert result["isError"] is True
    assert result["content"] == [detail]
    assert result["_meta"]["debug"] == detail


@pytest.mark.processes
def test_without_debug_mode_a_functions_error_stays_inside(
    lenient_gateway: RunningGateway,
) -> None:
    token = lenient_gateway.issuer.mint("alice")

    result = lenient_gateway.call({"do": "raise"}, token=token)

    assert result["isError"] is True
    assert result["content"] == [
        {"type": "text", "text": "An internal error occurred. Please retry later."}
    ]
    assert "_meta" not in result


def test_an_unknown_tool_is_an_error_that_names_it(gateway: RunningGateway, issuer: Issuer) -> None:
    message = a_call(query="hi")
    for name in ("echo___nothing", "nothing___say_it", "say_it", ""):
        message["params"]["name"] = name

        response = gateway.post(message, token=issuer.mint("alice"))

        assert response.json()["error"]["message"] == f"Unknown tool: {name}"


def test_tools_can_be_listed_with_no_handshake(gateway: RunningGateway, issuer: Issuer) -> None:
    message = {"jsonrpc": "2.0", "id": "a", "method": "tools/list"}

    response = gateway.post(message, token=issuer.mint("alice"))

    (tool,) = response.json()["result"]["tools"]
    assert tool["name"] == TOOL
    assert "mcp-session-id" not in response.headers


def test_a_body_of_five_megabytes_passes_and_one_of_seven_does_not(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    token = issuer.mint("alice")

    passed = gateway.post(a_call(do="text", query="x" * 5_000_000), token=token)
    refused = gateway.post(a_call(do="text", query="x" * 7_000_000), token=token)

    assert passed.json()["result"]["isError"] is False
    assert refused.status_code == 413


def test_there_is_no_stream_to_open_and_no_session_to_end(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    headers = {"Authorization": f"Bearer {issuer.mint('alice')}"}
    for method in ("GET", "DELETE"):
        response = httpx2.request(method, gateway.url, headers=headers)

        assert (response.status_code, response.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "under_score"},
        {"allowed_request_headers": ["X-Amzn-Trace-Id"]},
        {"allowed_request_headers": [f"x-{number}" for number in range(11)]},
        {"tools": [{"name": "t", "description": "d", "inputSchema": {"enum": []}}]},
    ],
)
def test_a_configuration_that_the_service_would_refuse_is_refused(changes: dict[str, Any]) -> None:
    configuration = a_configuration("http://127.0.0.1:1", targets=[{**a_target(), **changes}])

    with pytest.raises(ValueError, match="targets"):
        GatewayConfiguration.model_validate_json(json.dumps(configuration))
