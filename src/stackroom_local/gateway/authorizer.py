"""
The gateway's inbound authorizer of type CUSTOM_JWT, with `allowedClients`.

https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/inbound-jwt-authorizer.html

It checks signature, issuer, expiry and client. It ignores `token_use`, an audience without
`allowedAudience`, and a missing user. Our interceptor checks those; a stricter stand-in would hide
a failure of the interceptor.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jwt
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response

from stackroom_local.gateway.issuer import ALGORITHM, Issuer

# Messages that tell the sender what is wrong with an access token and how to get another.
#
# They are sent in a header (RFC 6750, 3: no quotes or backslashes), and never repeat a token's
# content, because a forged one could contain anything.

_HINT = "Sign in again, or get one by `stackroom login` or `stackroom token --user NAME`."
_EXPIRED = f"the access token has expired. {_HINT}"
_UNVERIFIED = (
    "the access token is malformed, forged, of another issuer, or from before --fresh. " + _HINT
)
WRONG_CLIENT = (
    "the access token was issued to a client that this gateway doesn't allow, or is an ID token, "
    f"which names no client. {_HINT}"
)


class Unauthorized(Exception):
    """
    A request that the gateway answers itself.

    401 for a token that is missing or doesn't verify, 403 for a good one with the wrong claims
    (HTTP codes: .../devguide/gateway-using-mcp-call.html; a claim mismatch was seen as 403 at a
    gateway where an agent runtime answers 401). The texts are not documented. AWS's
    challenge is only known to have `resource_metadata`; naming the problem with a token (RFC 6750,
    3) is an addition of this stand-in.
    """

    def __init__(self, status: int, code: int, message: str, problem: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.problem = problem  # None without a token, as RFC 6750 asks

    def response(self, metadata_url: str) -> Response:
        error = {"code": self.code, "message": str(self)}
        parameters = {"resource_metadata": metadata_url}
        if self.problem is not None:
            parameters = {"error": "invalid_token", "error_description": self.problem, **parameters}
        challenge = ", ".join(f'{name}="{value}"' for name, value in parameters.items())
        return JSONResponse(
            {"jsonrpc": "2.0", "id": None, "error": error},
            status_code=self.status,
            headers={"WWW-Authenticate": f"Bearer {challenge}"},
        )


@dataclass(frozen=True, kw_only=True)
class Authorizer:
    issuer: Issuer
    allowed_client_ids: Sequence[str]

    def check(self, headers: Headers) -> Mapping[str, Any]:
        """
        Return the claims. Raises `Unauthorized` unless there is exactly one good bearer token.
        """
        values = headers.getlist("authorization")
        if len(values) != 1 or not values[0].lower().startswith("bearer "):
            raise Unauthorized(401, -32001, "Missing Bearer token")
        token = values[0][len("bearer ") :].strip()
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self.issuer.private_key.public_key(),
                algorithms=[ALGORITHM],
                issuer=self.issuer.url,
                options={"require": ["exp", "iss"], "verify_aud": False},
            )
        except (jwt.PyJWTError, RecursionError) as error:  # the latter for JSON nested too deep
            is_expired = isinstance(error, jwt.ExpiredSignatureError)
            problem = _EXPIRED if is_expired else _UNVERIFIED
            raise Unauthorized(401, -32001, "Invalid Bearer token", problem) from error
        if claims.get("client_id") not in self.allowed_client_ids:
            text = "Authorization error - Insufficient permissions"
            raise Unauthorized(403, -32002, text, WRONG_CLIENT)
        return claims
