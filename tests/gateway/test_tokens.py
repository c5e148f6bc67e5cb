"""Access tokens: what the issuer mints, and what the gateway says to bad ones."""

import re
from collections.abc import Callable
from pathlib import Path

import httpx2
import jwt
import pytest

from stackroom_local.gateway.issuer import CLIENT_ID, Issuer
from tests.gateway import forgeries
from tests.gateway.forgeries import resigned
from tests.gateway.serving import RunningGateway, a_call


def with_a_header_too_deep(_issuer: Issuer, _directory: Path) -> str:
    return f"{jwt.utils.base64url_encode(b'[' * 20_000).decode()}.e30.AAAA"


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (
            forgeries.signed_by_another_key,
            "is malformed, forged, of another issuer, or from before",
        ),
        (forgeries.unsigned, "is malformed"),
        (lambda issuer, _: issuer.mint("alice", lifetime_seconds=-60), "has expired"),
        (
            lambda issuer, _: resigned(issuer, iss="https://elsewhere.example"),
            "is malformed, forged, of another issuer",
        ),
        (with_a_header_too_deep, "is malformed"),
    ],
)
def test_unverifiable_token_gets_401_with_reason_and_how_to_get_another(
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


URL = "http://127.0.0.1:4568/issuer"


def test_a_token_has_the_claims_of_a_cognito_access_token(tmp_path: Path) -> None:
    issuer = Issuer.open(tmp_path, url=URL)

    tokens = [
        issuer.mint("alice", groups=["staff"], lifetime_seconds=60),
        *(issuer.mint("alice", session=session) for session in ("s-1", "s-1", None)),
    ]

    first, *others = (
        jwt.decode(each, issuer.private_key.public_key(), algorithms=["RS256"], issuer=URL)
        for each in tokens
    )
    assert first["sub"] == first["username"] == "alice"
    assert first["client_id"] == CLIENT_ID
    assert first["token_use"] == "access"
    assert first["cognito:groups"] == ["staff"]
    assert first["exp"] - first["iat"] == 60
    assert {"scope", "jti"} <= set(first)
    assert "aud" not in first
    assert not any("cognito:groups" in each for each in others)
    assert [each["origin_jti"] for each in others[:2]] == ["s-1", "s-1"]
    assert len({each["origin_jti"] for each in (first, *others)}) == 3
    assert len({each["jti"] for each in (first, *others)}) == 4


def test_discovery_publishes_the_verifying_key_without_private_parts(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    discovery = httpx2.get(f"{gateway.base}/issuer/.well-known/openid-configuration").json()
    token = issuer.mint("alice")

    key = jwt.PyJWKClient(discovery["jwks_uri"]).get_signing_key_from_jwt(token)
    (published,) = httpx2.get(discovery["jwks_uri"]).json()["keys"]

    claims = jwt.decode(token, key, algorithms=["RS256"], issuer=discovery["issuer"], leeway=5)
    assert claims["sub"] == "alice"
    assert set(published) == {"kty", "n", "e", "kid", "alg", "use"}
