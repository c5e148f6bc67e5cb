"""
The addresses of the local authorization server: the protocol's endpoints, the page, the metadata.

Metadata lies wherever a client may look: RFC 8414 (`oauth-authorization-server`) and OpenID Connect
Discovery (`openid-configuration`) differ in which side of the issuer's path they put the name.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.middleware.client_auth import AuthenticationError, ClientAuthenticator
from mcp.server.auth.routes import (
    AUTHORIZATION_PATH,
    REGISTRATION_PATH,
    REVOCATION_PATH,
    TOKEN_PATH,
    build_metadata,
)
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.shared.auth import ProtectedResourceMetadata
from pydantic import AnyHttpUrl
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, request_response
from starlette.types import ASGIApp, Receive, Scope, Send

from stackroom_local.gateway.authorization import PAGE_PATH, AuthorizationServer
from stackroom_local.gateway.issuer import ALGORITHM, Issuer
from stackroom_local.gateway.public_client import DEFAULT_SCOPES, SCOPES
from stackroom_local.gateway.sign_in_page import SignInPage

RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource"
_UNKEPT = {"Cache-Control": "no-store"}
_MAX_BODY = 64 * 1024  # many times of what any of these requests needs
_FORM = "application/x-www-form-urlencoded"

_REGISTRATION = ClientRegistrationOptions(
    enabled=True, valid_scopes=list(SCOPES), default_scopes=list(DEFAULT_SCOPES)
)

# What is wrapped around an address that clients call, to let pages of other origins call it, too.
Shared = Callable[[ASGIApp], ASGIApp]


def browser_routes(server: AuthorizationServer) -> list[Route]:
    """Where a person's browser goes; pages of other origins may send it there and read nothing."""
    path = urlsplit(server.issuer.url).path
    page = SignInPage(server)
    return [
        Route(
            path + AUTHORIZATION_PATH,
            _limited(_of_forms(AuthorizationHandler(server).handle)),
            methods=["GET", "POST"],
        ),
        Route(path + PAGE_PATH, page.show, methods=["GET"]),
        Route(path + PAGE_PATH, _limited(_of_forms(page.answer)), methods=["POST"]),
    ]


def client_routes(
    server: AuthorizationServer, *, resource_path: str, shared: Shared
) -> list[Route]:
    """What clients call themselves; `resource_path` is the gateway's."""
    path = urlsplit(server.issuer.url).path
    posted = {
        TOKEN_PATH: _of_forms(TokenHandler(server, ClientAuthenticator(server)).handle),
        REGISTRATION_PATH: RegistrationHandler(server, _REGISTRATION).handle,
        REVOCATION_PATH: _of_forms(_Revocation(server).handle),
    }
    metadata = JSONResponse(_metadata(server.issuer))
    resource = _ProtectedResource(server.issuer, resource_path)
    got: dict[str, ASGIApp] = {
        f"/.well-known/oauth-authorization-server{path}": metadata,
        f"{path}/.well-known/oauth-authorization-server": metadata,
        f"/.well-known/openid-configuration{path}": metadata,
        f"{path}/.well-known/openid-configuration": metadata,
        f"{path}/.well-known/jwks.json": JSONResponse(server.issuer.jwks()),
        RESOURCE_METADATA_PATH: resource,
        RESOURCE_METADATA_PATH + resource_path: resource,
    }
    return [
        *(
            Route(path + where, shared(_limited(handle)), methods=["POST", "OPTIONS"])
            for where, handle in posted.items()
        ),
        *(Route(where, shared(app), methods=["GET", "OPTIONS"]) for where, app in got.items()),
    ]


@dataclass(frozen=True)
class _Revocation:
    """RFC 7009. The SDK's handler wants the field `client_secret`, of public clients too."""

    server: AuthorizationServer

    async def handle(self, request: Request) -> Response:
        try:
            client = await ClientAuthenticator(self.server).authenticate_request(request)
        except AuthenticationError as error:
            problem = {"error": "invalid_client", "error_description": error.message}
            return JSONResponse(problem, status_code=HTTPStatus.UNAUTHORIZED, headers=_UNKEPT)
        given = (await request.form()).get("token")
        if not isinstance(given, str):
            problem = {"error": "invalid_request", "error_description": "token is missing"}
            return JSONResponse(problem, status_code=HTTPStatus.BAD_REQUEST, headers=_UNKEPT)
        if token := await self.server.load_refresh_token(client, given):
            await self.server.revoke_token(token)
        return Response(headers=_UNKEPT)  # the same for a token that nobody knows: section 2.2


Handle = Callable[[Request], Awaitable[Response]]


def _of_forms(handle: Handle) -> Handle:
    """
    RFC 6749 knows forms in one encoding (3.1, 3.2). The SDK and Starlette parse another, too, and
    take one that is broken for a fault of theirs.
    """

    async def checked(request: Request) -> Response:
        given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if request.method == "POST" and given != _FORM:
            told = f"the request's Content-Type must be {_FORM}"
            problem = {"error": "invalid_request", "error_description": told}
            return JSONResponse(problem, status_code=HTTPStatus.BAD_REQUEST, headers=_UNKEPT)
        return await handle(request)

    return checked


def _limited(handle: Handle) -> ASGIApp:
    return RequestBodyLimitMiddleware(request_response(handle), _MAX_BODY)


def _metadata(issuer: Issuer) -> dict[str, Any]:
    """RFC 8414's, and what OpenID Connect Discovery requires beyond."""
    revocation = RevocationOptions(enabled=True)
    metadata = build_metadata(AnyHttpUrl(issuer.url), None, _REGISTRATION, revocation)
    return {
        **metadata.model_dump(mode="json", exclude_none=True),
        "issuer": issuer.url,  # character by character: the model may add a slash
        "token_endpoint_auth_methods_supported": ["none"],  # every client is a public one
        "revocation_endpoint_auth_methods_supported": ["none"],
        "jwks_uri": f"{issuer.url}/.well-known/jwks.json",
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [ALGORITHM],
    }


@dataclass(frozen=True)
class _ProtectedResource:
    """
    ASGI: the gateway by the name it was asked by, 127.0.0.1 or localhost, because a client compares
    it with its own (RFC 9728, 3.3).
    """

    issuer: Issuer
    path: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        resource = ProtectedResourceMetadata(
            resource=AnyHttpUrl(f"http://{Request(scope).url.netloc}{self.path}"),
            authorization_servers=[AnyHttpUrl(self.issuer.url)],
            scopes_supported=list(DEFAULT_SCOPES),
        )
        document = {
            **resource.model_dump(mode="json", exclude_none=True),
            "authorization_servers": [self.issuer.url],  # as in `_metadata`
        }
        await JSONResponse(document)(scope, receive, send)
