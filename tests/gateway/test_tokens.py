"""Bad tokens at the gateway's door, over raw HTTP: what the authorizer or interceptor answers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stackroom_local.gateway.issuer import CLIENT_ID, Issuer
from tests.gateway import forgeries
from tests.gateway.forgeries import resigned
from tests.gateway.serving import RunningGateway, a_call


def expired(issuer: Issuer, directory: Path) -> str:
    return issuer.mint("alice", lifetime_seconds=-60)


def of_another_issuer(issuer: Issuer, directory: Path) -> str:
    return resigned(issuer, iss="https://elsewhere.example")


def without_expiry(issuer: Issuer, directory: Path) -> str:
    return resigned(issuer, exp=None)


def not_valid_yet(issuer: Issuer, directory: Path) -> str:
    return resigned(issuer, nbf=32_503_680_000)


def garbage(issuer: Issuer, directory: Path) -> str:
    return "not.a.token"


@pytest.mark.parametrize(
    "make",
    [
        forgeries.signed_by_another_key,
        forgeries.signed_by_an_unknown_key,
        forgeries.unsigned,
        forgeries.signed_with_the_public_key_as_secret,
        forgeries.tampered,
        expired,
        of_another_issuer,
        without_expiry,
        not_valid_yet,
        garbage,
    ],
)
def test_a_token_that_does_not_verify_is_a_401_with_a_challenge(
    gateway: RunningGateway, issuer: Issuer, tmp_path: Path, make: Callable[[Issuer, Path], str]
) -> None:
    token = make(issuer, tmp_path)

    response = gateway.post(a_call(query="hi"), token=token)

    assert response.status_code == 401
    assert response.json()["error"]["message"] == "Invalid Bearer token"
    assert response.headers["www-authenticate"] == (
        f'Bearer resource_metadata="{gateway.base}/.well-known/oauth-protected-resource"'
    )
    assert token not in response.text


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("Authorization", "Basic YWxpY2U6")],
        [("Authorization", "Bearer a"), ("Authorization", "Bearer b")],
    ],
)
def test_a_request_without_one_bearer_token_is_a_401(
    gateway: RunningGateway, headers: list[tuple[str, str]]
) -> None:
    response = gateway.post(a_call(query="hi"), headers=headers)

    assert response.status_code == 401
    assert response.json()["error"]["message"] == "Missing Bearer token"
    assert "resource_metadata" in response.headers["www-authenticate"]


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "another-client"},
        {"client_id": None, "aud": CLIENT_ID, "token_use": "id"},  # an ID token of Cognito's
    ],
)
def test_a_good_token_for_another_client_is_a_403(
    gateway: RunningGateway, issuer: Issuer, changes: dict[str, Any]
) -> None:
    response = gateway.post(a_call(query="hi"), token=resigned(issuer, **changes))

    assert response.status_code == 403


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"sub": CLIENT_ID}, "it names no user"),
        ({"token_use": "id"}, "it is no access token"),
        ({"aud": "another-service"}, "it is meant for another audience"),
        ({"sub": "alice/research"}, "its subject can't name a folder"),
        ({"origin_jti": "s 1"}, "its session can't be carried"),
    ],
)
def test_what_the_authorizer_lets_pass_the_interceptor_denies(
    gateway: RunningGateway, issuer: Issuer, changes: dict[str, Any], problem: str
) -> None:
    result = gateway.call({"query": "hi"}, token=resigned(issuer, **changes))

    assert result["isError"]
    assert problem in result["content"][0]["text"]
