"""Forged identities never reach a function, through the whole gateway over raw HTTP."""

from pathlib import Path

import pytest

from stackroom_local.gateway.issuer import Issuer
from tests.gateway.serving import RunningGateway, serving


@pytest.mark.parametrize(
    "headers",
    [
        [("X-USER-SUB", "mallory"), ("x-user-sub", "mallory")],
        [("X-User-Groups", "admins"), ("x-user-groups", "root")],
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


@pytest.mark.processes
def test_failing_interceptor_denies_every_call(tmp_path: Path) -> None:
    with serving(tmp_path, interceptor="broken") as gateway:
        token = gateway.issuer.mint("alice")
        response = gateway.post({"jsonrpc": "2.0", "id": 4, "method": "tools/list"}, token=token)

        assert response.status_code == 500
        assert response.json() == {
            "jsonrpc": "2.0",
            "id": 4,
            "error": {"code": -32603, "message": "Internal error"},
        }
