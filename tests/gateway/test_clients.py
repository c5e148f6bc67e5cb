"""Real MCP clients against the stand-in, in both eras of the protocol."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from stackroom_local.gateway.issuer import Issuer
from tests.gateway.mcp_client import (
    GatewayError,
    SignInRequired,
    ToolFailed,
    call_tool,
    list_tools,
)
from tests.gateway.serving import TOOL, RunningGateway


def test_our_client_lists_tool_schemas_and_returns_the_functions_answer(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    token = issuer.mint("alice")

    (tool,) = list_tools(gateway.url, token)
    answer = call_tool(gateway.url, token, TOOL, {"query": "hi"})

    assert (tool["name"], tool["description"]) == (TOOL, "Echoes")
    assert tool["inputSchema"]["properties"]["query"]["description"] == "what to echo"
    assert answer["event"] == {"query": "hi"}


def test_client_raises_an_error_with_the_reason_for_each_failure(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    alice, another = issuer.mint("alice"), issuer.mint("alice", client_id="another-client")
    refused = "the gateway answered {}: the access token "
    nowhere = "http://127.0.0.1:1/mcp"

    for url, token, tool, error, told in (
        (gateway.url, alice, TOOL, ToolFailed, "An internal error occurred"),
        (gateway.url, alice, "echo___nothing", GatewayError, "Unknown tool: echo___nothing"),
        (gateway.url, "garbage", TOOL, SignInRequired, refused.format(401)),
        (gateway.url, another, TOOL, SignInRequired, refused.format(403)),
        (nowhere, alice, TOOL, GatewayError, f"{nowhere}: "),
    ):
        with pytest.raises(error, match=told):
            call_tool(url, token, tool, {"do": "raise"})


def test_parallel_calls_of_two_users_never_mix(gateway: RunningGateway, issuer: Issuer) -> None:
    users = ["alice", "bob"] * 10
    tokens = {user: issuer.mint(user) for user in set(users)}

    def call(numbered: tuple[int, str]) -> tuple[str, str]:
        number, user = numbered
        seen = gateway.echo(token=tokens[user], query=f"{user}-{number}")
        headers = seen["custom"]["bedrockAgentCorePropagatedHeaders"]
        return headers["x-user-sub"], seen["event"]["query"]

    with ThreadPoolExecutor(max_workers=20) as pool:
        answers = list(pool.map(call, enumerate(users)))

    assert answers == [(user, f"{user}-{number}") for number, user in enumerate(users)]
