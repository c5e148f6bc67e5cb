"""Validation of requests to Converse and ConverseStream."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.conversation_parts import (
    Block,
    Conversation,
    Offer,
    Text,
    Tool,
    ToolResult,
    ToolUse,
    Turn,
)
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.models import TITAN

_WITHOUT_TEMPERATURE = re.compile(r"anthropic\.claude-opus-(?:4-[78]|5)")


def check_temperature(parameters: Mapping[str, Any]) -> None:
    """Raise ServiceError for a temperature that the model refuses."""
    given = (parameters.get("inferenceConfig") or {}).get("temperature")
    if given is not None and _WITHOUT_TEMPERATURE.search(parameters["modelId"]):
        raise rules.TEMPERATURE_DEPRECATED.broken()


# Tools in a conversation: the tools offered, and their uses and results.


def offer_of(configuration: Mapping[str, Any] | None) -> Offer:
    """Return the tools that a toolConfig offers; raises ServiceError."""
    if not configuration:
        return Offer()
    tools = list(_tools(configuration["tools"]))
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise rules.TOOL_NAMES.broken()
    chosen = configuration.get("toolChoice") or {}
    demanded = (chosen.get("tool") or {}).get("name", "")
    if demanded and demanded not in names:
        raise rules.TOOL_CHOICE.broken(name=demanded)
    return Offer(tools=tools, must_use="any" in chosen or "tool" in chosen, demanded=demanded)


def check_tools(turns: Sequence[Turn], *, is_offered: bool) -> None:
    """Check that uses and results of tools come in pairs, turn by turn; raises ServiceError."""
    if not is_offered and any(turn.uses or turn.results for turn in turns):
        raise rules.TOOL_CONFIG_MISSING.broken()
    pending: list[str] = []
    for number, turn in enumerate(turns):
        at = f"messages.{number}.content"
        given = [result.id for result in turn.results]
        if len(given) > len(pending):
            raise rules.TOOL_RESULTS_STRAY.broken(at=at)
        missing = [use for use in pending if use not in given]
        if missing:
            raise rules.TOOL_RESULTS_MISSING.broken(at=at, ids=", ".join(missing))
        pending = [use.id for use in turn.uses]


def _tools(offered: Sequence[Mapping[str, Any]]) -> Iterator[Tool]:
    for number, each in enumerate(offered):
        if "cachePoint" in each:
            continue  # rule converse.cache
        if "toolSpec" not in each:
            raise rules.NOT_SIMULATED.broken(what=f"{', '.join(each)} in toolConfig")
        specified = each["toolSpec"]
        schema = specified["inputSchema"].get("json")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            raise rules.TOOL_SCHEMA.broken(
                at=f"toolConfig.tools.{number}.toolSpec.inputSchema.json.type"
            )
        description = specified.get("description", "")
        yield Tool(name=specified["name"], description=description, schema=schema)


_UNSIMULATED = (
    "additionalModelRequestFields",
    "additionalModelResponseFieldPaths",
    "outputConfig",
    "performanceConfig",
    "promptVariables",
    "requestMetadata",
    "serviceTier",
)


def conversation_of(parameters: Parameters) -> Conversation:
    """Return the conversation of a request. Raises ServiceError."""
    _refuse_unsimulated(parameters)
    check_temperature(parameters)
    turns = _turns(parameters.get("messages") or [])
    prompt = "\n".join(_system(parameters.get("system") or []))
    configuration = parameters.get("toolConfig")
    offer = offer_of(configuration)
    check_tools(turns, is_offered=bool(configuration))
    return Conversation(
        model=parameters["modelId"],
        prompt=prompt,
        turns=turns,
        offer=offer,
        inference=parameters.get("inferenceConfig") or {},
    )


def _turns(messages: Sequence[dict[str, Any]]) -> list[Turn]:
    """Return the alternating turns of user and assistant; the last one is the user's."""
    if not messages or messages[0]["role"] == "assistant":
        raise rules.CONVERSE_START.broken()
    turns = [
        Turn(role=message["role"], blocks=_blocks(message, f"messages.{number}.content"))
        for number, message in enumerate(messages)
    ]
    roles = [turn.role for turn in turns]
    if "system" in roles:
        raise rules.NOT_SIMULATED.broken(what="messages of the role system")
    if any(role == after for role, after in pairwise(roles)):
        raise rules.CONVERSE_TURNS.broken()
    if roles[-1] == "assistant":
        raise rules.NOT_SIMULATED.broken(what="an answer that the caller begins")
    return turns


def _blocks(message: Mapping[str, Any], at: str) -> list[Block]:
    blocks = [
        _block(block, f"{at}.{number}", message["role"])
        for number, block in enumerate(message["content"])
        if "cachePoint" not in block
    ]
    if not blocks:
        raise rules.CONVERSE_BLANK.broken(at=at)
    return blocks


def _block(block: Mapping[str, Any], at: str, role: str) -> Block:
    if "toolUse" in block:
        return _use(block["toolUse"], at, role)
    if "toolResult" in block:
        return _result(block["toolResult"], f"{at}.toolResult", role)
    if "text" not in block:
        raise rules.NOT_SIMULATED.broken(what=f"{', '.join(block)} in a message")
    if not block["text"].strip():
        raise rules.CONVERSE_BLANK.broken(at=at)
    return Text(text=block["text"])


def _result(result: Mapping[str, Any], at: str, role: str) -> ToolResult:
    if role != "user":
        raise rules.TOOL_ROLE.broken(at=at.rpartition(".")[0], block="toolResult", role="user")
    if result.get("type"):
        raise rules.NOT_SIMULATED.broken(what="tools that AWS runs")
    is_error = result.get("status") == "error"
    parts = [_part(part, f"{at}.content.{number}") for number, part in enumerate(result["content"])]
    return ToolResult(id=result["toolUseId"], parts=parts, is_error=is_error)


def _part(part: Mapping[str, Any], at: str) -> Text:
    if "text" in part:
        return Text(text=part["text"])
    if "json" not in part:
        raise rules.NOT_SIMULATED.broken(what=f"{', '.join(part)} in a tool's result")
    if not isinstance(part["json"], dict):
        raise rules.TOOL_JSON.broken(at=f"{at}.json")
    return Text(text=json.dumps(part["json"], ensure_ascii=False))


def _refuse_unsimulated(parameters: Parameters) -> None:
    for member in _UNSIMULATED:
        if parameters.get(member):
            raise rules.NOT_SIMULATED.broken(what=f"{member} of Converse")
    model = parameters["modelId"]
    if ":prompt/" in model:
        raise rules.NOT_SIMULATED.broken(what="prompt resources")
    if model.rpartition("/")[2] == TITAN:
        raise rules.CONVERSE_MODEL.broken(model=TITAN)


def _use(use: Mapping[str, Any], at: str, role: str) -> ToolUse:
    if role != "assistant":
        raise rules.TOOL_ROLE.broken(at=at, block="toolUse", role="assistant")
    if use.get("type"):
        raise rules.NOT_SIMULATED.broken(what="tools that AWS runs")
    if not isinstance(use["input"], dict):
        raise rules.TOOL_JSON.broken(at=f"{at}.toolUse.input")
    return ToolUse(id=use["toolUseId"], name=use["name"], input=use["input"])


def _system(blocks: Sequence[dict[str, Any]]) -> Iterator[str]:
    for number, block in enumerate(blocks):
        if "cachePoint" in block:
            continue
        if "text" not in block:
            raise rules.NOT_SIMULATED.broken(what=f"{', '.join(block)} in a system prompt")
        if not block["text"].strip():
            raise rules.CONVERSE_BLANK.broken(at=f"system.{number}")
        yield block["text"]
