"""
Verify access tokens and read the user from them.

The gateway's authorizer has checked signature, issuer and client, but passes on no claims, so the
interceptor verifies the token again instead of trusting a payload that it merely decoded. Claims of
a Cognito access token:
https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-the-access-token.html
"""

import re
from collections.abc import Mapping, Sequence
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
    """The issuer's public keys."""

    def get_signing_key(self, kid: str, /) -> jwt.PyJWK:
        """
        Return the key of this id.

        Raises `jwt.PyJWKClientError` for an id that isn't published, and its subclass
        `PyJWKClientConnectionError` if the issuer doesn't reply.
        """


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
            header = jwt.get_unverified_header(token)
            if header.get("alg") != ALGORITHM:
                raise TokenRefused(f"it isn't signed with {ALGORITHM}")
            return jwt.decode(
                token,
                self.keys.get_signing_key(str(header.get("kid", ""))),
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


def published_keys(url: str) -> SigningKeys:
    """
    Return the keys that the issuer publishes there: kept for an hour, and fetched again for an
    unknown key id, but not within half a minute, because anybody can write one into a token.

    Cognito publishes a new key before it signs with it:
    https://docs.aws.amazon.com/cognito/latest/developerguide/amazon-cognito-user-pools-using-tokens-verifying-a-jwt.html
    """
    return jwt.PyJWKClient(url, lifespan=3600, timeout=2, cooldown_duration=30)
