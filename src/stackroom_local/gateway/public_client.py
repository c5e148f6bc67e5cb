"""
The clients of the local authorization server, and what a registration (RFC 7591) makes of one.

Every client is a pre-registered public one. The gateway's authorizer lets in the clients that the
template allows (`allowedClients`), and a client that had just registered itself would not be among
them: its sign-in would end in a 403, here and at AgentCore. So a registration answers with the
pre-registered client's id, as proxies in front of Cognito do, and keeps where that client may be
sent back to. RFC 7591, 3.2.1 lets a server replace what was asked for.
"""

from collections.abc import Sequence
from typing import Self

from mcp.server.auth.provider import RegistrationError
from mcp.shared.auth import InvalidRedirectUriError, OAuthClientInformationFull
from pydantic import AnyUrl

from stackroom_local.gateway.redirects import is_loopback, may_be_registered

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
        """An empty one asks for nothing in particular, as none does."""
        return super().validate_scope(" ".join((requested_scope or "").split()) or None)

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        """None is refused: what is registered is of several programs that share one client."""
        if redirect_uri is None:
            raise InvalidRedirectUriError("redirect_uri is missing")
        if is_loopback(redirect_uri):
            return redirect_uri
        return super().validate_redirect_uri(redirect_uri)


def redirects_to_keep(asked: OAuthClientInformationFull) -> list[str]:
    """Those that aren't loopback; raises RegistrationError if one is of no client."""
    uris = asked.redirect_uris or []
    if not all(may_be_registered(uri) for uri in uris):
        raise RegistrationError(
            "invalid_redirect_uri",
            "a redirect URI is http on loopback (127.0.0.1, localhost, [::1]), https, or of an "
            "app's own scheme, without a fragment or a user",
        )
    return [str(uri) for uri in uris if not is_loopback(uri)]


def become_public(asked: OAuthClientInformationFull, *, client_id: str) -> None:
    """Replaces what was asked for; the endpoint answers with what is left in `asked`."""
    asked.client_id = client_id
    asked.token_endpoint_auth_method = _NO_SECRET
    asked.client_secret = None
    asked.client_secret_expires_at = None
