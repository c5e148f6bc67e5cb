"""
A local token issuer, in Cognito's place.

Anyone who can read the data directory can mint a token for any user, so only its owner can read the
key file. Over HTTP, tokens come from a sign-in: see authorization_server.py.
"""

import base64
import contextlib
import hashlib
import json
import os
import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID = "stackroom-local"
ALGORITHM = "RS256"
ACCESS_TOKEN_SECONDS = 3600
_KEY_FILE = "issuer-key.pem"


@dataclass(frozen=True, kw_only=True)
class Issuer:
    """Signs tokens with one key that lasts as long as its data directory."""

    url: str
    private_key: rsa.RSAPrivateKey

    @classmethod
    def open(cls, data_dir: Path, *, url: str) -> Self:
        """Return the issuer of a data directory, and create its key at first use."""
        path = data_dir / _KEY_FILE
        if not path.exists():
            _write_new_key(path)
        key = serialization.load_pem_private_key(path.read_bytes(), password=None)
        assert isinstance(key, rsa.RSAPrivateKey), "we write no other kind of key"
        return cls(url=url, private_key=key)

    def mint(
        self,
        user: str,
        *,
        groups: Sequence[str] = (),
        session: str | None = None,
        client_id: str = CLIENT_ID,
        scopes: Sequence[str] = ("openid",),
        lifetime_seconds: float = ACCESS_TOKEN_SECONDS,
        signed_in_at: int | None = None,
        audience: str | None = None,
    ) -> str:
        """
        Return an access token with Cognito's claims; a negative lifetime makes an expired one.

        Without `session` it belongs to a new sign-in; with one it is like the result of a refresh,
        which keeps `origin_jti`, and `auth_time` if `signed_in_at` is given. `audience` is the
        `resource` of a client's sign-in, which Cognito writes into the token's `aud` [Cognito
        guide: cognito-user-pools-define-resource-servers, Resource binding].
        """
        now = int(time.time())
        claims: dict[str, Any] = {
            "iss": self.url,
            "sub": user,
            "username": user,
            "client_id": client_id,
            "token_use": "access",
            "scope": " ".join(scopes),
            "auth_time": now if signed_in_at is None else signed_in_at,
            "iat": now,
            "exp": int(now + lifetime_seconds),
            "jti": str(uuid.uuid4()),
            "origin_jti": session or str(uuid.uuid4()),
        }
        if audience:
            claims["aud"] = audience
        if groups:
            claims["cognito:groups"] = list(groups)
        return jwt.encode(
            claims, self.private_key, algorithm=ALGORITHM, headers={"kid": self.key_id}
        )

    @property
    def key_id(self) -> str:
        """The key's thumbprint, RFC 7638."""
        members = {name: self._public_members()[name] for name in ("e", "kty", "n")}
        canonical = json.dumps(members, sort_keys=True, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(hashlib.sha256(canonical).digest()).decode().rstrip("=")

    def jwks(self) -> dict[str, Any]:
        public = {**self._public_members(), "kid": self.key_id, "alg": ALGORITHM, "use": "sig"}
        return {"keys": [public]}

    def _public_members(self) -> dict[str, Any]:
        public = jwt.algorithms.RSAAlgorithm.to_jwk(self.private_key.public_key(), as_dict=True)
        return {name: public[name] for name in ("kty", "n", "e")}


def _write_new_key(path: Path) -> None:
    """
    Write a key. If several processes start at once, the first wins, and none reads half a file.
    """
    pem = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(dir=path.parent)  # mode 0600
    with os.fdopen(descriptor, "wb") as file:
        file.write(pem)
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
    os.unlink(draft)
