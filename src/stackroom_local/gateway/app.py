"""The gateway stand-in put together: issuer, front, MCP server, functions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from mcp.server.lowlevel.server import Server
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from stackroom_local.gateway.authorizer import Authorizer
from stackroom_local.gateway.configuration import FunctionConfiguration, GatewayConfiguration
from stackroom_local.gateway.front import MAX_BODY, Front
from stackroom_local.gateway.functions import LambdaFunction
from stackroom_local.gateway.issuer import Issuer
from stackroom_local.gateway.targets import Target, Targets

MCP_PATH = "/mcp"
_RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource"


def gateway_app(configuration: GatewayConfiguration, *, data_dir: Path, url: str) -> Starlette:
    """`url`: where the app will be served, without a path."""

    def function(of: FunctionConfiguration) -> LambdaFunction:
        return LambdaFunction(of, task_root=configuration.task_root, logs=data_dir / "logs")

    issuer = Issuer.open(data_dir, url=configuration.issuer_url)
    interceptor = None if configuration.interceptor is None else function(configuration.interceptor)
    targets = Targets(
        gateway_id=configuration.gateway_id,
        targets=tuple(Target(each, function(each.function)) for each in configuration.targets),
        debug=configuration.exception_level == "DEBUG",
    )
    mcp = Server(
        configuration.gateway_id,
        version="1.0.0",
        on_list_tools=targets.list_tools,
        on_call_tool=targets.call_tool,
    ).streamable_http_app(
        streamable_http_path=MCP_PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_BODY * 2,  # `Front` has measured; re-encoding may lengthen
    )

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with mcp.router.lifespan_context(mcp):
            yield
        for each in (interceptor, *(target.function for target in targets.targets)):
            if each is not None:
                each.close()

    front = Front(
        mcp,
        authorizer=Authorizer(issuer=issuer, allowed_client_ids=configuration.allowed_client_ids),
        interceptor=interceptor,
        metadata_url=url + _RESOURCE_METADATA_PATH,
    )
    return Starlette(
        routes=[
            Route(MCP_PATH, endpoint=front),
            *_metadata_routes(issuer, resource=url + MCP_PATH),
        ],
        lifespan=lifespan,
    )


def _metadata_routes(issuer: Issuer, *, resource: str) -> list[Route]:
    async def discovery(_request: Request) -> JSONResponse:
        return JSONResponse(issuer.discovery())

    async def jwks(_request: Request) -> JSONResponse:
        return JSONResponse(issuer.jwks())

    async def protected_resource(_request: Request) -> JSONResponse:
        return JSONResponse({"resource": resource, "authorization_servers": [issuer.url]})

    path = urlsplit(issuer.url).path
    return [
        Route(f"{path}/.well-known/openid-configuration", discovery),
        Route(f"{path}/.well-known/jwks.json", jwks),
        Route(_RESOURCE_METADATA_PATH, protected_resource),
    ]
