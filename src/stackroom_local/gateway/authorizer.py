"""
The gateway's inbound authorizer of type CUSTOM_JWT, with `allowedClients`.

https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/inbound-jwt-authorizer.html
It checks signature, issuer, expiry and client, and nothing else: neither `token_use`, nor an
audience that no `allowedAudience` names, nor whether there is a user. That is our interceptor's
to do, and a stricter stand-in would hide it if the interceptor didn't.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jwt
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response

from stackroom_local.gateway.issuer import ALGORITHM, Issuer


class Unauthorized(Exception):
    """
    A request that the gateway answers itself.

    401 for a token that is missing or doesn't verify, 403 for a good one with the wrong claims
    (HTTP codes: .../devguide/gateway-using-mcp-call.html; a claim mismatch was seen as 403 at a
    gateway where an agent runtime answers 401). The texts are documented nowhere.
    """

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code

    def response(self, metadata_url: str) -> Response:
        error = {"code": self.code, "message": str(self)}
        challenge = {"WWW-Authenticate": f'Bearer resource_metadata="{metadata_url}"'}
        return JSONResponse(
            {"jsonrpc": "2.0", "id": None, "error": error},
            status_code=self.status,
            headers=challenge if self.status == 401 else None,
        )


@dataclass(frozen=True, kw_only=True)
class Authorizer:
    issuer: Issuer
    allowed_client_ids: Sequence[str]

    def check(self, headers: Headers) -> Mapping[str, Any]:
        """The claims; raises `Unauthorized` unless exactly one good bearer token is there."""
        values = headers.getlist("authorization")
        if len(values) != 1 or not values[0].lower().startswith("bearer "):
            raise Unauthorized(401, -32001, "Missing Bearer token")
        try:
            claims: dict[str, Any] = jwt.decode(
                values[0][len("bearer ") :].strip(),
                self.issuer.private_key.public_key(),
                algorithms=[ALGORITHM],
                issuer=self.issuer.url,
                options={"require": ["exp", "iss"], "verify_aud": False},
            )
        except jwt.PyJWTError as error:
            raise Unauthorized(401, -32001, "Invalid Bearer token") from error
        if claims.get("client_id") not in self.allowed_client_ids:
            raise Unauthorized(403, -32002, "Authorization error - Insufficient permissions")
        return claims
