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
    a_prohibition,
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
    assert "a quiet word" in gateway.log_of("echo")
    assert "a loud word" not in gateway.log_of("echo")


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


def test_one_prohibition_outweighs_every_permission_whichever_comes_first() -> None:
    forbidden = a_prohibition(when='principal == AgentCore::OAuthUser::"alice"')

    for statements in ((forbidden, a_permit()), (a_permit(), forbidden)):
        assert "denied due to" in str(denial(*statements))
        assert denial(*statements, claims={**ALICE, "sub": "bob"}) is None


@pytest.mark.parametrize(
    ("when", "arguments"),
    [
        ("context.input.times > 9223372036854775806", {"times": 10**30}),
        ('context.input.volume.lessThan(decimal("0.5"))', {"volume": 0.25}),
        ('context.input.volume.lessThan(decimal("-1000.0"))', {"volume": -1e300}),
        ("!(context.input has times)", {"times": None}),
        ("context.input.query", {"query": True}),
        ('context.input.extra.contains("b")', {"extra": ["a", None, "b"]}),
    ],
)
def test_arguments_are_compared_as_the_schema_types_them(
    when: str, arguments: dict[str, Any]
) -> None:
    assert denial(a_permit(when=when), **arguments) is None


@pytest.mark.parametrize(
    "forged",
    [
        {"__entity": {"type": "AgentCore::OAuthUser", "id": "admin"}},
        {"__extn": {"fn": "decimal", "arg": "1.0"}},
        {"__expr": "principal"},
    ],
)
def test_an_argument_can_not_become_anything_but_a_value(forged: dict[str, Any]) -> None:
    admin = a_permit(when='context.input.query == AgentCore::OAuthUser::"admin"')
    one = a_permit(when='context.input.query == decimal("1.0")')

    assert denial(admin, one, query=forged) == DEFAULT
    assert denial(a_permit(), query=forged, **forged) is None


@pytest.mark.parametrize(
    ("statements", "shown"),
    [
        ([a_permit()], True),
        ([a_permit(when='principal.hasTag("admin") && context.input.times > 3')], False),
        ([a_permit(), a_prohibition(when="context.input.times > 3")], True),
        ([a_permit(), a_prohibition(when='principal.hasTag("username")')], False),
        ([a_permit("echo___another")], False),
    ],
)
def test_a_tool_is_shown_if_some_call_of_it_could_be_permitted(
    statements: list[str], shown: bool
) -> None:
    assert engine(*statements).shows(ALICE, TOOL) is shown


@pytest.mark.parametrize("subject", ["é", "a\x00", 'x" || true || "'])
def test_hostile_subject_is_compared_as_a_plain_name(subject: str) -> None:
    only_alice = a_permit(when='principal == AgentCore::OAuthUser::"alice"')

    assert denial(only_alice, claims={**ALICE, "sub": subject}) == DEFAULT
    assert not engine(only_alice).shows({**ALICE, "sub": subject}, TOOL)
