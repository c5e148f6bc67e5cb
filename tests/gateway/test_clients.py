"""Real MCP clients against the stand-in, in both eras of the protocol."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from stackroom_local.gateway.client import (
    GatewayError,
    SignInRequired,
    ToolFailed,
    call_tool,
    list_tools,
)
from stackroom_local.gateway.issuer import CLIENT_ID, Issuer
from tests.gateway.serving import TOOL, RunningGateway


async def called(gateway: RunningGateway, token: str, mode: str) -> tuple[str, list[str], Any]:
    """Protocol version, tools and the result of one session of the SDK's client."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http,
        Client(streamable_http_client(gateway.url, http_client=http), mode=mode) as client,
    ):
        tools = [tool.name for tool in (await client.list_tools()).tools]
        return str(client.protocol_version), tools, await client.call_tool(TOOL, {"query": "hi"})


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_client_lists_and_calls_tools_and_reads_a_denial(
    gateway: RunningGateway, issuer: Issuer, mode: str, version: str
) -> None:
    negotiated, tools, answer = asyncio.run(called(gateway, issuer.mint("alice"), mode))
    *_, denial = asyncio.run(called(gateway, issuer.mint(CLIENT_ID), mode))

    assert negotiated == version
    assert tools == [TOOL]
    seen = json.loads(answer.content[0].text)
    assert seen["event"] == {"query": "hi"}
    assert seen["custom"]["bedrockAgentCorePropagatedHeaders"]["x-user-sub"] == "alice"
    assert denial.is_error
    assert "it names no user" in denial.content[0].text


def test_our_own_client_lists_tools_with_their_schemas_and_returns_what_the_function_returned(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    token = issuer.mint("alice")

    (tool,) = list_tools(gateway.url, token)
    answer = call_tool(gateway.url, token, TOOL, {"query": "hi"})

    assert (tool["name"], tool["description"]) == (TOOL, "Echoes")
    assert tool["inputSchema"]["properties"]["query"]["description"] == "what to echo"
    assert answer["event"] == {"query": "hi"}


def test_our_own_client_says_why_a_call_has_no_answer(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    alice, another = issuer.mint("alice"), issuer.mint("alice", client_id="another-client")
    refused = "the gateway answered {}: the access token "
    nowhere = "http://127.0.0.1:1/mcp"

    for url, token, tool, error, told in (
        (gateway.url, alice, TOOL, ToolFailed, "RuntimeError: kaboom"),
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
