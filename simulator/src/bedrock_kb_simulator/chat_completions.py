"""A conversation as a request of OpenAI's chat completions, and what is answered to it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bedrock_kb_simulator.messages import (
    Conversation,
    Document,
    Offer,
    Reply,
    Text,
    Tool,
    ToolUse,
    Turn,
    use_id,
)

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


def _messages(turn: Turn) -> Iterator[dict[str, Any]]:
    """Results of tools come first: they answer the message before."""
    for result in turn.results:
        content = "\n".join(_text(part) for part in result.parts)
        yield {"role": "tool", "tool_call_id": result.id, "content": content}
    texts = [_text(each) for each in turn.blocks if isinstance(each, Text | Document)]
    content = "\n".join(texts)
    if turn.uses:
        calls = [_call(use) for use in turn.uses]
        yield {"role": turn.role, "content": content or None, "tool_calls": calls}
    elif texts:
        yield {"role": turn.role, "content": content}


def _text(block: Text | Document) -> str:
    match block:
        case Text():
            return block.text
        case Document():
            return f'<document name="{block.name}">\n{block.text}\n</document>'


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
