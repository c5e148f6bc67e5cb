"""
Decide what the gateway's REQUEST interceptor does with a request: add identity headers, or deny it.

A tool call goes on with the caller's identity in headers that only we write, without the token and
without any header of the client's that resembles them. Everything else (initialize, ping,
tools/list, signed requests of the gateway itself) passes unchanged: it reaches no function and
needs no identity. Intercepting a request twice has the same result as once.
https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-interceptors-types.html
"""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from stackroom.access.identity import IDENTITY_HEADERS, identity_headers
from stackroom.access.tokens import TokenVerifier, bearer_token
from stackroom.access.tool import is_encodable, not_an_object
from stackroom.errors import IssuerUnavailable, TokenRefused

_VERSION = "1.0"
_NEVER_FORWARDED = {"authorization", *IDENTITY_HEADERS}
# The gateway propagates values of at most 4 KB.
# https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-headers.html
_MAX_HEADER_BYTES = 4096


class GatewayRequest(BaseModel):
    """`mcp.gatewayRequest` of the interceptor's event, as far as this project reads it."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    headers: dict[str, str] = Field(default_factory=dict)
    body: Any = None


@dataclass(frozen=True)
class Forwarded:
    """The request goes on. If `headers` is None, the client's headers stay as they are."""

    body: dict[str, Any]
    headers: dict[str, str] | None = None

    def output(self) -> dict[str, Any]:
        headers = {} if self.headers is None else {"headers": self.headers}
        return _output("transformedGatewayRequest", {**headers, "body": self.body})


@dataclass(frozen=True)
class Denied:
    """
    The request ends with an MCP tool error, which reaches the agent as text.

    [assumed: gateway.denial-body]
    """

    reason: str
    request_id: str | int | None = None

    @property
    def text(self) -> str:
        return f"Not authorised: {self.reason}."

    def output(self) -> dict[str, Any]:
        result = {
            # MCP 2026-07-28 requires it of every result, earlier versions ignore it.
            "resultType": "complete",
            "isError": True,
            "content": [{"type": "text", "text": self.text}],
        }
        answer = {"jsonrpc": "2.0", "id": self.request_id, "result": result}
        return _output("transformedGatewayResponse", {"statusCode": 200, "body": answer})


class InvalidArguments(Denied):
    """
    The request ends with a tool error because its arguments are not an object. A model can react to
    a tool error; a JSON-RPC error may end at its client.

    https://modelcontextprotocol.io/specification/2025-11-25/server/tools#error-handling
    """

    @property
    def text(self) -> str:
        return f"Error: {self.reason}"


@dataclass(frozen=True)
class Malformed:
    """The request ends: it is not a message that can be repeated as it is."""

    reason = "the message holds a number or a text that JSON in UTF-8 can't carry"

    def output(self) -> dict[str, Any]:
        # JSON-RPC 2.0: -32600 is an invalid request, and null the id of one that can't be told.
        error = {"code": -32600, "message": f"Invalid Request: {self.reason}"}
        answer = {"jsonrpc": "2.0", "id": None, "error": error}
        return _output("transformedGatewayResponse", {"statusCode": 400, "body": answer})


@dataclass(frozen=True, kw_only=True)
class Interception:
    verifier: TokenVerifier

    def intercept(self, request: GatewayRequest) -> Forwarded | Denied | Malformed:
        body = request.body
        if not is_encodable(body):
            return Malformed()
        if not isinstance(body, dict):
            # A batch could hide a tool call in its middle; MCP dropped batches in 2025-06-18.
            return Denied("send one JSON-RPC message at a time")
        if body.get("method") != "tools/call":
            return Forwarded(body)
        return self._call(body, request.headers)

    def _call(self, body: dict[str, Any], headers: dict[str, str]) -> Forwarded | Denied:
        try:
            token = bearer_token(_authorizations(headers))
            caller = self.verifier.read(token).caller
        except (TokenRefused, IssuerUnavailable) as error:
            return Denied(str(error), body.get("id"))
        identity = identity_headers(caller)
        if any(len(value) > _MAX_HEADER_BYTES for value in identity.values()):
            # Leaving some groups out would hide documents without a word.
            return Denied("the user is in too many groups", body.get("id"))
        arguments = _arguments(body)
        if not isinstance(arguments, dict):
            return InvalidArguments(not_an_object(arguments), body.get("id"))
        return Forwarded(body, {**_harmless(headers), **identity})


def _arguments(body: dict[str, Any]) -> object:
    params = body.get("params")
    given = params.get("arguments") if isinstance(params, dict) else None
    return {} if given is None else given


def _authorizations(headers: dict[str, str]) -> list[str]:
    return [value for name, value in headers.items() if name.lower() == "authorization"]


def _harmless(headers: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _NEVER_FORWARDED}


def _output(outcome: str, content: dict[str, Any]) -> dict[str, Any]:
    return {"interceptorOutputVersion": _VERSION, "mcp": {outcome: content}}
