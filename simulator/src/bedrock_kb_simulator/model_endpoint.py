"""
A language model behind an OpenAI-compatible endpoint, if whoever starts the simulator names one.

    BEDROCK_KB_SIMULATOR_OPENAI_BASE_URL    as in http://127.0.0.1:11434/v1
    BEDROCK_KB_SIMULATOR_OPENAI_MODEL       what the endpoint calls the model
    BEDROCK_KB_SIMULATOR_OPENAI_API_KEY     where it wants one

A program that starts the simulator as a part of itself may have another prefix for them.

The key goes into one header of one request and nowhere else: no file, no log, no error. Redirects
aren't followed, since they would take it elsewhere; nor is told what the endpoint says of an
error, since some repeat the key in it.
"""

import http.client
import json
import logging
import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.conversation_parts import (
    Conversation,
    Offer,
    Reply,
    Text,
    Tool,
    ToolUse,
    Turn,
    use_id,
)

# A conversation as a request of OpenAI's chat completions, and what is answered to it.

_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")  # of a toolUse: the service model


class NoCompletion(Exception):
    """What was answered is no chat completion, or an empty one."""


class MalformedToolUse(Exception):
    """A tool that was not offered, or an input that is no JSON object."""


def asked(conversation: Conversation) -> dict[str, Any]:
    """A request's messages, tools and settings."""
    messages = [message for turn in conversation.turns for message in _messages(turn)]
    if conversation.prompt:
        messages = [{"role": "system", "content": conversation.prompt}, *messages]
    return {
        "messages": messages,
        **_inference(conversation.inference),
        **_tools(conversation.offer),
    }


def reply_of(body: bytes, conversation: Conversation) -> Reply:
    """Raises NoCompletion or MalformedToolUse."""
    try:
        choice = json.loads(body)["choices"][0]
        content, reason = choice["message"].get("content"), choice.get("finish_reason")
        calls = choice["message"].get("tool_calls") or []
    except (ValueError, LookupError, TypeError, AttributeError):
        raise NoCompletion from None
    blocks: list[Text | ToolUse] = []
    if isinstance(content, str) and content.strip():
        blocks.append(Text(text=content))
    if conversation.offer.tools:
        blocks += _uses(calls, conversation)
    if not blocks:
        raise NoCompletion
    # Rule converse.stop-reason.
    whole = "tool_use" if isinstance(blocks[-1], ToolUse) else "end_turn"
    return Reply(blocks=blocks, stop="max_tokens" if reason == "length" else whole)


class Gathered:
    """The pieces of a completion that is streamed, as one that isn't has them."""

    def __init__(self) -> None:
        self._content = ""
        self._calls: dict[int, dict[str, Any]] = {}
        self._reason: str | None = None

    def add(self, line: bytes) -> str:
        """The words in a line of server-sent events. Raises NoCompletion."""
        if not line.startswith(_DATA) or line.removeprefix(_DATA).strip() == b"[DONE]":
            return ""
        try:
            told = json.loads(line.removeprefix(_DATA))
            for choice in told.get("choices") or ():
                self._reason = choice.get("finish_reason") or self._reason
                delta = choice.get("delta") or {}
                for call in delta.get("tool_calls") or ():
                    self._add_call(call)
                words = delta.get("content") or ""
                self._content += words
                return str(words)
        except (ValueError, LookupError, TypeError, AttributeError):
            raise NoCompletion from None
        return ""

    def _add_call(self, call: Mapping[str, Any]) -> None:
        """A call has its id and name with its first piece, and its arguments in all of them."""
        there = self._calls.setdefault(
            call.get("index", 0), {"id": "", "function": {"name": "", "arguments": ""}}
        )
        there["id"] = call.get("id") or there["id"]
        function = call.get("function") or {}
        for name in ("name", "arguments"):
            there["function"][name] += function.get(name) or ""

    @property
    def body(self) -> bytes:
        calls = [each for _, each in sorted(self._calls.items())]
        message = {"content": self._content, "tool_calls": calls}
        return json.dumps(
            {"choices": [{"message": message, "finish_reason": self._reason}]}
        ).encode()


_DATA = b"data:"


def _messages(turn: Turn) -> Iterator[dict[str, Any]]:
    """Results of tools come first: they answer the message before."""
    for result in turn.results:
        yield {"role": "tool", "tool_call_id": result.id, "content": result.text}
    content = turn.text
    if turn.uses:
        calls = [_call(use) for use in turn.uses]
        yield {"role": turn.role, "content": content or None, "tool_calls": calls}
    elif content:
        yield {"role": turn.role, "content": content}


def _call(use: ToolUse) -> dict[str, Any]:
    function = {"name": use.name, "arguments": json.dumps(use.input, ensure_ascii=False)}
    return {"id": use.id, "type": "function", "function": function}


def _tools(offer: Offer) -> dict[str, Any]:
    if not offer.tools:
        return {}
    choice: object = "required" if offer.must_use else "auto"
    if offer.demanded:
        choice = {"type": "function", "function": {"name": offer.demanded}}
    return {"tools": [_function(tool) for tool in offer.tools], "tool_choice": choice}


def _function(tool: Tool) -> dict[str, Any]:
    described = {"description": tool.description} if tool.description else {}
    function = {"name": tool.name, **described, "parameters": tool.schema}
    return {"type": "function", "function": function}


def _inference(inference: Mapping[str, Any]) -> dict[str, Any]:
    names = {
        "maxTokens": "max_tokens",
        "temperature": "temperature",
        "topP": "top_p",
        "stopSequences": "stop",
    }
    return {
        theirs: inference[ours]
        for ours, theirs in names.items()
        if inference.get(ours) not in (None, [])
    }


def _uses(calls: Sequence[Any], conversation: Conversation) -> list[ToolUse]:
    uses: list[ToolUse] = []
    for number, call in enumerate(calls):
        try:
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            given = json.loads(arguments or "{}")
        except (ValueError, LookupError, TypeError):
            raise MalformedToolUse from None
        if not isinstance(given, dict) or conversation.offer.tool(name) is None:
            raise MalformedToolUse
        identifier = call.get("id")
        is_good = isinstance(identifier, str) and _ID.fullmatch(identifier) is not None
        if not is_good or identifier in [use.id for use in uses]:
            identifier = use_id(conversation, number, name, given)
        uses.append(ToolUse(id=identifier, name=name, input=given))
    return uses


PREFIX = "BEDROCK_KB_SIMULATOR"

_LONGEST = 4_000_000  # bytes of an answer

logger = logging.getLogger(__name__)


class Misconfigured(ValueError):
    """The variables name no endpoint that could be asked; the text says what to change."""


class EndpointFailed(Exception):
    """There is no answer; the text goes on from "the model endpoint"."""


class EndpointSlow(EndpointFailed):
    """There was none in time."""


class EndpointBusy(EndpointFailed):
    """It has had too many requests."""


@dataclass(frozen=True, kw_only=True)
class ModelEndpoint:
    base_url: str
    model: str
    key: str = field(default="", repr=False)
    # In real time, for the whole answer; of one that streams, for what comes next.
    seconds: float = rules.CONVERSE_TIMEOUT.value

    @classmethod
    def of(cls, environment: Mapping[str, str], prefix: str = PREFIX) -> "ModelEndpoint | None":
        """None where no endpoint is named; raises `Misconfigured`."""
        names = [f"{prefix}_OPENAI_{name}" for name in ("BASE_URL", "MODEL", "API_KEY")]
        base_url, model, key = (environment.get(name, "").strip() for name in names)
        if not base_url and not model:
            return None
        if not base_url or not model:
            raise Misconfigured(f"set both {names[0]} and {names[1]}, or neither")
        if not _can_be_asked(base_url):
            raise Misconfigured(f"{names[0]} must be an http or https URL without a password")
        if not (key.isascii() and key.isprintable()):
            raise Misconfigured(f"{names[2]} has characters that no header may have")
        return cls(base_url=base_url.rstrip("/"), model=model, key=key)

    def complete(self, conversation: Conversation) -> Reply:
        """
        What the model says next.

        Raises EndpointFailed where there is no answer in time, and MalformedToolUse. The former is
        logged as well, since who asked Bedrock may tell of its error no more than the code.
        """
        with self._logged():
            return self._completed(conversation)

    @contextmanager
    def _logged(self) -> Iterator[None]:
        try:
            yield
        except EndpointFailed as error:
            where = urlsplit(self.base_url)  # less its query, in which a key may be
            logger.warning(
                "the model endpoint %s, asked for the model %r at %s://%s%s/chat/completions",
                *(error, self.model, where.scheme, where.netloc, where.path),
            )
            raise

    def stream(self, conversation: Conversation) -> Iterator[str | Reply]:
        """
        Its words as they come, and at last all that it says. An endpoint that doesn't stream
        answers with the latter alone. Raises what `complete` does.
        """
        gathered = Gathered()
        request = {"model": self.model, "stream": True, **asked(conversation)}
        with self._logged(), _failures():
            whole = b""
            for line, is_event in self._lines(json.dumps(request).encode()):
                if not is_event:
                    whole += line
                elif words := gathered.add(line):
                    yield words
            yield reply_of(whole or gathered.body, conversation)

    def _completed(self, conversation: Conversation) -> Reply:
        request = {"model": self.model, **asked(conversation)}
        with _failures():
            status, body = self._posted(json.dumps(request).encode())
            if status != http.client.OK:
                raise _refusal(status)
            return reply_of(body, conversation)

    def _lines(self, body: bytes) -> Iterator[tuple[bytes, bool]]:
        """And whether each is one of server-sent events."""
        deadline, size = time.monotonic() + self.seconds, 0
        with self._response(body, deadline) as (response, channel):
            if response.status != http.client.OK:
                raise _refusal(response.status)
            is_event = "text/event-stream" in response.headers.get("Content-Type", "")
            while line := response.readline(_LONGEST):
                size += len(line)
                if size > _LONGEST:
                    raise http.client.HTTPException
                yield line, is_event
                channel.settimeout(self.seconds if is_event else _left(deadline))

    def _posted(self, body: bytes) -> tuple[int, bytes]:
        deadline = time.monotonic() + self.seconds
        with self._response(body, deadline) as (response, channel):
            return response.status, _read(response, channel, deadline)

    @contextmanager
    def _response(
        self, body: bytes, deadline: float
    ) -> Iterator[tuple[http.client.HTTPResponse, socket.socket]]:
        url = urlsplit(self.base_url)
        connection = _connection(url, self.seconds)
        path = f"{url.path}/chat/completions" + (f"?{url.query}" if url.query else "")
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        try:
            connection.connect()
            channel = connection.sock  # which the connection forgets before all is read
            connection.request("POST", path, body, headers)
            channel.settimeout(_left(deadline))
            with connection.getresponse() as response:
                yield response, channel
        finally:
            connection.close()


@contextmanager
def _failures() -> Iterator[None]:
    """What goes wrong between here and there, in our words."""
    try:
        yield
    except TimeoutError:
        raise EndpointSlow("did not answer in time") from None
    except (OSError, http.client.HTTPException, UnicodeError):  # the last is a host's name's
        raise EndpointFailed("can't be reached") from None
    except NoCompletion:
        raise EndpointFailed("answered with no chat completion") from None


def _can_be_asked(base_url: str) -> bool:
    try:
        url = urlsplit(base_url)
        # .port raises for what is no number of a port
        return (
            url.scheme in {"http", "https"}
            and bool(url.hostname)
            and url.port != 0
            and ("@" not in url.netloc and base_url.isascii() and base_url.isprintable())
        )
    except ValueError:
        return False


def _connection(url: SplitResult, seconds: float) -> http.client.HTTPConnection:
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    assert url.hostname, "checked when it was configured"
    return kind(url.hostname, url.port, timeout=seconds)


def _read(response: http.client.HTTPResponse, channel: socket.socket, deadline: float) -> bytes:
    """All of it; a timeout of each read alone would let a slow endpoint drip for ever."""
    parts, size = [], 0
    while part := response.read1(65_536):
        parts.append(part)
        size += len(part)
        if size > _LONGEST:
            raise http.client.HTTPException
        channel.settimeout(_left(deadline))
    return b"".join(parts)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _refusal(status: int) -> EndpointFailed:
    problem = f"answered with HTTP status {status}"
    if status == http.client.TOO_MANY_REQUESTS:
        return EndpointBusy(problem)
    return EndpointFailed(problem)
