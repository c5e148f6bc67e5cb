"""The local issuer: tokens like Cognito's, a key that stays, none to be had without a sign-in."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import jwt

from stackroom_local.gateway.issuer import CLIENT_ID, Issuer
from tests.gateway.serving import RunningGateway

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


def test_issuers_opened_at_the_same_time_agree_on_one_key_that_is_its_owners_alone(
    tmp_path: Path,
) -> None:
    with ThreadPoolExecutor(max_workers=4) as pool:
        issuers = list(pool.map(lambda _: Issuer.open(tmp_path, url=URL), range(4)))

    assert {issuer.key_id for issuer in issuers} == {Issuer.open(tmp_path, url=URL).key_id}
    (key,) = tmp_path.iterdir()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_discovery_leads_to_the_key_that_verifies_a_token_and_to_no_private_part_of_it(
    gateway: RunningGateway, issuer: Issuer
) -> None:
    discovery = httpx2.get(f"{gateway.base}/issuer/.well-known/openid-configuration").json()
    token = issuer.mint("alice")

    key = jwt.PyJWKClient(discovery["jwks_uri"]).get_signing_key_from_jwt(token)
    (published,) = httpx2.get(discovery["jwks_uri"]).json()["keys"]

    claims = jwt.decode(token, key, algorithms=["RS256"], issuer=discovery["issuer"], leeway=5)
    assert claims["sub"] == "alice"
    assert set(published) == {"kty", "n", "e", "kid", "alg", "use"}


def test_no_endpoint_hands_out_tokens_without_a_sign_in(gateway: RunningGateway) -> None:
    asked = {"client_id": CLIENT_ID, "username": "alice", "password": "x"}

    for path in ("/issuer/token", "/issuer/oauth2/token", "/token"):
        for grant in ("client_credentials", "password"):
            response = httpx2.post(gateway.base + path, data={**asked, "grant_type": grant})

            assert response.status_code in (400, 404)
            assert "access_token" not in response.text
