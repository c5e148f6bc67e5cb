"""
A language model behind an OpenAI-compatible endpoint, if the environment names one.

    BEDROCK_KB_SIMULATOR_OPENAI_BASE_URL    such as http://127.0.0.1:11434/v1
    BEDROCK_KB_SIMULATOR_OPENAI_MODEL       the endpoint's name of the model
    BEDROCK_KB_SIMULATOR_OPENAI_API_KEY     if the endpoint needs one

A program that embeds the simulator may choose another prefix.

The key is sent in one header and appears nowhere else: in no file, log or error. Redirects aren't
followed, since they would send it elsewhere. The endpoint's error texts aren't repeated, since some
contain the key.
"""

import json
import logging
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

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

# Requests and responses of OpenAI's chat completions.

_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")  # toolUseId in the service model


class NoCompletion(Exception):
    """The response is no chat completion, or an empty one."""


class MalformedToolUse(Exception):
    """The model used a tool that was not offered, or an input that is no JSON object."""


def completion_request(conversation: Conversation) -> dict[str, Any]:
    """Return the messages, tools and settings of a request."""
    messages = [message for turn in conversation.turns for message in _messages(turn)]
    if conversation.prompt:
        messages = [{"role": "system", "content": conversation.prompt}, *messages]
    return {
        "messages": messages,
        **_inference(conversation.inference),
        **_tools(conversation.offer),
    }


def reply_of(body: bytes, conversation: Conversation) -> Reply:
    """Return the reply in a completion. Raises NoCompletion or MalformedToolUse."""
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


class StreamedCompletion:
    """Collects the pieces of a streamed completion into a whole one."""

    def __init__(self) -> None:
        self._content = ""
        self._calls: dict[int, dict[str, Any]] = {}
        self._reason: str | None = None

    def add(self, line: str) -> str:
        """Add a line of server-sent events and return its words. Raises NoCompletion."""
        if not line.startswith(_DATA) or line.removeprefix(_DATA).strip() == "[DONE]":
            return ""
        try:
            event = json.loads(line.removeprefix(_DATA))
            for choice in event.get("choices") or ():
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
        """Add a piece of a call: the first has its id and name, all have parts of its arguments."""
        known = self._calls.setdefault(
            call.get("index", 0), {"id": "", "function": {"name": "", "arguments": ""}}
        )
        known["id"] = call.get("id") or known["id"]
        function = call.get("function") or {}
        for name in ("name", "arguments"):
            known["function"][name] += function.get(name) or ""

    @property
    def body(self) -> bytes:
        calls = [each for _, each in sorted(self._calls.items())]
        message = {"content": self._content, "tool_calls": calls}
        return json.dumps(
            {"choices": [{"message": message, "finish_reason": self._reason}]}
        ).encode()


_DATA = "data:"


def _messages(turn: Turn) -> Iterator[dict[str, Any]]:
    """Yield the messages of a turn; tool results come first, since they answer the last message."""
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

_MAX_BYTES = 4_000_000  # of a response

logger = logging.getLogger(__name__)


class Misconfigured(ValueError):
    """The variables don't name a usable endpoint; the text says what to change."""


class EndpointFailed(Exception):
    """
    The endpoint gave no answer; the text continues "the model endpoint".

    `rule` has AWS's error for it.
    """

    def __init__(self, problem: str, rule: rules.Rule = rules.CONVERSE_MODEL_ERROR) -> None:
        super().__init__(problem)
        self.rule = rule


@dataclass(frozen=True, kw_only=True)
class ModelEndpoint:
    base_url: str
    model: str
    key: str = field(default="", repr=False)
    # Real seconds for the whole response; for a stream, until the next piece.
    seconds: float = rules.CONVERSE_TIMEOUT.value

    @classmethod
    def of(cls, environment: Mapping[str, str], prefix: str = PREFIX) -> "ModelEndpoint | None":
        """Return the configured endpoint, or None. Raises `Misconfigured`."""
        names = [f"{prefix}_OPENAI_{name}" for name in ("BASE_URL", "MODEL", "API_KEY")]
        base_url, model, key = (environment.get(name, "").strip() for name in names)
        if not base_url and not model:
            return None
        if not base_url or not model:
            raise Misconfigured(f"set both {names[0]} and {names[1]}, or neither")
        if not _is_usable(base_url):
            raise Misconfigured(f"{names[0]} must be an http or https URL without a password")
        if not (key.isascii() and key.isprintable()):
            raise Misconfigured(f"{names[2]} has characters that are not allowed in a header")
        return cls(base_url=base_url.rstrip("/"), model=model, key=key)

    def complete(self, conversation: Conversation) -> Reply:
        """
        Return the model's next turn.

        Raises EndpointFailed without an answer in time, and MalformedToolUse. The former is logged
        as well, since clients of Bedrock may report only the error's code.
        """
        request = {"model": self.model, **completion_request(conversation)}
        with self._failures(), self._response(request) as response:
            return reply_of(self._body(response), conversation)

    def stream(self, conversation: Conversation) -> Iterator[str | Reply]:
        """
        Yield the model's words as they arrive, and last its whole reply.

        An endpoint that doesn't stream yields only the reply. Raises the same errors as `complete`.
        """
        request = {"model": self.model, "stream": True, **completion_request(conversation)}
        with self._failures(), self._response(request) as response:
            if "text/event-stream" not in response.headers.get("Content-Type", ""):
                yield reply_of(self._body(response), conversation)
                return
            gathered = StreamedCompletion()
            for line in response.iter_lines():
                if words := gathered.add(line):
                    yield words
            yield reply_of(gathered.body, conversation)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Translate failures of the connection to EndpointFailed, and log them."""
        failure: EndpointFailed
        try:
            yield
            return
        except httpx.TimeoutException:
            failure = EndpointFailed("did not answer in time", rules.CONVERSE_TIMEOUT)
        except (httpx.HTTPError, httpx.InvalidURL):
            failure = EndpointFailed("can't be reached")
        except NoCompletion:
            failure = EndpointFailed("answered with no chat completion")
        except EndpointFailed as refusal:
            failure = refusal
        asked = self._url.copy_with(query=None)  # the query may contain a key
        message = "the model endpoint %s, asked for the model %r at %s"
        logger.warning(message, failure, self.model, asked)
        raise failure

    @property
    def _url(self) -> httpx.URL:
        base = httpx.URL(self.base_url)
        return base.copy_with(path=f"{base.path.rstrip('/')}/chat/completions")

    @contextmanager
    def _response(self, request: Mapping[str, Any]) -> Iterator[httpx.Response]:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        asked = httpx.stream(
            "POST", self._url, json=request, headers=headers, timeout=self.seconds, trust_env=False
        )
        with asked as response:
            if response.status_code != httpx.codes.OK:
                problem = f"answered with HTTP status {response.status_code}"
                is_full = response.status_code == httpx.codes.TOO_MANY_REQUESTS
                rule = rules.CONVERSE_THROTTLED if is_full else rules.CONVERSE_MODEL_ERROR
                raise EndpointFailed(problem, rule)
            yield response

    def _body(self, response: httpx.Response) -> bytes:
        """
        Return the whole body, which must be complete in time.

        httpx's timeout is for each read: with it alone, a slow endpoint could drip forever.
        """
        deadline, body = time.monotonic() + self.seconds, b""
        for part in response.iter_bytes():
            body += part
            if len(body) > _MAX_BYTES:
                raise NoCompletion
            if time.monotonic() > deadline:
                raise httpx.ReadTimeout("the response drips")
        return body


def _is_usable(base_url: str) -> bool:
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL:
        return False
    return url.scheme in {"http", "https"} and bool(url.host) and not url.userinfo
