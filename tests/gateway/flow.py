"""The authorization code flow step by step, so that a test can take each one wrongly."""

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import httpx2

from stackroom_local.gateway.issuer import CLIENT_ID
from tests.gateway.browser import sign_in
from tests.gateway.serving import RunningGateway

CALLBACK = "http://localhost:8976/callback"


def challenge_of(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


@dataclass(frozen=True, kw_only=True)
class Flow:
    """A client's state between its link and its tokens."""

    gateway: RunningGateway
    client_id: str = CLIENT_ID
    redirect_uri: str = CALLBACK
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    def link(self, **changes: str | None) -> str:
        """Return the sign-in link; None leaves a parameter out."""
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "code_challenge": challenge_of(self.verifier),
            "code_challenge_method": "S256",
            "state": "a state",
            "scope": "openid",
            **changes,
        }
        return f"{self.gateway.base}/issuer/authorize?{urlencode(_given(asked))}"

    def code(self, user: str = "alice", groups: str = "") -> str:
        return sign_in(self.link(), user, groups)["code"]

    def exchange(self, code: str, **changes: str | None) -> httpx2.Response:
        asked = {
            "grant_type": "authorization_code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "code": code,
            "code_verifier": self.verifier,
            **changes,
        }
        return self.post("token", **_given(asked))

    def refresh(self, refresh_token: str, **changes: str) -> httpx2.Response:
        given = {"grant_type": "refresh_token", "client_id": self.client_id, **changes}
        return self.post("token", refresh_token=refresh_token, **given)

    def tokens(self, user: str = "alice", groups: str = "") -> dict[str, Any]:
        """Those of a whole sign-in."""
        response = self.exchange(self.code(user, groups))
        assert response.status_code == 200, response.text
        return dict(response.json())

    def post(self, endpoint: str, **given: str) -> httpx2.Response:
        return httpx2.post(f"{self.gateway.base}/issuer/{endpoint}", data=given, timeout=120)


def _given(asked: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in asked.items() if value is not None}
