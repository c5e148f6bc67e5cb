"""
The local authorization server: OAuth's authorization code with PKCE, and refresh tokens.

The MCP SDK (`mcp.server.auth`) has the protocol's endpoints and calls this module. It takes the
place of Cognito's managed login, without passwords: anyone who reaches this port may be any user,
as with the other services of the local mode.
"""

import re
import secrets
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from cachetools import TTLCache
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    RegistrationError,
    TokenError,
    construct_redirect_uri,
)
from mcp.shared.auth import InvalidRedirectUriError, OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl

from stackroom_local.gateway.issuer import Issuer
from stackroom_local.gateway.session_store import SessionStore, SignInSession

# The clients of the local authorization server, and what a registration (RFC 7591) makes of one.
#
# Every client is a pre-registered public one. The gateway's authorizer lets in the clients that
# the template allows (`allowedClients`), and a client that had just registered itself would not
# be among them: its sign-in would end in a 403, here and at AgentCore. So a registration answers
# with the pre-registered client's id, as proxies in front of Cognito do, and keeps where that
# client may be sent back to. RFC 7591, 3.2.1 lets a server replace what was asked for.

# Where a browser may be sent with a sign-in's code.
#
# A program on this machine listens on loopback, at any port it gets (RFC 8252, 7.3): nobody need
# register that. Anything else must be registered first: a page on the web (https), or a scheme of
# an app's own such as `cursor:` (RFC 8252, 7.1). Never plain http to elsewhere, nor a scheme that
# a browser itself would act on.

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
MAX_LENGTH = 2048
# The schemes of https://url.spec.whatwg.org/#special-scheme without https, and those that run or
# show what the address itself carries.
_BROWSERS_OWN = {
    *("http", "ftp", "ws", "wss", "file"),
    *("about", "blob", "data", "filesystem", "javascript", "vbscript", "view-source"),
}


def is_loopback(uri: AnyUrl) -> bool:
    return uri.scheme == "http" and uri.host in LOOPBACK and _is_plain(uri)


def may_be_registered(uri: AnyUrl) -> bool:
    return is_loopback(uri) or (uri.scheme not in _BROWSERS_OWN and _is_plain(uri))


def _is_plain(uri: AnyUrl) -> bool:
    """
    Return whether a URI has no fragment (RFC 6749, 3.1.2) and no user name that looks like a host.
    """
    return (
        uri.fragment is None
        and uri.username is None
        and uri.password is None
        and len(str(uri)) <= MAX_LENGTH
    )


# As the app client on AWS has them (infra/sign_in.py); what isn't asked for is the first alone.
SCOPES = ("openid", "email", "phone", "profile")
DEFAULT_SCOPES = SCOPES[:1]
_NO_SECRET = "none"  # noqa: S105 - how a public client authenticates: RFC 7591, 2


class PublicClient(OAuthClientInformationFull):
    """A client without a secret; it needs to register no loopback redirect, and no scope."""

    @classmethod
    def of(cls, client_id: str, redirects: Sequence[str]) -> Self:
        return cls(
            client_id=client_id,
            redirect_uris=[AnyUrl(each) for each in redirects],
            token_endpoint_auth_method=_NO_SECRET,
            scope=" ".join(SCOPES),
        )

    def validate_scope(self, requested_scope: str | None) -> list[str] | None:
        """Accept an empty scope like none: neither asks for anything in particular."""
        return super().validate_scope(" ".join((requested_scope or "").split()) or None)

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        """Refuse a missing URI, since several programs with different URIs share one client."""
        if redirect_uri is None:
            raise InvalidRedirectUriError("redirect_uri is missing")
        if is_loopback(redirect_uri):
            return redirect_uri
        return super().validate_redirect_uri(redirect_uri)


def redirects_to_keep(registration: OAuthClientInformationFull) -> list[str]:
    """
    Return the redirects that aren't loopback. Raises RegistrationError if a client can't have one.
    """
    uris = registration.redirect_uris or []
    if not all(may_be_registered(uri) for uri in uris):
        raise RegistrationError(
            "invalid_redirect_uri",
            "a redirect URI is http on loopback (127.0.0.1, localhost, [::1]), https, or of an "
            "app's own scheme, without a fragment or a user",
        )
    return [str(uri) for uri in uris if not is_loopback(uri)]


def become_public(registration: OAuthClientInformationFull, *, client_id: str) -> None:
    """Make the registration that of a public client. The endpoint answers with `registration`."""
    registration.client_id = client_id
    registration.token_endpoint_auth_method = _NO_SECRET
    registration.client_secret = None
    registration.client_secret_expires_at = None


PAGE_PATH = "/sign-in"
_PAGE_SECONDS = 600  # to pick a user
_CODE_SECONDS = 60  # RFC 6749, 4.1.2 wants 10 minutes at most
_MAX_OPEN = 1000  # of pages, and of codes; the oldest are forgotten
_MAX_STATE = 4096
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")  # a SHA-256 in base64url: RFC 7636, 4.2


class Code(AuthorizationCode):
    user: str
    groups: tuple[str, ...]


class Refresh(RefreshToken):
    session: SignInSession


@dataclass(frozen=True)
class AuthorizationRequest:
    """A client's request, open until a user is picked."""

    client_id: str
    params: AuthorizationParams


@dataclass(frozen=True, kw_only=True)
class AuthorizationServer(OAuthAuthorizationServerProvider[Code, Refresh, AccessToken]):
    """
    The provider behind the protocol's endpoints. `resources` are all local URLs of the gateway.
    """

    issuer: Issuer
    client_ids: Sequence[str]
    resources: Sequence[str]
    sign_ins: SessionStore
    access_token_seconds: int
    _pending: TTLCache[str, AuthorizationRequest] = field(
        default_factory=lambda: TTLCache(_MAX_OPEN, _PAGE_SECONDS)
    )
    _codes: TTLCache[str, Code] = field(default_factory=lambda: TTLCache(_MAX_OPEN, _CODE_SECONDS))
    _spent: TTLCache[str, str] = field(default_factory=lambda: TTLCache(_MAX_OPEN, _CODE_SECONDS))

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        if client_id not in self.client_ids:
            return None
        return PublicClient.of(client_id, self.sign_ins.redirects())

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Register a client by changing `client_info`, which the endpoint returns."""
        self.sign_ins.register(redirects_to_keep(client_info))
        become_public(client_info, client_id=self.client_ids[0])

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        """Return the page where a person picks the user."""
        if not _CHALLENGE.fullmatch(params.code_challenge):
            raise AuthorizeError("invalid_request", "code_challenge is no SHA-256 in base64url")
        if params.state and len(params.state) > _MAX_STATE:
            raise AuthorizeError("invalid_request", f"state is longer than {_MAX_STATE}")
        if params.resource and params.resource.rstrip("/") not in self.resources:
            raise AuthorizeError("invalid_target", f"resource is not {self.resources[0]}")
        request = secrets.token_urlsafe(32)
        self._pending[request] = AuthorizationRequest(client.client_id, params)
        return construct_redirect_uri(self.issuer.url + PAGE_PATH, request=request)

    def authorization(self, request: str) -> AuthorizationRequest | None:
        """Return an open request, or None if it is unknown, answered, or too old."""
        return self._pending.get(request)

    def grant(self, request: str, user: str, groups: Sequence[str]) -> str:
        """Return the client's URL with a code. Raises KeyError unless the request is still open."""
        authorization = self._pending.pop(request)
        params = authorization.params
        code = Code(
            code=secrets.token_urlsafe(32),
            scopes=params.scopes or list(DEFAULT_SCOPES),
            expires_at=time.time() + _CODE_SECONDS,
            client_id=authorization.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
            user=user,
            groups=tuple(groups),
        )
        self._codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    def decline(self, request: str) -> str:
        """
        Return the client's URL with the refusal. Raises KeyError unless the request is still open.
        """
        params = self._pending.pop(request).params
        return construct_redirect_uri(
            str(params.redirect_uri), error="access_denied", state=params.state
        )

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> Code | None:
        """
        Return a code's record. A code that is used twice was stolen, so its tokens end (RFC 6749,
        4.1.2).
        """
        if session_id := self._spent.get(authorization_code):
            self.sign_ins.end(session_id)
        code = self._codes.get(authorization_code)
        return code if code and code.client_id == client.client_id else None

    async def exchange_authorization_code(
        self, _client: OAuthClientInformationFull, authorization_code: Code
    ) -> OAuthToken:
        if self._codes.pop(authorization_code.code, None) is None:
            raise TokenError("invalid_grant", "authorization code does not exist")
        session = SignInSession(
            id=str(uuid.uuid4()),
            client_id=authorization_code.client_id,
            user=authorization_code.user,
            groups=authorization_code.groups,
            scopes=tuple(authorization_code.scopes),
            resource=authorization_code.resource,
            signed_in_at=int(time.time()),
        )
        self._spent[authorization_code.code] = session.id
        return self._tokens(session, self.sign_ins.begin(session))

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> Refresh | None:
        session = self.sign_ins.session(refresh_token)
        if session is None or session.client_id != client.client_id:
            return None
        return Refresh(
            token=refresh_token,
            client_id=session.client_id,
            scopes=list(session.scopes),
            expires_at=session.expires_at,
            session=session,
        )

    async def exchange_refresh_token(
        self, _client: OAuthClientInformationFull, refresh_token: Refresh, _scopes: list[str]
    ) -> OAuthToken:
        session = refresh_token.session
        return self._tokens(session, self.sign_ins.renewed(refresh_token.token))

    async def load_access_token(self, _token: str) -> AccessToken | None:
        """
        Return None: access tokens can't be revoked, here as in Cognito, and expire by themselves.
        """
        return None

    async def revoke_token(self, token: AccessToken | Refresh) -> None:
        if isinstance(token, Refresh):
            self.sign_ins.end(token.session.id)

    def _tokens(self, session: SignInSession, refresh_token: str) -> OAuthToken:
        access_token = self.issuer.mint(
            session.user,
            groups=session.groups,
            session=session.id,
            client_id=session.client_id,
            scopes=session.scopes,
            lifetime_seconds=self.access_token_seconds,
            signed_in_at=session.signed_in_at,
            audience=session.resource,
        )
        return OAuthToken(
            access_token=access_token,
            expires_in=self.access_token_seconds,
            scope=" ".join(session.scopes),
            refresh_token=refresh_token,
        )
