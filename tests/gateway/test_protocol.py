"""The gateway's side of the wire over raw HTTP, as documented, and whatever a client sends."""

import base64
from typing import Any

import httpx2

from stackroom.tools.document_definitions import MAX_CONTENT_BYTES
from stackroom_local.gateway.issuer import Issuer
from tests.gateway.serving import (
    TOOL,
    RunningGateway,
    a_call,
)


def test_function_gets_only_arguments_and_the_rest_as_client_context(
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


def test_function_result_or_error_is_one_text_block(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    """An exception's text stays inside."""
    http = '{"statusCode": 200, "body": "{}", "isError": true}'
    told = {
        "text": (False, '"good"'),
        "http": (False, http),
        "raise": (True, "An internal error occurred. Please retry later."),
    }
    for do, (is_error, text) in told.items():
        result = gateway.call({"do": do}, token=issuer.mint("alice"))

        block = {"type": "text", "text": text}
        assert (result["isError"], result["content"]) == (is_error, [block])
        assert "_meta" not in result
        assert "structuredContent" not in result


def test_tools_are_listed_without_handshake_stream_or_session(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    token = issuer.mint("alice")

    listed = gateway.post({"jsonrpc": "2.0", "id": "a", "method": "tools/list"}, token=token)

    assert [tool["name"] for tool in listed.json()["result"]["tools"]] == [TOOL]
    assert "mcp-session-id" not in listed.headers
    for method in ("GET", "DELETE"):
        told = httpx2.request(method, gateway.url, headers={"Authorization": f"Bearer {token}"})

        assert (told.status_code, told.headers["allow"]) == (405, "POST")


def test_largest_file_of_a_call_passes_and_larger_bodies_are_refused(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    """The interceptor meets a body twice, and answers it; in MIME's lines it is the longest."""
    token = issuer.mint("alice", groups=[f"group-{number:03}" for number in range(300)])
    file = base64.encodebytes(bytes(MAX_CONTENT_BYTES)).decode().replace("\n", "\r\n")

    passed, too_large, larger = (
        gateway.post(a_call(do="text", query=query), token=token)
        for query in (file, "x" * 2**21, "x" * 7_000_000)
    )

    assert passed.json()["result"]["isError"] is False
    assert (too_large.status_code, too_large.json()["error"]["code"]) == (500, -32603)
    assert larger.status_code == 413


PARSE_ERROR, INVALID_REQUEST, INVALID_PARAMS = -32700, -32600, -32602


def call(arguments: str = "{}", id_: str = "1") -> bytes:
    """A call as text, for what Python would not write."""
    return (
        f'{{"jsonrpc": "2.0", "id": {id_}, "method": "tools/call", '
        f'"params": {{"name": "{TOOL}", "arguments": {arguments}}}}}'
    ).encode()


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


MISUNDERSTOOD = [
    (call(r'{"query": "\ud800"}'), PARSE_ERROR),
    (call('{"query": 1e999}'), PARSE_ERROR),
    (call(f'{{"query": {nested(900)}}}'), PARSE_ERROR),
    (b"", PARSE_ERROR),
    (b'{"jsonrpc": "2.0"} {}', PARSE_ERROR),
    (call(id_="9" * 5000), PARSE_ERROR),
    (call(id_="null"), INVALID_REQUEST),
    (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', INVALID_PARAMS),
]


def test_malformed_request_gets_a_json_rpc_error_and_the_next_is_served(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    token = issuer.mint("alice")

    for body, code in MISUNDERSTOOD:
        response = gateway.post(body, token=token)

        assert response.json()["error"]["code"] == code, body[:80]
        assert response.status_code < 500, body[:80]
    assert gateway.echo(token=token, query="still there")["event"] == {"query": "still there"}
