"""The local issuer: tokens like Cognito's, a key that stays, none to be had without a sign-in."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import jwt
import pytest

from stackroom_local.gateway.issuer import CLIENT_ID, Issuer
from tests.gateway.serving import RunningGateway

URL = "http://127.0.0.1:4568/issuer"


def test_a_token_has_the_claims_of_a_cognito_access_token(tmp_path: Path) -> None:
    issuer = Issuer.open(tmp_path, url=URL)

    token = issuer.mint("alice", groups=["staff"], lifetime_seconds=60)

    claims = jwt.decode(
        token, issuer.private_key.public_key(), algorithms=["RS256"], issuer=URL, leeway=5
    )
    assert claims["sub"] == claims["username"] == "alice"
    assert claims["client_id"] == CLIENT_ID
    assert claims["token_use"] == "access"
    assert claims["cognito:groups"] == ["staff"]
    assert claims["exp"] - claims["iat"] == 60
    assert {"scope", "jti"} <= set(claims)
    assert "aud" not in claims


def test_a_token_is_of_a_new_session_or_of_the_one_that_is_named(tmp_path: Path) -> None:
    issuer = Issuer.open(tmp_path, url=URL)

    tokens = [issuer.mint("alice", session=session) for session in ("s-1", "s-1", None, None)]

    claims = [jwt.decode(token, options={"verify_signature": False}) for token in tokens]
    assert [each["origin_jti"] for each in claims[:2]] == ["s-1", "s-1"]
    assert len({each["origin_jti"] for each in claims}) == 3
    assert len({each["jti"] for each in claims}) == 4


def test_a_user_without_groups_has_no_groups_claim(tmp_path: Path) -> None:
    token = Issuer.open(tmp_path, url=URL).mint("alice")

    assert "cognito:groups" not in jwt.decode(token, options={"verify_signature": False})


def test_the_key_stays_with_its_directory_and_belongs_to_its_owner_alone(tmp_path: Path) -> None:
    first = Issuer.open(tmp_path, url=URL)
    second = Issuer.open(tmp_path, url=URL)

    assert first.key_id == second.key_id
    (key,) = tmp_path.iterdir()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_issuers_opened_at_the_same_time_agree_on_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(max_workers=4) as pool:
        issuers = list(pool.map(lambda _: Issuer.open(tmp_path, url=URL), range(4)))

    assert len({issuer.key_id for issuer in issuers}) == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_discovery_leads_to_the_key_that_verifies_a_token(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    discovery = httpx2.get(f"{gateway.base}/issuer/.well-known/openid-configuration").json()
    token = issuer.mint("alice")

    key = jwt.PyJWKClient(discovery["jwks_uri"]).get_signing_key_from_jwt(token)

    claims = jwt.decode(token, key, algorithms=["RS256"], issuer=discovery["issuer"], leeway=5)
    assert claims["sub"] == "alice"


def test_the_published_key_has_no_private_part(gateway: RunningGateway) -> None:
    (key,) = httpx2.get(f"{gateway.base}/issuer/.well-known/jwks.json").json()["keys"]

    assert set(key) == {"kty", "n", "e", "kid", "alg", "use"}


@pytest.mark.parametrize("path", ["/issuer/token", "/issuer/oauth2/token", "/token"])
@pytest.mark.parametrize("grant", ["client_credentials", "password"])
def test_no_endpoint_hands_out_tokens_without_a_sign_in(
    gateway: RunningGateway, path: str, grant: str
) -> None:
    asked = {"grant_type": grant, "client_id": CLIENT_ID, "username": "alice", "password": "x"}

    response = httpx2.post(gateway.base + path, data=asked)

    assert response.status_code in (400, 404)
    assert "access_token" not in response.text
