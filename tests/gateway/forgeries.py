"""Tokens that must not pass, each made from a good one of the issuer's."""

import json
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization

from stackroom_local.gateway.issuer import Issuer


def resigned(issuer: Issuer, **changes: Any) -> str:
    """Alice's token with claims changed and well signed; None removes a claim."""
    return _signed(_claims(issuer, **changes), issuer, key_id=issuer.key_id)


def signed_by_another_key(issuer: Issuer, directory: Path) -> str:
    return _signed(_claims(issuer), Issuer.open(directory, url=issuer.url), key_id=issuer.key_id)


def signed_by_an_unknown_key(issuer: Issuer, directory: Path) -> str:
    return Issuer.open(directory, url=issuer.url).mint("alice")


def unsigned(issuer: Issuer, _directory: Path) -> str:
    return jwt.encode(_claims(issuer), "", algorithm="none", headers={"kid": issuer.key_id})


def signed_with_the_public_key_as_secret(issuer: Issuer, _directory: Path) -> str:
    pem = issuer.private_key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    # PyJWT itself refuses to sign with a PEM, so the forgery is put together by hand.
    header = {"alg": "HS256", "typ": "JWT", "kid": issuer.key_id}
    parts = [
        jwt.utils.base64url_encode(json.dumps(part).encode()) for part in (header, _claims(issuer))
    ]
    signature = jwt.get_algorithm_by_name("HS256").sign(b".".join(parts), pem)
    return b".".join([*parts, jwt.utils.base64url_encode(signature)]).decode()


def tampered(issuer: Issuer, _directory: Path) -> str:
    header, _, signature = issuer.mint("alice").split(".")
    _, payload, _ = issuer.mint("bob").split(".")
    return f"{header}.{payload}.{signature}"


def _claims(issuer: Issuer, **changes: Any) -> dict[str, Any]:
    claims = jwt.decode(issuer.mint("alice"), options={"verify_signature": False})
    return {name: value for name, value in {**claims, **changes}.items() if value is not None}


def _signed(claims: dict[str, Any], signer: Issuer, *, key_id: str) -> str:
    headers = {"kid": key_id}
    return jwt.encode(claims, signer.private_key, algorithm="RS256", headers=headers)
