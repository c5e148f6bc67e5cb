"""Anthropic's Messages, as InvokeModel takes and answers them, in Converse's words and back."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from bedrock_kb_simulator import bodies
from bedrock_kb_simulator.bodies import Part
from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.rules import NOT_SIMULATED

# Of the Messages API, or of its blocks and tools.
_UNSIMULATED = (
    "anthropic_beta",
    "citations",
    "container",
    "context_management",
    "disable_parallel_tool_use",
    "metadata",
    "output_config",
    "strict",
    "thinking",
    "top_k",
)
_NAME = re.compile(r"(claude-.+?)(?:-v\d+(?::\d+)?)?")
_CACHE = {"cachePoint": {"type": "default"}}
_STOPS = {"content_filtered": "refusal"}  # the others have one name in both


class _Cached(Part):
    cache_control: dict[str, Any] | None = None


class _Text(_Cached):
    type: Literal["text"] = "text"
    text: str


class _Image(_Cached):
    type: Literal["image"]
    source: Any = None


class _ToolUse(_Cached):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]


def _listed(content: object) -> object:
    """A text alone is a block of text; an empty one is none."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content


class _ToolResult(_Cached):
    type: Literal["tool_result"]
    tool_use_id: str
    content: Annotated[
        Sequence[Annotated[_Text | _Image, Field(discriminator="type")]], BeforeValidator(_listed)
    ] = ()
    is_error: bool = False


_Block = _Text | _Image | _ToolUse | _ToolResult


class _Message(Part):
    role: Literal["user", "assistant"]
    content: Annotated[
        Sequence[Annotated[_Block, Field(discriminator="type")]], BeforeValidator(_listed)
    ]


class _Tool(_Cached):
    type: Literal["custom"] | None = None
    name: str
    description: str = ""
    input_schema: dict[str, Any]


class _Choice(Part):
    type: Literal["auto", "any", "tool", "none"]
    name: str = ""


class _Body(Part):
    anthropic_version: Literal["bedrock-2023-05-31"]
    max_tokens: Annotated[int, Field(ge=1, strict=True)]
    messages: Sequence[_Message]
    system: Annotated[Sequence[_Text], BeforeValidator(_listed)] = ()
    temperature: float | None = None
    top_p: float | None = None
    stop_sequences: Sequence[str] | None = None
    tools: Sequence[_Tool] = ()
    tool_choice: _Choice | None = None


def asked(model: str, body: bytes) -> Parameters:
    """Converse's parameters for it; raises ServiceError."""
    given = bodies.read(_Body, body, unsimulated=_UNSIMULATED)
    inference = {
        "maxTokens": given.max_tokens,
        "temperature": given.temperature,
        "topP": given.top_p,
        "stopSequences": list(given.stop_sequences or ()) or None,
    }
    return {
        "modelId": model,
        "messages": [
            {"role": each.role, "content": list(_blocks(each.content))} for each in given.messages
        ],
        "system": list(_blocks(given.system)),
        "inferenceConfig": {name: each for name, each in inference.items() if each is not None},
        **_tools(given),
    }


def told(model: str, answer: Parameters) -> dict[str, Any]:
    """The family's answer for Converse's."""
    content = answer["output"]["message"]["content"]
    digest = hashlib.sha256(json.dumps([model, content]).encode()).hexdigest()[:24]
    name = _NAME.fullmatch(model.rpartition("anthropic.")[2])
    return {
        "model": name[1] if name else "claude",
        "id": f"msg_bdrk_{digest}",
        "type": "message",
        "role": "assistant",
        "content": [_told(block) for block in content],
        "stop_reason": _STOPS.get(answer["stopReason"], answer["stopReason"]),
        "stop_sequence": None,
        "usage": {
            "input_tokens": answer["usage"]["inputTokens"],
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": answer["usage"]["outputTokens"],
        },
    }


def _told(block: dict[str, Any]) -> dict[str, Any]:
    if "toolUse" not in block:
        return {"type": "text", "text": block["text"]}
    use = block["toolUse"]
    named = {"id": use["toolUseId"], "name": use["name"]}
    return {"type": "tool_use", **named, "input": use["input"]}


def _blocks(content: Sequence[_Block]) -> Iterator[dict[str, Any]]:
    for block in content:
        yield _block(block)
        if block.cache_control:
            yield _CACHE


def _block(block: _Block) -> dict[str, Any]:
    match block:
        case _Text():
            return {"text": block.text}
        case _Image():
            raise NOT_SIMULATED.broken(what="image in a body of InvokeModel")
        case _ToolUse():
            return {"toolUse": {"toolUseId": block.id, "name": block.name, "input": block.input}}
        case _ToolResult():
            result = {
                "toolUseId": block.tool_use_id,
                "content": [_block(part) for part in block.content],
                "status": "error" if block.is_error else "success",
            }
            return {"toolResult": result}


def _tools(given: _Body) -> dict[str, Any]:
    if not given.tools:
        return {}
    tools: list[dict[str, Any]] = []
    for tool in given.tools:
        described = {"description": tool.description} if tool.description else {}
        schema = {"json": tool.input_schema}
        tools.append({"toolSpec": {"name": tool.name, **described, "inputSchema": schema}})
        if tool.cache_control:
            tools.append(_CACHE)
    choice = given.tool_choice or _Choice(type="auto")
    if choice.type == "none":
        raise NOT_SIMULATED.broken(what="tool_choice none in a body of InvokeModel")
    named = {"name": choice.name} if choice.type == "tool" else {}
    return {"toolConfig": {"tools": tools, "toolChoice": {choice.type: named}}}
