"""
What a client performs, without doing it: generators of steps, each answered with what came of it.

    Send     -> the httpx.Response, or the httpx.TransportError that came in its place
    Token    -> a text: the access token that is right now; or what came in its place, as above
             or errors.Unavailable
    float    -> nothing, that many seconds later
    list     -> nothing: items for whoever iterates
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
    """The body of a success goes `to` there, piece by piece, where that is given."""

    request: httpx.Request
    to: Sink | None = None


class Token: ...


T = TypeVar("T")
Step: TypeAlias = Send | Token | float
Steps: TypeAlias = Generator[Step, Any, T]
Pages: TypeAlias = Generator[Step | list[T], Any, None]

# https://modelcontextprotocol.io/specification/2026-07-28/basic: no handshake, each request says
# its version. The gateway takes those in its `supportedVersions` (infra/gateway.py):
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

# Of a catalog's documents, between two looks: the first, and the longest.
_LOOKS = (1.0, 10.0)
_TEXT_SHOWN = 500
_TOKEN = re.compile("[!-~]+")


@dataclass(frozen=True)
class Exchange:
    """
    With the gateway, in MCP's JSON-RPC; `renews` says whether its token may be another later.

    Raises ValueError for what is no address of one.
    """

    gateway_url: str
    renews: bool

    def __post_init__(self) -> None:
        if not re.match("https?://[^/]", self.gateway_url):
            told = f"{self.gateway_url!r} is no gateway's address: that begins with https:// or http://"
            raise ValueError(told)

    def result(self, method: str, params: Mapping[str, Any], *, repeats: bool = True) -> Steps[Any]:
        """Raises NotSignedIn, Unavailable or GatewayError."""
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
        for _ in range(2 if self.renews else 1):
            token = yield Token()
            if isinstance(token, Exception):
                raise token
            if not _TOKEN.fullmatch(token):
                raise errors.NotSignedIn(
                    "the access token is empty, or has a blank or a line break in it"
                )
            request.headers["Authorization"] = f"Bearer {token}"
            response = yield from sent(Send(request), repeats=repeats)
            if response.status_code != httpx.codes.UNAUTHORIZED:
                break
        if response.status_code in (401, 403):
            raise errors.NotSignedIn(_said(response))
        return _result(response)


def sent(send: Send, *, repeats: bool) -> Steps[httpx.Response]:
    """The answer, after some attempts where it was none. Raises Unavailable or Throttled."""
    attempt = 0
    while True:
        came: httpx.Response | httpx.TransportError = yield send
        attempt += 1
        if isinstance(came, httpx.Response):
            if came.status_code not in _LATER:
                return came
            was_begun = came.status_code != httpx.codes.TOO_MANY_REQUESTS  # RFC 6585, section 4
        else:
            was_begun = not isinstance(came, _NEVER_SENT)
        if attempt == _ATTEMPTS or (was_begun and not repeats):
            return response_of(came)
        yield _pause(came, attempt)


def response_of(came: httpx.Response | httpx.TransportError) -> httpx.Response:
    if isinstance(came, httpx.TransportError):
        where = came.request.url.copy_with(query=None)  # which may hold a signature
        told = str(came) or type(came).__name__
        raise errors.Unavailable(f"{where} does not answer ({told})") from came

    if came.status_code == httpx.codes.TOO_MANY_REQUESTS:
        raise errors.Throttled(_said(came, came.url.host), _retry_after(came))
    if came.status_code in _LATER:
        raise errors.Unavailable(_said(came, came.url.host))
    return came


def _pause(came: httpx.Response | httpx.TransportError, attempt: int) -> float:
    """What is asked for, or some of an ever longer time, so that many don't come at once."""
    wanted = _retry_after(came) if isinstance(came, httpx.Response) else None
    if wanted is not None:
        return min(wanted, _LONGEST_PAUSE)
    return random.uniform(0.1, 0.5 * 2.0**attempt)  # noqa: S311 - no secret


def _retry_after(response: httpx.Response) -> float | None:
    """In seconds; the header's other form, a date, is not looked at [RFC 9110, section 10.2.3]."""
    told = response.headers.get("Retry-After", "")
    return float(told) if told.isdecimal() else None


def taken(response: httpx.Response) -> httpx.Response:
    """Raises InvalidArgument for a file of a size that the form doesn't take, else GatewayError."""
    if response.is_success:
        return response
    # https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html#ErrorCodeList
    refusal = re.search(r"<Code>(EntityToo\w+)</Code>\s*<Message>([^<]+)", response.text)
    if refusal:
        raise errors.InvalidArgument(refusal[2], refusal[1])
    raise errors.GatewayError(_said(response, "the bucket"))


def _result(response: httpx.Response) -> Any:
    """Of JSON-RPC, as JSON or as an event stream. Raises GatewayError with the gateway's text."""
    text = response.text
    if response.headers.get("Content-Type", "").startswith("text/event-stream"):
        datas = [line[5:] for line in text.splitlines() if line.startswith("data:")]
        text = next((each for each in datas if '"id"' in each), "")
    try:
        message = json.loads(text)
        if error := message.get("error"):
            told = str(error["message"])
        elif (result := message["result"]).get("isError"):
            told = "\n".join(each.get("text", "") for each in result["content"])
        else:
            return result
    except (ValueError, AttributeError, LookupError, TypeError):
        told = _said(response)
    raise errors.GatewayError(told)


def _said(response: httpx.Response, who: str = "the gateway") -> str:
    """
    With the reason, where one is given.
    [assumed: gateway.unauthorized-body]
    """
    challenge = response.headers.get("WWW-Authenticate", "")
    told = re.search(r'error_description="([^"]*)"', challenge)
    reason = told[1] if told else response.text[:_TEXT_SHOWN]
    return f"{who} answered {response.status_code}: {reason}"


def collected(pages: Pages[T]) -> Steps[list[T]]:
    found: list[T] = []
    came = None
    while True:
        try:
            step = pages.send(came)
        except StopIteration:
            return found
        came = None
        if isinstance(step, list):
            found += step
        else:
            came = yield step


def looks(timeout: float) -> Iterator[float]:
    """The pauses between looks, ever longer; after the last look, at the end, TimeoutError."""
    ends = time.monotonic() + timeout
    pause, longest = _LOOKS
    while (left := ends - time.monotonic()) > 0:
        yield min(pause, left)
        pause = min(pause * 1.5, longest)
    yield 0.0
    raise TimeoutError(f"not within {timeout:g} s")
