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
from stackroom_local.gateway.policies import PolicyEngine
from stackroom_local.gateway.targets import Target, Targets

MCP_PATH = "/mcp"
_RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource"


def gateway_app(configuration: GatewayConfiguration, *, data_dir: Path, url: str) -> Starlette:
    """`url`: where the app will be served, without a path."""
    functions = _Functions(configuration.task_root, data_dir / "logs")
    issuer = Issuer.open(data_dir, url=configuration.issuer_url)
    mcp = _mcp_app(configuration, functions)
    interceptor = configuration.interceptor
    front = Front(
        mcp,
        authorizer=Authorizer(issuer=issuer, allowed_client_ids=configuration.allowed_client_ids),
        interceptor=None if interceptor is None else functions.start(interceptor),
        metadata_url=url + _RESOURCE_METADATA_PATH,
    )

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with mcp.router.lifespan_context(mcp):
            yield
        functions.close()

    routes = [Route(MCP_PATH, front), *_metadata_routes(issuer, resource=url + MCP_PATH)]
    return Starlette(routes=routes, lifespan=lifespan)


class _Functions:
    """Every function of a gateway, to be ended with it."""

    def __init__(self, task_root: Path, logs: Path) -> None:
        self._task_root = task_root
        self._logs = logs
        self._functions: list[LambdaFunction] = []

    def start(self, configuration: FunctionConfiguration) -> LambdaFunction:
        function = LambdaFunction(configuration, task_root=self._task_root, logs=self._logs)
        self._functions.append(function)
        return function

    def close(self) -> None:
        for function in self._functions:
            function.close()


def _mcp_app(configuration: GatewayConfiguration, functions: _Functions) -> Starlette:
    targets = Targets(
        gateway_id=configuration.gateway_id,
        targets=tuple(
            Target(target, functions.start(target.function)) for target in configuration.targets
        ),
        debug=configuration.exception_level == "DEBUG",
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
        max_request_body_size=2 * MAX_BODY,  # `Front` has measured; encoding anew may lengthen
    )


def _engine(configuration: GatewayConfiguration) -> PolicyEngine | None:
    engine = configuration.policy_engine
    return None if engine is None else PolicyEngine(engine)


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
