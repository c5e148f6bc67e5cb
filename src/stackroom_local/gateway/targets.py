"""
The gateway's MCP side: lists the targets' tools and turns calls into Lambda invocations.

Event and client context: .../devguide/gateway-add-target-lambda.html
Header propagation: .../devguide/gateway-headers.html
(both under https://docs.aws.amazon.com/bedrock-agentcore/latest/)
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from starlette.requests import Request

from stackroom_local.gateway.gateway_configuration import TargetConfiguration, ToolDefinition
from stackroom_local.gateway.lambda_functions import InvocationOutcome, LambdaFunction
from stackroom_local.gateway.middleware import CLAIMS, INTERCEPTED_HEADERS, combined, invoke
from stackroom_local.gateway.policy_engine import Claims, PolicyEngine

_SEPARATOR = "___"
_MAX_HEADER_BYTES = 4096
# https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-debug-messages.html
_HIDDEN_ERROR = "An internal error occurred. Please retry later."

# As gateways were seen to word it; the other form seen is a tool error with the same text.
_DENIED = -32002
_DENIAL = "Tool Execution Denied: Tool call not allowed due to policy enforcement"

Context = ServerRequestContext[Any, Request]


@dataclass(frozen=True)
class Target:
    configuration: TargetConfiguration
    function: LambdaFunction


@dataclass(frozen=True, kw_only=True)
class Targets:
    gateway_id: str
    targets: tuple[Target, ...]
    engine: PolicyEngine | None = None

    async def list_tools(
        self, context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """
        Return the tools that the caller may use, on one page.

        The real gateway may page, so clients must follow `nextCursor`.
        """
        tools = [
            types.Tool(
                name=f"{target.configuration.name}{_SEPARATOR}{tool.name}",
                description=tool.description,
                input_schema=tool.inputSchema.model_dump(exclude_none=True),
            )
            for target in self.targets
            for tool in target.configuration.tools
        ]
        if self.engine is not None:
            claims = _request(context).scope[CLAIMS]
            tools = [tool for tool in tools if self.engine.shows(claims, tool.name)]
        return types.ListToolsResult(tools=tools)

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """
        Pass the arguments to the function as they came.

        Whether the real gateway validates them against the schema is uncertain (its documentation
        lists a 400 for it, users saw none), so a function must not count on it.
        """
        target, tool = self._named(params.name)
        request = _request(context)
        arguments = params.arguments or {}
        self._permit(request.scope[CLAIMS], params.name, arguments, tool)
        custom = {
            "bedrockAgentCoreMessageVersion": "1.0",
            "bedrockAgentCoreAwsRequestId": str(uuid.uuid4()),
            "bedrockAgentCoreMcpMessageId": str(context.request_id),
            "bedrockAgentCoreGatewayId": self.gateway_id,
            "bedrockAgentCoreTargetId": target.configuration.target_id,
            "bedrockAgentCoreToolName": params.name,
            "bedrockAgentCorePropagatedHeaders": _propagated(
                target.configuration.allowed_request_headers, request
            ),
            "bedrockAgentCorePropagatedQueryParameters": {},  # none can be allow-listed here
        }
        outcome = await invoke(target.function, json.dumps(arguments).encode(), {"custom": custom})
        if outcome.failed:
            return _result(_HIDDEN_ERROR, is_error=True)
        return _success(outcome)

    def _named(self, name: str) -> tuple[Target, ToolDefinition]:
        target_name, _, tool_name = name.partition(_SEPARATOR)
        for target in self.targets:
            for tool in target.configuration.tools:
                if (target.configuration.name, tool.name) == (target_name, tool_name):
                    return target, tool
        # The code is MCP's for an unknown tool; AWS documents HTTP 404 and no body.
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {name}")

    def _permit(
        self, claims: Claims, name: str, arguments: Mapping[str, Any], tool: ToolDefinition
    ) -> None:
        """Raise the gateway's denial, as a JSON-RPC error, the newer of the two forms seen."""
        if self.engine is None:
            return
        if denial := self.engine.denial(claims, name, arguments, tool.inputSchema):
            raise MCPError(_DENIED, f"{_DENIAL} [{denial}]")


def _request(context: Context) -> Request:
    assert context.request is not None, "the HTTP transport attaches the request"
    return context.request


def _success(outcome: InvocationOutcome) -> types.CallToolResult:
    """
    Return the whole answer, JSON-encoded, in one text block.

    A string keeps its quotes, a `{"statusCode": 200, "body": ...}` is not unwrapped, and `isError`
    within it means nothing, as in the logs of .../devguide/observability-gateway-metrics.html. AWS
    says nothing about structuredContent, so there is none, and no tool of ours has an outputSchema,
    which would require it:
    https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema
    """
    return _result(json.dumps(json.loads(outcome.payload)), is_error=False)


def _result(text: str, *, is_error: bool) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], is_error=is_error
    )


def _propagated(allowed: list[str], request: Request) -> dict[str, str]:
    """
    Return the allow-listed headers. The interceptor's values win, and unlisted headers are dropped.
    """
    intercepted: Mapping[str, str] = request.scope[INTERCEPTED_HEADERS]
    merged = {name.lower(): (name, value) for name, value in combined(request).items()}
    merged |= {name.lower(): (name, value) for name, value in intercepted.items()}
    names = {name.lower() for name in allowed}
    # Authorization can't be allow-listed, but goes on if the interceptor returns it.
    names |= {name.lower() for name in intercepted if name.lower() == "authorization"}
    return {
        name: value
        for lowered, (name, value) in merged.items()
        if lowered in names and _can_travel(value)
    }


def _can_travel(value: str) -> bool:
    return value.isascii() and value.isprintable() and len(value) <= _MAX_HEADER_BYTES
