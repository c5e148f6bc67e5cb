"""Cedar at the gateway: who may call and see which tool, with which arguments."""

from typing import Any

import pytest

from stackroom_local.gateway.gateway_configuration import (
    PolicyEngineConfiguration,
    SchemaDefinition,
)
from stackroom_local.gateway.issuer import Issuer
from stackroom_local.gateway.policy_engine import PolicyEngine
from tests.gateway.conftest import STAFFED
from tests.gateway.forgeries import resigned
from tests.gateway.mcp_client import GatewayError, call_tool, list_tools
from tests.gateway.serving import (
    TOOL,
    RunningGateway,
    a_call,
    a_permit,
    a_target,
    an_engine,
)

DENIED = "Tool Execution Denied: Tool call not allowed due to policy enforcement"
DEFAULT = "No policy applies to the request (denied by default)."
ALICE = {"sub": "alice", "username": "alice"}
SCHEMA = SchemaDefinition.model_validate(a_target()["tools"][0]["inputSchema"])


def engine(*statements: str) -> PolicyEngine:
    return PolicyEngine(PolicyEngineConfiguration.model_validate(an_engine(*statements)))


def denial(*statements: str, claims: dict[str, Any] = ALICE, **arguments: Any) -> str | None:
    return engine(*statements).denial(claims, TOOL, arguments, SCHEMA)


def test_a_tool_is_called_and_seen_by_those_alone_whom_a_policy_permits_it(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    alice, bob = issuer.mint("alice"), issuer.mint("bob", groups=["staff"])

    seen = call_tool(gateway.url, bob, STAFFED, {"query": "hi"})

    assert seen["custom"]["bedrockAgentCorePropagatedHeaders"]["x-user-sub"] == "bob"
    assert [tool["name"] for tool in list_tools(gateway.url, bob)] == [TOOL, STAFFED]
    with pytest.raises(GatewayError, match=r"denied by default"):
        call_tool(gateway.url, alice, STAFFED, {"query": "hi"})
    assert [tool["name"] for tool in list_tools(gateway.url, alice)] == [TOOL]


def test_denied_call_names_the_policy_and_never_reaches_its_function(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    token, message = issuer.mint("alice"), a_call(query="a loud word", times=4)

    response = gateway.post(message, token=token)
    allowed = gateway.echo(token=token, query="a quiet word", times=3)

    assert response.status_code == 200
    assert response.json()["id"] == message["id"]
    assert response.json()["error"] == {
        "code": -32002,
        "message": f"{DENIED} [Policy evaluation denied due to policy_3-local00000]",
    }
    assert allowed["event"]["times"] == 3
    assert "a quiet word" in gateway.functions_log
    assert "a loud word" not in gateway.functions_log


def test_interceptor_runs_before_policies_and_program_finds_no_tool(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    intercepted = gateway.call({"query": "hi", "times": 4}, token=resigned(issuer, token_use="id"))
    program = resigned(issuer, sub="a-program", username=None)

    assert "it is no access token" in intercepted["content"][0]["text"]
    assert list_tools(gateway.url, program) == []
    with pytest.raises(GatewayError, match=r"denied by default"):
        call_tool(gateway.url, program, TOOL, {"query": "hi"})


def test_call_without_policy_or_with_too_deep_arguments_is_denied() -> None:
    deep: Any = "hi"
    for _ in range(190):
        deep = [deep]

    assert denial(query="hi") == DEFAULT
    assert denial(a_permit(), query=deep) == DEFAULT
