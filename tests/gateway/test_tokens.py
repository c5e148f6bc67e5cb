"""Bad tokens at the gateway's door, over raw HTTP: what the authorizer answers."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
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


def with_a_header_too_deep(issuer: Issuer, directory: Path) -> str:
    return f"{jwt.utils.base64url_encode(b'[' * 20_000).decode()}.e30.AAAA"


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (forgeries.signed_by_another_key, "isn't signed by this issuer: its signature doesn't fit"),
        (forgeries.signed_by_an_unknown_key, "isn't signed by this issuer: it names a key that"),
        (forgeries.unsigned, "isn't signed with RS256"),
        (forgeries.signed_with_the_public_key_as_secret, "isn't signed with RS256"),
        (forgeries.tampered, "isn't signed by this issuer: its signature doesn't fit"),
        (expired, "has expired"),
        (of_another_issuer, "comes from another issuer"),
        (without_expiry, "lacks the claim exp"),
        (not_valid_yet, "is not valid yet"),
        (with_a_header_too_deep, "is malformed"),
    ],
)
def test_a_token_that_does_not_verify_is_a_401_that_says_why_and_how_to_get_another(
    gateway: RunningGateway,
    issuer: Issuer,
    tmp_path: Path,
    make: Callable[[Issuer, Path], str],
    problem: str,
) -> None:
    token = make(issuer, tmp_path)

    response = gateway.post(a_call(query="hi"), token=token)

    assert response.status_code == 401
    assert response.json()["error"]["message"] == "Invalid Bearer token"
    told = challenge(response.headers["www-authenticate"])
    assert told["error"] == "invalid_token"
    assert told["error_description"].startswith(f"the access token {problem}")
    assert "`stackroom login` or `stackroom token --user NAME`" in told["error_description"]
    assert told["resource_metadata"] == f"{gateway.base}/.well-known/oauth-protected-resource"
    parts = [part for part in token.split(".") if len(part) > len("token")]
    assert not [part for part in parts if part in response.text + str(response.headers)]


def challenge(header: str) -> dict[str, str]:
    """The parameters of a bearer challenge, each a quoted string."""
    scheme, _, parameters = header.partition(" ")
    assert scheme == "Bearer"
    pairs = re.findall(r'([a-z_]+)="([\x20\x21\x23-\x5b\x5d-\x7e]*)"(?:, |$)', parameters)
    assert ", ".join(f'{name}="{value}"' for name, value in pairs) == parameters
    return dict(pairs)


def test_a_request_without_one_bearer_token_is_a_401(gateway: RunningGateway) -> None:
    twice = [("Authorization", "Bearer a"), ("Authorization", "Bearer b")]

    for headers in ([], [("Authorization", "Basic YWxpY2U6")], twice):
        response = gateway.post(a_call(query="hi"), headers=headers)

        assert response.status_code == 401
        assert response.json()["error"]["message"] == "Missing Bearer token"
        assert challenge(response.headers["www-authenticate"]).keys() == {"resource_metadata"}


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
    told = challenge(response.headers["www-authenticate"])
    assert told["error"] == "invalid_token"
    assert "a client that this gateway doesn't allow" in told["error_description"]
