"""An OpenID provider in the process: who signs in there is said by the test."""

import base64
import hashlib
import json
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

ISSUER = "https://issuer.test/pool"
CLIENT = "console"
_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class Provider:
    """`given` are the codes that it gave, each with what the sign-in was asked with."""

    given: dict[str, dict[str, str]] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)  # over those of an access token
    id_claims: dict[str, Any] = field(default_factory=dict)
    is_down: bool = False

    @cached_property
    def transport(self) -> httpx2.MockTransport:
        return httpx2.MockTransport(self._answer)

    def get_signing_key(self, _kid: str) -> jwt.PyJWK:
        public = jwt.algorithms.RSAAlgorithm.to_jwk(_KEY.public_key(), as_dict=True)
        return jwt.PyJWK({**public, "alg": "RS256"})

    def sign_in(self, url: str, user: str, *groups: str) -> str:
        """The user signs in at the page that the console sent them to; answers the way back."""
        asked = dict(parse_qsl(urlsplit(url).query))
        assert url.startswith(f"{ISSUER}/authorize?")
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{len(self.given)}"
        self.given[code] = {**asked, "user": user, "groups": json.dumps(groups)}
        return f"{asked['redirect_uri']}?code={code}&state={asked['state']}"

    def access_token(self, user: str, *groups: str, **claims: Any) -> str:
        now = int(time.time())
        told = {
            "iss": ISSUER,
            "sub": user,
            "client_id": CLIENT,
            "token_use": "access",
            "exp": now + 3600,
            "auth_time": now,
            "origin_jti": f"session-of-{user}",
            "cognito:groups": list(groups),
        }
        return self._signed({**told, **self.claims, **claims})

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        if self.is_down:
            raise httpx2.ConnectError("refused", request=request)
        if request.url.path == "/pool/.well-known/openid-configuration":
            return httpx2.Response(200, json=self._metadata())
        assert request.url.path == "/pool/token", request.url
        return self._token(
            {name: value for name, [value] in parse_qs(request.read().decode()).items()}
        )

    def _metadata(self) -> dict[str, str]:
        return {
            "issuer": ISSUER,
            "authorization_endpoint": f"{ISSUER}/authorize",
            "token_endpoint": f"{ISSUER}/token",
            "jwks_uri": f"{ISSUER}/jwks.json",
            "end_session_endpoint": f"{ISSUER}/logout",
        }

    def _token(self, form: dict[str, str]) -> httpx2.Response:
        asked = self.given.pop(form["code"], None)
        if asked is None or not self._is_proven(asked, form):
            return httpx2.Response(400, json={"error": "invalid_grant"})
        answer = {
            "access_token": self.access_token(asked["user"], *json.loads(asked["groups"])),
            "token_type": "Bearer",
            "expires_in": 3600,
            "refresh_token": "never kept",
            "id_token": self._id_token(asked),
        }
        return httpx2.Response(200, json=answer)

    def _is_proven(self, asked: dict[str, str], form: dict[str, str]) -> bool:
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        is_same = all(form[name] == asked[name] for name in ("client_id", "redirect_uri"))
        return is_same and challenge == asked["code_challenge"]

    def _id_token(self, asked: dict[str, str]) -> str:
        claims = {
            "iss": ISSUER,
            "aud": CLIENT,
            "sub": asked["user"],
            "exp": int(time.time()) + 3600,
            "nonce": asked["nonce"],
        }
        return self._signed({**claims, **self.id_claims})

    def _signed(self, claims: dict[str, Any]) -> str:
        return jwt.encode(claims, _KEY, algorithm="RS256", headers={"kid": "k"})
