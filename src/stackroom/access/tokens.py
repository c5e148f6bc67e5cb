"""
Verify access tokens and read the user from them.

The gateway's authorizer has checked signature, issuer and client, but passes on no claims, so the
interceptor verifies the token again instead of trusting a payload that it merely decoded. Claims of
a Cognito access token:
https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-access-token.html
"""

import re
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import jwt

from stackroom.access.identity import Caller, is_session_id
from stackroom.errors import IssuerUnavailable, TokenRefused
from stackroom.model.keys import is_user_id

ALGORITHM = "RS256"  # Cognito signs with nothing else; a list would invite algorithm confusion
_USE = "access"  # an ID token says "id"
_REQUIRED = ("exp", "iss", "sub", "client_id", "token_use")
_SESSION = "origin_jti"
_SIGNED_IN = "auth_time"
_CLOCK_SKEW_SECONDS = 5
# `gatewayId` in the service model of bedrock-agentcore-control: ([0-9a-z][-]?){1,100}-[0-9a-z]{10}
_ID_ENDS = "[0-9a-z]{10}"

_MALFORMED = "it is malformed"
_PROBLEMS: Mapping[type[jwt.PyJWTError], str] = {
    jwt.ExpiredSignatureError: "it has expired; sign in again, or refresh it",
    jwt.ImmatureSignatureError: "it is not valid yet",
    jwt.InvalidIssuerError: "it comes from another issuer",
    jwt.InvalidSignatureError: "it isn't signed by our issuer",
    jwt.PyJWKClientError: "it isn't signed by our issuer",
}


class SigningKeys(Protocol):
    """The issuer's public keys. `PublishedKeys` fetches and caches them."""

    def get_signing_key_from_jwt(self, token: str) -> jwt.PyJWK: ...


def bearer_token(values: Sequence[str]) -> str:
    """
    Return the token of a request's Authorization headers. Raises TokenRefused unless there is
    exactly one.
    """
    if len(values) != 1:
        raise TokenRefused("exactly one Authorization header is needed")
    scheme, _, token = values[0].partition(" ")
    if scheme.lower() != "bearer":
        raise TokenRefused("the Authorization header holds no bearer token")
    return token.strip()


@dataclass(frozen=True, kw_only=True)
class AccessToken:
    """The claims of a token. `signed_in_at` is None if the issuer doesn't report it."""

    caller: Caller
    expires_at: datetime
    signed_in_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class TokenVerifier:
    """
    Accepts tokens without an audience, or with only `audiences`. Cognito writes an audience if a
    client sent `resource` (RFC 8707), as MCP's authorization does with the server's URL.
    [assumed: cognito.resource-audience]

    In an audience `*` matches the characters at the end of a gateway's id: the id is known only
    once the gateway exists, and its functions exist before it.
    """

    keys: SigningKeys
    issuer: str
    client_ids: tuple[str, ...]
    audiences: tuple[str, ...] = ()

    def read(self, token: str) -> AccessToken:
        """
        Return the claims of a token of one of our users.

        Raises `TokenRefused` naming the failed check, and `IssuerUnavailable` if the keys can't be
        fetched.
        """
        claims = self._claims(token)
        if claims["token_use"] != _USE:
            raise TokenRefused("it is no access token")
        if "aud" in claims and not self._is_for_us(claims["aud"]):
            raise TokenRefused("it is meant for another audience")
        if claims["client_id"] not in self.client_ids:
            raise TokenRefused("it was issued to another client")
        user_id = claims["sub"]
        # A client-credentials token names its client as subject: a program, and no user behind it.
        if user_id == claims["client_id"]:
            raise TokenRefused("it names no user")
        if not is_user_id(user_id):
            raise TokenRefused("its subject can't name a folder")
        caller = Caller(user_id=user_id, groups=_groups(claims), session_id=_session(claims))
        return AccessToken(
            caller=caller,
            expires_at=datetime.fromtimestamp(int(claims["exp"]), UTC),
            signed_in_at=_signed_in_at(claims),
        )

    def _claims(self, token: str) -> dict[str, Any]:
        try:
            # Before the keys are asked for: a token without our kind of `kid` would refetch them.
            if jwt.get_unverified_header(token).get("alg") != ALGORITHM:
                raise TokenRefused(f"it isn't signed with {ALGORITHM}")
            return jwt.decode(
                token,
                self.keys.get_signing_key_from_jwt(token),
                algorithms=[ALGORITHM],
                issuer=self.issuer,
                leeway=_CLOCK_SKEW_SECONDS,
                options={"require": list(_REQUIRED), "verify_aud": False},  # read() does
            )
        except jwt.PyJWKClientConnectionError as error:
            raise IssuerUnavailable from error
        except jwt.PyJWTError as error:
            raise TokenRefused(_problem(error)) from error

    def _is_for_us(self, audience: object) -> bool:
        """Return True if we are the audience, a text or a list of texts [RFC 7519, 4.1.3]."""
        named = audience if isinstance(audience, list) else [audience]
        return bool(named) and all(
            isinstance(each, str) and any(_matches(each, ours) for ours in self.audiences)
            for each in named
        )


def _matches(url: str, ours: str) -> bool:
    """Return True if the URL is ours, with or without a slash at its end."""
    pattern = re.escape(ours).replace(r"\*", _ID_ENDS)
    return re.fullmatch(pattern, url.removesuffix("/")) is not None


def _groups(claims: Mapping[str, Any]) -> tuple[str, ...]:
    groups = claims.get("cognito:groups", [])
    if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups):
        raise TokenRefused("its groups are no list of names")
    return tuple(groups)


def _session(claims: Mapping[str, Any]) -> str | None:
    """
    Return the id of the session: `jti` names one token, `origin_jti` the sign-in, which outlives a
    refresh.

    [assumed: refresh.session]
    """
    if _SESSION not in claims:
        return None
    session = claims[_SESSION]
    if not isinstance(session, str) or not is_session_id(session):
        raise TokenRefused("its session can't be carried")
    return session


def _signed_in_at(claims: Mapping[str, Any]) -> datetime | None:
    """
    Return the time of the sign-in. A refresh, or a silent sign-in by the issuer's session, keeps
    it.
    """
    seconds = claims.get(_SIGNED_IN)
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int):
        raise TokenRefused("its auth_time is no number of seconds")
    return datetime.fromtimestamp(seconds, UTC)


def _problem(error: jwt.PyJWTError) -> str:
    if isinstance(error, jwt.MissingRequiredClaimError):
        return f"it lacks the claim {error.claim!r}"
    return next(
        (problem for kind, problem in _PROBLEMS.items() if isinstance(error, kind)), _MALFORMED
    )


# The issuer's public keys: fetched once, cached, and fetched again for a new key id.
#
# Cognito rotates its keys and publishes a new one before it signs with it, so a kept set may lack
# it: https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-tokens-verifying-a-jwt.html
# Anybody can put a key id of their own into a token, though, so only so many of them in a minute
# make us ask the issuer. `jwt.PyJWKClient` alone would let each fetch delay the next by half a
# minute, and with it a key that was rotated in.

_KEPT_SECONDS = 3600
_TIMEOUT_SECONDS = 2  # the caller is waiting
_WINDOW_SECONDS = 60
_UNKNOWN_KEYS_PER_WINDOW = 3


class PublishedKeys:
    """`SigningKeys` from a JWKS URL. `now` is a monotonic clock in seconds."""

    def __init__(self, url: str, *, now: Callable[[], float] = time.monotonic) -> None:
        self._client = jwt.PyJWKClient(url, lifespan=_KEPT_SECONDS, timeout=_TIMEOUT_SECONDS)
        self._now = now
        self._asked: deque[float] = deque(maxlen=_UNKNOWN_KEYS_PER_WINDOW)

    def get_signing_key_from_jwt(self, token: str) -> jwt.PyJWK:
        """
        Return the key that the token names.

        Raises `jwt.PyJWKClientError` for an id that isn't published, its subclass
        `PyJWKClientConnectionError` if the issuer doesn't reply, and `jwt.DecodeError` for what is
        no token.
        """
        key_id = str(jwt.get_unverified_header(token).get("kid", ""))
        key = self._client.match_kid(self._client.get_signing_keys(), key_id)
        if key is None and self._may_ask_again():
            key = self._client.match_kid(self._client.get_signing_keys(refresh=True), key_id)
        if key is None:
            raise jwt.PyJWKClientError(f"the issuer publishes no key {key_id!r}")
        return key

    def _may_ask_again(self) -> bool:
        """Return True if another request is allowed, and count it even if it fails."""
        now = self._now()
        if len(self._asked) == self._asked.maxlen and now - self._asked[0] < _WINDOW_SECONDS:
            return False
        self._asked.append(now)
        return True
