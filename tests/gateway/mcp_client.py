"""
An agent's side of the gateway, for the command line and the tests: the official MCP client.

    answer = call_tool(url, token, "knowledge___knowledge_base_retrieve", {"query": "..."})
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx2
import mcp_types as types
from mcp.client.auth.utils import extract_field_from_www_auth
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from stackroom.errors import StackroomError

_Answer = TypeVar("_Answer")
_TIMEOUT_SECONDS = 60.0


class GatewayError(StackroomError):
    """The gateway gave no answer; the message says what to do about it."""


class SignInRequired(GatewayError):
    """
    401 or 403: the token is missing, expired or not for this gateway.
    [assumed: gateway.unauthorized-body]
    """


class ToolFailed(GatewayError):
    """The call ended as a tool error; the message is the text an agent would see."""


def list_tools(url: str, token: str) -> list[dict[str, Any]]:
    """Every tool the gateway offers: name, description and inputSchema."""

    async def listed(client: Client) -> list[dict[str, Any]]:
        tools: list[types.Tool] = []
        page = await client.list_tools()
        tools += page.tools
        while page.next_cursor:
            page = await client.list_tools(cursor=page.next_cursor)
            tools += page.tools
        return [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]

    return _run(url, token, listed)


def call_tool(url: str, token: str, tool: str, arguments: dict[str, Any]) -> Any:
    """
    Return the result of the tool's function. Raises `ToolFailed`, `SignInRequired`, `GatewayError`.
    """

    async def called(client: Client) -> Any:
        result = await client.call_tool(tool, arguments)
        text = "\n".join(
            block.text for block in result.content if isinstance(block, types.TextContent)
        )
        if result.is_error:
            raise ToolFailed(text)
        return json.loads(text)

    return _run(url, token, called)


def _run(url: str, token: str, use: Callable[[Client], Awaitable[_Answer]]) -> _Answer:
    async def session() -> _Answer:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(
                headers=headers, timeout=_TIMEOUT_SECONDS, event_hooks={"response": [_refuse]}
            ) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            return await use(client)

    try:
        return asyncio.run(session())
    except Exception as error:
        cause = _innermost(error)
        if isinstance(cause, GatewayError):
            raise cause from error
        if isinstance(cause, MCPError | httpx2.HTTPError):
            raise GatewayError(f"{url}: {cause}") from error
        raise


async def _refuse(response: httpx2.Response) -> None:
    # Raised here, because the client reports both as "server returned an error", in nested groups.
    if response.status_code in (401, 403):
        await response.aread()
        told = extract_field_from_www_auth(response, "error_description") or response.text
        raise SignInRequired(f"the gateway answered {response.status_code}: {told}")


def _innermost(error: BaseException) -> BaseException:
    """The first leaf of an ExceptionGroup: the client runs its transport in task groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
