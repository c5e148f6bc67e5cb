"""
Generators of the steps of a call, which a client performs and answers.

    Send     -> the httpx.Response, or the httpx.TransportError instead
    Token    -> the current access token; or an httpx.TransportError or errors.Unavailable instead
    float    -> nothing, after that many seconds
    list     -> nothing: items for the caller's iteration
"""

import json
import random
import re
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

import httpx

from stackroom_client import errors


class Sink(Protocol):
    def write(self, data: bytes, /) -> object: ...


@dataclass(frozen=True)
class Send:
    """A request; with `to`, the body of a successful response is written there, piece by piece."""

    request: httpx.Request
    to: Sink | None = None


class Token: ...


T = TypeVar("T")
Step: TypeAlias = Send | Token | float
Steps: TypeAlias = Generator[Step, Any, T]
Pages: TypeAlias = Generator[Step | list[T], Any, None]

# https://modelcontextprotocol.io/specification/2026-07-28/basic: no handshake, each request names
# its version. The gateway accepts its `supportedVersions` (infra/gateway.py):
# https://docs.aws.amazon.com/bedrock-agentcore/latest/devguide/gateway-using-mcp-call.html
_MCP = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _MCP,
    "io.modelcontextprotocol/clientCapabilities": {},
}

_ATTEMPTS = 4
_LATER = {429, 502, 503, 504}
_LONGEST_PAUSE = 20.0
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)

# Pauses between polls of a catalog's documents: the first, and the longest.
_PAUSES = (1.0, 10.0)
_TEXT_SHOWN = 500
_TOKEN = re.compile("[!-~]+")


@dataclass(frozen=True)
class Exchange:
    """
    The exchange with the gateway in MCP's JSON-RPC; `can_renew` if its token may change.

    Raises ValueError for an invalid address.
    """

    gateway_url: str
    can_renew: bool

    def __post_init__(self) -> None:
        if not re.match("https?://[^/]", self.gateway_url):
            raise ValueError(f"{self.gateway_url!r} must be an address with https:// or http://")

    def result(self, method: str, params: Mapping[str, Any], *, repeats: bool = True) -> Steps[Any]:
        """Return a method's result. Raises NotSignedIn, Unavailable or GatewayError."""
        name = params.get("name", "")
        request = httpx.Request(
            "POST",
            self.gateway_url,
            headers={
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": _MCP,
                "Mcp-Method": method,
                **({"Mcp-Name": name} if name else {}),
            },
            json={
                "jsonrpc": "2.0",
                "id": 1,
                "method": method,
                "params": {**params, "_meta": _META},
            },
        )
        for _ in range(2 if self.can_renew else 1):
            token = yield Token()
            if isinstance(token, Exception):
                raise token
            if not _TOKEN.fullmatch(token):
                raise errors.NotSignedIn(
                    "the access token is empty, or contains white space or a line break"
                )
            request.headers["Authorization"] = f"Bearer {token}"
            response = yield from send_with_retries(Send(request), repeats=repeats)
            if response.status_code != httpx.codes.UNAUTHORIZED:
                break
        if response.status_code in (401, 403):
            raise errors.NotSignedIn(_describe(response))
        return _result(response)


def send_with_retries(send: Send, *, repeats: bool) -> Steps[httpx.Response]:
    """Return the response, after retries if necessary. Raises Unavailable or Throttled."""
    attempt = 0
    while True:
        result: httpx.Response | httpx.TransportError = yield send
        attempt += 1
        if isinstance(result, httpx.Response):
            if result.status_code not in _LATER:
                return result
            has_started = result.status_code != httpx.codes.TOO_MANY_REQUESTS  # RFC 6585, section 4
        else:
            has_started = not isinstance(result, _NEVER_SENT)
        if attempt == _ATTEMPTS or (has_started and not repeats):
            return response_of(result)
        yield _pause(result, attempt)


def response_of(result: httpx.Response | httpx.TransportError) -> httpx.Response:
    if isinstance(result, httpx.TransportError):
        url = result.request.url.copy_with(query=None)  # the query may contain a signature
        problem = str(result) or type(result).__name__
        raise errors.Unavailable(f"{url} does not respond ({problem})") from result

    if result.status_code == httpx.codes.TOO_MANY_REQUESTS:
        raise errors.Throttled(_describe(result, result.url.host), _retry_after(result))
    if result.status_code in _LATER:
        raise errors.Unavailable(_describe(result, result.url.host))
    return result


def _pause(result: httpx.Response | httpx.TransportError, attempt: int) -> float:
    """Return the requested pause, or a random part of an ever longer one, to spread clients."""
    requested = _retry_after(result) if isinstance(result, httpx.Response) else None
    if requested is not None:
        return min(requested, _LONGEST_PAUSE)
    return random.uniform(0.1, 0.5 * 2.0**attempt)  # noqa: S311 - no secret


def _retry_after(response: httpx.Response) -> float | None:
    """
    Return the header's seconds; its other form, a date, is ignored [RFC 9110, section 10.2.3].
    """
    seconds = response.headers.get("Retry-After", "")
    return float(seconds) if seconds.isdecimal() else None


def require_success(response: httpx.Response) -> httpx.Response:
    """
    Return a successful response. Raises InvalidArgument for a wrong file size, else GatewayError.
    """
    if response.is_success:
        return response
    # https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html#ErrorCodeList
    refusal = re.search(r"<Code>(EntityToo\w+)</Code>\s*<Message>([^<]+)", response.text)
    if refusal:
        raise errors.InvalidArgument(refusal[2], refusal[1])
    raise errors.GatewayError(_describe(response, "the bucket"))


def _result(response: httpx.Response) -> Any:
    """
    Return the JSON-RPC result, from JSON or an event stream. Raises GatewayError with its text.
    """
    text = response.text
    if response.headers.get("Content-Type", "").startswith("text/event-stream"):
        datas = [line[5:] for line in text.splitlines() if line.startswith("data:")]
        text = next((each for each in datas if '"id"' in each), "")
    try:
        message = json.loads(text)
        if error := message.get("error"):
            text = str(error["message"])
        elif (result := message["result"]).get("isError"):
            text = "\n".join(each.get("text", "") for each in result["content"])
        else:
            return result
    except (ValueError, AttributeError, LookupError, TypeError):
        text = _describe(response)
    raise errors.GatewayError(text)


def _describe(response: httpx.Response, source: str = "the gateway") -> str:
    """
    Return a text for an error response, with the reason if there is one.

    [assumed: gateway.unauthorized-body]
    """
    challenge = response.headers.get("WWW-Authenticate", "")
    description = re.search(r'error_description="([^"]*)"', challenge)
    reason = description[1] if description else response.text[:_TEXT_SHOWN]
    return f"{source} responded with {response.status_code}: {reason}"


def collect(pages: Pages[T]) -> Steps[list[T]]:
    found: list[T] = []
    result = None
    while True:
        try:
            step = pages.send(result)
        except StopIteration:
            return found
        result = None
        if isinstance(step, list):
            found += step
        else:
            result = yield step


def polling_pauses(timeout: float) -> Iterator[float]:
    """Yield the pauses between polls, ever longer; after the last poll, raise TimeoutError."""
    ends = time.monotonic() + timeout
    pause, longest = _PAUSES
    while (left := ends - time.monotonic()) > 0:
        yield min(pause, left)
        pause = min(pause * 1.5, longest)
    yield 0.0
    raise TimeoutError(f"not finished within {timeout:g} s")
