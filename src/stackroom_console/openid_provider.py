"""
The OpenID provider that users sign in at: Cognito, or the local mode's own issuer.

The authorization code flow with PKCE; its protocol is authlib's business. Discovery:
https://openid.net/specs/openid-connect-discovery-1_0.html
"""

import secrets
import threading
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx2
import jwt
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from pydantic import BaseModel, ConfigDict
from pydantic import ValidationError as Malformed

from stackroom.access.tokens import ALGORITHM, SigningKeys
from stackroom.errors import IssuerUnavailable, TokenRefused

CALLBACK = "/sign-in/callback"
_TIMEOUT_SECONDS = 5.0  # somebody waits at the page
_SCOPE = "openid"


class ProviderMetadata(BaseModel):
    """The part of the provider's metadata that the console uses."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    end_session_endpoint: str | None = None


@dataclass(frozen=True, kw_only=True)
class Begun:
    """A sign-in's address for the browser, and the values that its answer is checked against."""

    url: str
    state: str
    nonce: str
    code_verifier: str


@dataclass(frozen=True, kw_only=True)
class OpenIdProvider:
    """
    `client_id` is a public client, which has no secret: PKCE takes its place. `keys` are those that
    it signs with.
    """

    url: str
    client_id: str
    keys: SigningKeys
    transport: httpx2.BaseTransport | None = None
    _known: list[ProviderMetadata] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, console_url: str, *, ask_again: bool = False) -> Begun:
        """
        A sign-in; `ask_again` has the provider ask who it is even of somebody whom it knows.

        Raises IssuerUnavailable.
        """
        nonce, verifier = secrets.token_urlsafe(24), secrets.token_urlsafe(48)
        # `prompt`: OpenID Connect Core 3.1.2.1; Cognito takes it at its authorization endpoint.
        more = {"prompt": "login"} if ask_again else {}
        with self._client(console_url) as client:
            url, state = client.create_authorization_url(
                self._discovered().authorization_endpoint,
                code_verifier=verifier,
                nonce=nonce,
                **more,
            )
        return Begun(url=url, state=state, nonce=nonce, code_verifier=verifier)

    def access_token(self, console_url: str, code: str, *, code_verifier: str, nonce: str) -> str:
        """
        Return the provider's token for the code. The token is for its verifier to check; an ID
        token that comes with it must be the answer to this very sign-in.

        Raises IssuerUnavailable, or TokenRefused if there is none for this code.
        """
        try:
            with self._client(console_url) as client:
                answer = client.fetch_token(
                    self._discovered().token_endpoint, code=code, code_verifier=code_verifier
                )
        except httpx2.HTTPError as error:
            raise IssuerUnavailable from error
        except (AuthlibBaseError, ValueError) as error:
            raise TokenRefused("the sign-in service gives none for this code") from error
        token = answer.get("access_token")
        if not isinstance(token, str):
            raise TokenRefused("the sign-in service gave none")
        self._require_nonce(answer.get("id_token"), nonce)
        return token

    def sign_out_url(self, console_url: str) -> str | None:
        """
        Return the address that ends the provider's own session, or None if the provider names none.

        The parameters are those of OpenID Connect RP-Initiated Logout 1.0, and Cognito's own names
        for the same: https://docs.aws.amazon.com/cognito/latest/developerguide/logout-endpoint.html
        """
        endpoint = self._discovered().end_session_endpoint
        if endpoint is None:
            return None
        back = f"{console_url}/sign-in"
        query = {
            "client_id": self.client_id,
            "post_logout_redirect_uri": back,
            "logout_uri": back,
        }
        return f"{endpoint}?{urlencode(query)}"

    def _client(self, console_url: str) -> OAuth2Client:
        return OAuth2Client(
            self.client_id,
            scope=_SCOPE,
            redirect_uri=console_url + CALLBACK,
            code_challenge_method="S256",
            token_endpoint_auth_method="none",  # noqa: S106 - no password: how none is sent
            timeout=_TIMEOUT_SECONDS,
            transport=self.transport,
        )

    def _require_nonce(self, id_token: object, nonce: str) -> None:
        """A provider of plain OAuth 2.0 gives no ID token; then PKCE alone ties code to browser."""
        if id_token is None:
            return
        try:
            header = jwt.get_unverified_header(str(id_token))
            claims: dict[str, Any] = jwt.decode(
                str(id_token),
                self.keys.get_signing_key(str(header.get("kid", ""))),
                algorithms=[ALGORITHM],
                audience=self.client_id,
                issuer=self.url,
                leeway=5,
            )
        except jwt.PyJWKClientConnectionError as error:
            raise IssuerUnavailable from error
        except jwt.PyJWTError as error:
            raise TokenRefused("its ID token isn't one of the sign-in service's") from error
        if not secrets.compare_digest(str(claims.get("nonce", "")), nonce):
            raise TokenRefused("its ID token answers another sign-in")

    def _discovered(self) -> ProviderMetadata:
        """Return the provider's metadata, which is read once; a failed attempt is repeated."""
        with self._lock:
            if not self._known:
                self._known.append(self._discover())
            return self._known[0]

    def _discover(self) -> ProviderMetadata:
        url = f"{self.url}/.well-known/openid-configuration"
        try:
            with httpx2.Client(timeout=_TIMEOUT_SECONDS, transport=self.transport) as client:
                answer = client.get(url).raise_for_status()
            found = ProviderMetadata.model_validate_json(answer.content)
        except (httpx2.HTTPError, Malformed) as error:
            raise IssuerUnavailable from error
        endpoints = (found.authorization_endpoint, found.token_endpoint)
        is_whole = all(urlsplit(each).scheme in ("http", "https") for each in endpoints)
        if found.issuer != self.url or not is_whole:
            raise IssuerUnavailable
        return found
