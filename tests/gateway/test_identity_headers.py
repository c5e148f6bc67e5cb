"""Forged identities never reach a function, through the whole gateway over raw HTTP."""

from pathlib import Path

import pytest

from stackroom_local.gateway.issuer import Issuer
from tests.gateway.forgeries import resigned
from tests.gateway.serving import RunningGateway, serving


@pytest.mark.parametrize(
    "headers",
    [
        [("X-USER-SUB", "mallory"), ("x-user-sub", "mallory")],
        [("X-User-Sub", "mallory"), ("X-User-Sub", "alice")],
        [("X-User-Groups", "admins"), ("x-user-groups", "root")],
        [("x-session-id", "stolen"), ("X-SESSION-ID", "s-1")],
    ],
)
def test_identity_headers_of_the_client_never_reach_the_function(
    gateway: RunningGateway, issuer: Issuer, headers: list[tuple[str, str]]
) -> None:
    """Nor does its token, or any other header."""
    token = issuer.mint("alice", session="s-1")

    seen = gateway.echo(token=token, headers=[*headers, ("X-Other", "value")], query="hi")

    propagated = seen["custom"]["bedrockAgentCorePropagatedHeaders"]
    assert propagated == {"x-user-sub": "alice", "x-user-groups": ",", "x-session-id": "s-1"}
    assert token not in str(seen)


def test_session_header_and_user_argument_never_override_the_token(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    token = resigned(issuer, origin_jti=None)

    seen = gateway.echo(
        token=token, headers=[("X-Session-Id", "stolen")], query="hi", user_id="bob"
    )

    propagated = seen["custom"]["bedrockAgentCorePropagatedHeaders"]
    assert (propagated["x-user-sub"], propagated["x-session-id"]) == ("alice", "-")


@pytest.mark.processes
def test_without_an_interceptor_a_client_could_name_any_user(
    lenient_gateway: RunningGateway,
) -> None:
    """The danger that the interceptor is there for; the stand-in must not hide it."""
    token = lenient_gateway.issuer.mint("alice")

    seen = lenient_gateway.echo(token=token, headers=[("X-User-Sub", "bob")], query="hi")

    assert seen["custom"]["bedrockAgentCorePropagatedHeaders"] == {"x-user-sub": "bob"}


@pytest.mark.processes
def test_failing_interceptor_denies_every_call(tmp_path: Path) -> None:
    broken = {"name": "broken", "handler": "functions.no_such_module.handler"}

    with serving(tmp_path, interceptor=broken) as gateway:
        token = gateway.issuer.mint("alice")
        response = gateway.post({"jsonrpc": "2.0", "id": 4, "method": "tools/list"}, token=token)

        assert response.status_code == 500
        assert response.json() == {
            "jsonrpc": "2.0",
            "id": 4,
            "error": {"code": -32603, "message": "Internal error"},
        }
        assert "No module named 'functions.no_such_module'" in gateway.log_of("broken")


def test_the_interceptor_sees_every_method(gateway: RunningGateway, issuer: Issuer) -> None:
    before = gateway.log_of("identity-interceptor").count("forwarded")

    for method in ("tools/list", "ping"):
        gateway.post({"jsonrpc": "2.0", "id": 1, "method": method}, token=issuer.mint("alice"))

    assert gateway.log_of("identity-interceptor").count("forwarded") == before + 2
