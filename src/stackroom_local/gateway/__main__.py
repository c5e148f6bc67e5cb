"""`python -m stackroom_local.gateway --port P --config FILE --data-dir D` serves until SIGTERM."""

import argparse
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import Route

from stackroom_local.gateway.authorization_server import AuthorizationServer
from stackroom_local.gateway.authorizer import Authorizer
from stackroom_local.gateway.cors import checked_origin, shared_with
from stackroom_local.gateway.gateway_configuration import (
    MCP_PATH,
    NAMES,
    GatewayConfiguration,
    mcp_urls,
)
from stackroom_local.gateway.issuer import Issuer
from stackroom_local.gateway.lambda_functions import LambdaFunction, lambda_client
from stackroom_local.gateway.middleware import MAX_BODY, GatewayMiddleware
from stackroom_local.gateway.policy_engine import PolicyEngine
from stackroom_local.gateway.session_store import SessionStore
from stackroom_local.gateway.sign_in_routes import (
    RESOURCE_METADATA_PATH,
    browser_routes,
    client_routes,
)
from stackroom_local.gateway.targets import Target, Targets

# The gateway stand-in put together: issuer, front, MCP server.


def gateway_app(
    configuration: GatewayConfiguration, *, data_dir: Path, url: str, origins: Sequence[str] = ()
) -> Starlette:
    """Return the app. `url` is its address without a path; `origins` are pages that may call it."""
    client = lambda_client(configuration.role_arn)
    issuer = Issuer.open(data_dir, url=configuration.issuer_url)
    mcp = _mcp_app(configuration, client, origins)
    shared = shared_with(origins)
    interceptor = configuration.interceptor
    front = GatewayMiddleware(
        mcp,
        authorizer=Authorizer(issuer=issuer, allowed_client_ids=configuration.allowed_client_ids),
        interceptor=None if interceptor is None else LambdaFunction(client, interceptor),
        metadata_path=RESOURCE_METADATA_PATH,
    )
    port = urlsplit(url).port
    assert port is not None, "the app is served at a port of its own"
    server = AuthorizationServer(
        issuer=issuer,
        client_ids=configuration.allowed_client_ids,
        resources=mcp_urls(port),
        sign_ins=SessionStore.open(data_dir),
        access_token_seconds=configuration.access_token_seconds,
    )

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with mcp.router.lifespan_context(mcp):
            yield

    routes = [
        Route(MCP_PATH, shared(front)),
        *browser_routes(server),
        *client_routes(server, resource_path=MCP_PATH, shared=shared),
    ]
    # A page elsewhere could have its own name resolve to this machine, and sign in by itself.
    names = Middleware(TrustedHostMiddleware, allowed_hosts=list(NAMES), www_redirect=False)
    return Starlette(routes=routes, lifespan=lifespan, middleware=[names])


def _mcp_app(configuration: GatewayConfiguration, client: Any, origins: Sequence[str]) -> Starlette:
    targets = Targets(
        gateway_id=configuration.gateway_id,
        targets=tuple(
            Target(target, LambdaFunction(client, target.function))
            for target in configuration.targets
        ),
        engine=_engine(configuration),
    )
    server = Server(
        configuration.gateway_id,
        version="1.0.0",
        on_list_tools=targets.list_tools,
        on_call_tool=targets.call_tool,
    )
    return server.streamable_http_app(
        streamable_http_path=MCP_PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=2
        * MAX_BODY,  # `GatewayMiddleware` has measured; encoding anew may lengthen
        transport_security=TransportSecuritySettings(
            allowed_hosts=[f"{name}:*" for name in NAMES],
            allowed_origins=[*(f"http://{name}:*" for name in NAMES), *origins],
        ),
    )


def _engine(configuration: GatewayConfiguration) -> PolicyEngine | None:
    engine = configuration.policy_engine
    return None if engine is None else PolicyEngine(engine)


HOST = "127.0.0.1"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m stackroom_local.gateway", description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--config", type=Path, required=True, help="a GatewayConfiguration, JSON")
    parser.add_argument("--data-dir", type=Path, required=True, help="of the issuer's key")
    parser.add_argument("--allow-origins", default="", help="of pages, with spaces between")
    arguments = parser.parse_args()

    configuration = GatewayConfiguration.model_validate_json(arguments.config.read_bytes())
    app = gateway_app(
        configuration,
        data_dir=arguments.data_dir,
        url=f"http://{HOST}:{arguments.port}",
        origins=[checked_origin(each) for each in arguments.allow_origins.split()],
    )
    uvicorn.run(
        app,
        host=HOST,
        port=arguments.port,
        log_level="warning",
        timeout_graceful_shutdown=2,  # a stuck call must not keep the local mode from ending
    )


if __name__ == "__main__":
    main()
