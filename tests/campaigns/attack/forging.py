"""Tokens that say they are the victim's."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from stackroom_local.gateway.issuer import CLIENT_ID
from tests.campaigns.attack.attempt import Attempt
from tests.campaigns.attack.naming import required
from tests.campaigns.attack.stage import TOOLS, Stage


def forged(stage: Stage, chance: Random) -> Iterator[Attempt]:
    """Every forgery on a tool by chance, and every tool with a forgery by chance."""
    made = forgeries(stage)
    for name, token in made.items():
        for tool in chance.sample(sorted(TOOLS), 3):
            yield _presented(stage, name, token, tool)
    for tool in TOOLS:
        name = chance.choice(sorted(made))
        yield _presented(stage, name, made[name], tool)


def _presented(stage: Stage, name: str, token: str | None, tool: str) -> Attempt:
    given = required(stage, tool, stage.victim.catalog_id)
    return Attempt(
        kind="forged token",
        tool=tool,
        name=name,
        act=lambda: stage.wire.call(TOOLS[tool], given, token=token),
    )


def forgeries(stage: Stage) -> Mapping[str, str | None]:
    issuer, now = stage.issuer, int(time.time())
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    good = _claims(stage)

    def signed(key: Any = issuer.private_key, kid: str = issuer.key_id, **changes: Any) -> str:
        claims = {name: value for name, value in {**good, **changes}.items() if value is not None}
        return jwt.encode(claims, key, algorithm="RS256", headers={"kid": kid})

    header, payload, signature = stage.token.split(".")
    victims = jwt.utils.base64url_encode(json.dumps(good).encode()).decode()
    by_others: dict[str, Callable[[], str | None]] = {
        "none": lambda: None,
        "alg none": lambda: jwt.encode(good, "", algorithm="none", headers={"kid": issuer.key_id}),
        "alg none, in capitals": lambda: _put_together({"alg": "NONE"}, good, b""),
        "HS256 with the public key": lambda: _symmetric(stage, good),
        "another key, our kid": lambda: signed(stranger),
        "another key, unknown kid": lambda: signed(stranger, "unknown"),
        "another key, a path as kid": lambda: signed(stranger, "../../dev/null"),
        "the key in the header": lambda: _bringing_its_key(stranger, good),
        "tampered payload": lambda: f"{header}.{victims}.{signature}",
        "no signature": lambda: f"{header}.{victims}.",
        "cut off": lambda: f"{header}.{payload}",
    }
    by_us: dict[str, dict[str, Any]] = {
        "another issuer": {"iss": "https://elsewhere.example"},
        "our issuer and a slash": {"iss": f"{issuer.url}/"},
        "expired": {"exp": now - 60},
        "without expiry": {"exp": None},
        "not yet valid": {"nbf": now + 3600},
        "an ID token": {"token_use": "id", "client_id": None, "aud": CLIENT_ID},
        "an ID token with a client": {"token_use": "id"},
        "another client": {"client_id": "another"},
        "no client": {"client_id": None},
        "no user": {"sub": None},
        "the client as user": {"sub": CLIENT_ID},
        "a user who is a path": {"sub": f"x/../{stage.victim.user}"},
        "a user in a list": {"sub": [stage.victim.user]},
        "a user with a line break": {"sub": f"{stage.victim.user}\n"},
        "no use": {"token_use": None},
        "another audience": {"aud": "elsewhere"},
        "groups in a text": {"cognito:groups": "admin"},
        "a session that is two headers": {"origin_jti": "s\r\nx-user-sub: x"},
    }
    made = {name: make() for name, make in by_others.items()}
    return {**made, **{name: signed(**changes) for name, changes in by_us.items()}}


def _claims(stage: Stage) -> dict[str, Any]:
    token = stage.issuer.mint(stage.victim.user)
    return dict(jwt.decode(token, options={"verify_signature": False}))


def _symmetric(stage: Stage, claims: Mapping[str, Any]) -> str:
    pem = stage.issuer.private_key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return _put_together({"alg": "HS256", "typ": "JWT", "kid": stage.issuer.key_id}, claims, pem)


def _put_together(header: Mapping[str, Any], claims: Mapping[str, Any], secret: bytes) -> str:
    """By hand, for PyJWT refuses to sign with a PEM."""
    parts = [jwt.utils.base64url_encode(json.dumps(each).encode()) for each in (header, claims)]
    signature = b""
    if secret:
        signature = jwt.get_algorithm_by_name("HS256").sign(b".".join(parts), secret)
    return b".".join([*parts, jwt.utils.base64url_encode(signature)]).decode()


def _bringing_its_key(key: rsa.RSAPrivateKey, claims: Mapping[str, Any]) -> str:
    public = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    headers = {"kid": "mine", "jwk": public, "jku": "https://elsewhere.example/jwks.json"}
    return jwt.encode(dict(claims), key, algorithm="RS256", headers=headers)
