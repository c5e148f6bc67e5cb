"""Cedar at the gateway: who may call and see which tool, with which arguments."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from stackroom_local.gateway.client import GatewayError, call_tool, list_tools
from stackroom_local.gateway.configuration import PolicyEngineConfiguration, SchemaDefinition
from stackroom_local.gateway.issuer import Issuer
from stackroom_local.gateway.policies import PolicyEngine
from tests.gateway.forgeries import resigned
from tests.gateway.serving import (
    TOOL,
    RunningGateway,
    a_call,
    a_permit,
    a_prohibition,
    a_target,
    an_engine,
    serving,
)

DENIED = "Tool Execution Denied: Tool call not allowed due to policy enforcement"
DEFAULT = "No policy applies to the request (denied by default)."
ALICE = {"sub": "alice", "username": "alice"}
SCHEMA = SchemaDefinition.model_validate(a_target()["tools"][0]["inputSchema"])
STAFF = 'principal.hasTag("cognito:groups") && principal.getTag("cognito:groups") like "*staff*"'


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    """One tool for whoever signed in, at most three times; and one for staff."""
    engine = an_engine(
        a_permit(),
        a_permit("staffed___say_it", when=STAFF),
        a_prohibition(when="context.input has times && context.input.times > 3"),
    )
    targets = [a_target(), a_target("staffed")]
    with serving(tmp_path_factory.mktemp("guarded"), policy_engine=engine, targets=targets) as it:
        yield it


def engine(*statements: str) -> PolicyEngine:
    return PolicyEngine(PolicyEngineConfiguration.model_validate(an_engine(*statements)))


def denial(*statements: str, claims: dict[str, Any] = ALICE, **arguments: Any) -> str | None:
    return engine(*statements).denial(claims, TOOL, arguments, SCHEMA)


@pytest.mark.processes
def test_a_tool_that_no_policy_permits_is_neither_called_nor_seen(
    guarded: RunningGateway,
) -> None:
    token = guarded.issuer.mint("alice")

    with pytest.raises(GatewayError, match=r"denied by default"):
        call_tool(guarded.url, token, "staffed___say_it", {"query": "hi"})

    assert [tool["name"] for tool in list_tools(guarded.url, token)] == [TOOL]


@pytest.mark.processes
def test_another_caller_sees_and_calls_what_a_policy_permits_them(guarded: RunningGateway) -> None:
    token = guarded.issuer.mint("bob", groups=["staff"])

    seen = call_tool(guarded.url, token, "staffed___say_it", {"query": "hi"})

    assert seen["custom"]["bedrockAgentCorePropagatedHeaders"]["x-user-sub"] == "bob"
    names = [tool["name"] for tool in list_tools(guarded.url, token)]
    assert names == [TOOL, "staffed___say_it"]


@pytest.mark.processes
def test_a_denial_is_a_json_rpc_error_that_names_what_denied(guarded: RunningGateway) -> None:
    token = guarded.issuer.mint("alice")

    message = a_call(query="hi", times=4)
    response = guarded.post(message, token=token)

    assert response.status_code == 200
    assert response.json()["id"] == message["id"]
    assert response.json()["error"] == {
        "code": -32002,
        "message": f"{DENIED} [Policy evaluation denied due to policy_3-local00000]",
    }
    assert guarded.echo(token=token, query="hi", times=3)["event"]["times"] == 3


@pytest.mark.processes
def test_the_interceptor_comes_first_and_its_denial_is_told(guarded: RunningGateway) -> None:
    token = resigned(guarded.issuer, token_use="id")

    result = guarded.call({"query": "hi", "times": 4}, token=token)

    assert "it is no access token" in result["content"][0]["text"]


@pytest.mark.processes
def test_a_denied_call_never_reaches_its_function(guarded: RunningGateway) -> None:
    token = guarded.issuer.mint("alice")

    guarded.post(a_call(query="a loud word", times=9), token=token)
    guarded.echo(token=token, query="a quiet word")

    log = guarded.log_of("echo")
    assert "a quiet word" in log
    assert "a loud word" not in log


def test_a_program_without_a_user_finds_no_tool(gateway: RunningGateway, issuer: Issuer) -> None:
    token = resigned(issuer, sub="a-program", username=None)

    assert list_tools(gateway.url, token) == []
    with pytest.raises(GatewayError, match=r"denied by default"):
        call_tool(gateway.url, token, TOOL, {"query": "hi"})


@pytest.mark.processes
def test_an_engine_that_only_logs_denies_nothing_and_hides_nothing(
    lenient_gateway: RunningGateway,
) -> None:
    token = lenient_gateway.issuer.mint("alice")

    seen = lenient_gateway.echo(token=token, query="hi")

    log = (lenient_gateway.data_dir / "gateway.log").read_text()
    assert seen["event"] == {"query": "hi"}
    assert [tool["name"] for tool in list_tools(lenient_gateway.url, token)] == [TOOL]
    assert f"would deny a call of {TOOL}: {DEFAULT}" in log


def test_without_any_policy_everything_is_denied() -> None:
    assert denial(query="hi") == DEFAULT


@pytest.mark.parametrize("first", [True, False])
def test_one_prohibition_outweighs_every_permission(first: bool) -> None:
    forbidden = a_prohibition(when='principal == AgentCore::OAuthUser::"alice"')
    statements = [forbidden, a_permit()] if first else [a_permit(), forbidden]

    assert "denied due to" in str(denial(*statements))
    assert denial(*statements, claims={**ALICE, "sub": "bob"}) is None


@pytest.mark.parametrize(
    ("when", "arguments", "permitted"),
    [
        ("context.input.times == 3", {"times": 3}, True),
        ("context.input.times > 9223372036854775806", {"times": 10**30}, True),
        ("context.input.times < -9223372036854775807", {"times": -(10**30)}, True),
        ('context.input.volume.lessThan(decimal("0.5"))', {"volume": 0.25}, True),
        ('context.input.volume.lessThan(decimal("0.5"))', {"volume": 1}, False),
        ('context.input.volume == decimal("2.0")', {"volume": 2}, True),
        ('context.input.volume.greaterThan(decimal("1000.0"))', {"volume": 1e300}, True),
        ('context.input.volume.lessThan(decimal("-1000.0"))', {"volume": -1e300}, True),
        ('context.input.volume == decimal("0.3333")', {"volume": 1 / 3}, True),
        ("!(context.input has times)", {"times": None}, True),
        ("context.input.times == 3", {}, False),
        ('context.input.query == "hi"', {"query": "hi"}, True),
        ("context.input.query", {"query": True}, True),
        ('context.input.extra.contains("b")', {"extra": ["a", None, "b"]}, True),
        ("context.input.extra.deep == 1", {"extra": {"deep": 1}}, True),
    ],
)
def test_arguments_are_compared_as_the_schema_types_them(
    when: str, arguments: dict[str, Any], permitted: bool
) -> None:
    assert (denial(a_permit(when=when), **arguments) is None) is permitted


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


def test_arguments_too_deep_for_cedar_are_denied() -> None:
    deep: Any = "hi"
    for _ in range(190):
        deep = [deep]

    assert denial(a_permit(), query=deep) == DEFAULT


@pytest.mark.parametrize(
    ("statements", "shown"),
    [
        ([a_permit()], True),
        ([a_permit(when="context.input.times > 3")], True),
        ([a_permit(when='principal.hasTag("admin") && context.input.times > 3')], False),
        ([a_permit(), a_prohibition(when="context.input.times > 3")], True),
        ([a_permit(), a_prohibition(when='principal.hasTag("username")')], False),
        ([a_prohibition(when="context.input.times > 3")], False),
        ([a_permit("echo___another")], False),
        ([], False),
    ],
)
def test_a_tool_is_shown_if_some_call_of_it_could_be_permitted(
    statements: list[str], shown: bool
) -> None:
    assert engine(*statements).shows(ALICE, TOOL) is shown


@pytest.mark.parametrize("subject", ['ali"ce', "é", "a\x00", 'x" || true || "'])
def test_a_subject_is_a_name_whatever_it_says(subject: str) -> None:
    only_alice = a_permit(when='principal == AgentCore::OAuthUser::"alice"')

    assert denial(only_alice, claims={**ALICE, "sub": subject}) == DEFAULT
    assert not engine(only_alice).shows({**ALICE, "sub": subject}, TOOL)


def test_claims_that_are_no_text_are_tags_of_their_json() -> None:
    claims = {**ALICE, "exp": 17, "cognito:groups": ["staff", "legal"]}
    tags = 'principal.getTag("exp") == "17" && principal.getTag("cognito:groups") == '

    assert denial(a_permit(when=tags + json.dumps('["staff", "legal"]')), claims=claims) is None
