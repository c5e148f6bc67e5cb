"""A request of Converse or ConverseStream, read and checked: what AWS refuses is refused here."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from bedrock_kb_simulator import attachments, caching, tools
from bedrock_kb_simulator.attachments import Attachments
from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.messages import (
    Block,
    Conversation,
    Document,
    Text,
    ToolResult,
    ToolUse,
    Turn,
)
from bedrock_kb_simulator.models import TITAN
from bedrock_kb_simulator.rules import (
    CONVERSE_BLANK,
    CONVERSE_MODEL,
    CONVERSE_START,
    CONVERSE_TURNS,
    NOT_SIMULATED,
    TOOL_ERROR_EMPTY,
    TOOL_JSON,
    TOOL_ROLE,
)

_UNSIMULATED = (
    "additionalModelRequestFields",
    "additionalModelResponseFieldPaths",
    "outputConfig",
    "performanceConfig",
    "promptVariables",
    "requestMetadata",
    "serviceTier",
)


@dataclass(frozen=True, kw_only=True)
class Requests:
    attachments: Attachments

    def conversation(self, parameters: Parameters) -> Conversation:
        """Raises ServiceError."""
        _refuse_unsimulated(parameters)
        caching.check(parameters)
        turns = self._turns(parameters.get("messages") or [])
        prompt = "\n".join(_system(parameters.get("system") or []))
        configuration = parameters.get("toolConfig")
        offer = tools.offer_of(configuration)
        tools.check(turns, is_offered=bool(configuration))
        return Conversation(
            model=parameters["modelId"],
            prompt=prompt,
            turns=turns,
            offer=offer,
            inference=parameters.get("inferenceConfig") or {},
        )

    def _turns(self, messages: Sequence[dict[str, Any]]) -> list[Turn]:
        """Of the user and the assistant, one after the other; the last one is the user's."""
        if not messages or messages[0]["role"] == "assistant":
            raise CONVERSE_START.broken()
        turns = [
            Turn(role=message["role"], blocks=self._blocks(message, f"messages.{number}.content"))
            for number, message in enumerate(messages)
        ]
        roles = [turn.role for turn in turns]
        if "system" in roles:
            raise NOT_SIMULATED.broken(what="messages of the role system")
        if any(role == after for role, after in pairwise(roles)):
            raise CONVERSE_TURNS.broken()
        if roles[-1] == "assistant":
            raise NOT_SIMULATED.broken(what="an answer that the caller begins")
        attachments.check([document for turn in turns for document in turn.documents])
        return turns

    def _blocks(self, message: Mapping[str, Any], at: str) -> list[Block]:
        blocks = [
            self._block(block, f"{at}.{number}", message["role"])
            for number, block in enumerate(message["content"])
            if "cachePoint" not in block
        ]
        if not blocks:
            raise CONVERSE_BLANK.broken(at=at)
        attachments.check_beside(blocks)
        return blocks

    def _block(self, block: Mapping[str, Any], at: str, role: str) -> Block:
        if "toolUse" in block:
            return _use(block["toolUse"], at, role)
        if "toolResult" in block:
            return self._result(block["toolResult"], f"{at}.toolResult", role)
        if "document" in block:
            return self.attachments.document(block["document"], f"{at}.document")
        if "guardContent" in block:
            text = Text(text=_guard_text(block["guardContent"]), is_guarded=True)
        elif "text" in block:
            text = Text(text=block["text"])
        else:
            raise NOT_SIMULATED.broken(what=f"{', '.join(block)} in a message")
        if not text.text.strip():
            raise CONVERSE_BLANK.broken(at=at)
        return text

    def _result(self, result: Mapping[str, Any], at: str, role: str) -> ToolResult:
        if role != "user":
            raise TOOL_ROLE.broken(at=at.rpartition(".")[0], block="toolResult", role="user")
        if result.get("type"):
            raise NOT_SIMULATED.broken(what="tools that AWS runs")
        is_error = result.get("status") == "error"
        if is_error and not result["content"]:
            raise TOOL_ERROR_EMPTY.broken(at=at)
        parts = [
            self._part(part, f"{at}.content.{number}")
            for number, part in enumerate(result["content"])
        ]
        return ToolResult(id=result["toolUseId"], parts=parts, is_error=is_error)

    def _part(self, part: Mapping[str, Any], at: str) -> Text | Document:
        if "text" in part:
            return Text(text=part["text"])
        if "document" in part:
            return self.attachments.document(part["document"], f"{at}.document")
        if "json" not in part:
            raise NOT_SIMULATED.broken(what=f"{', '.join(part)} in a tool's result")
        if not isinstance(part["json"], dict):
            raise TOOL_JSON.broken(at=f"{at}.json")
        return Text(text=json.dumps(part["json"], ensure_ascii=False))


def _refuse_unsimulated(parameters: Parameters) -> None:
    for member in _UNSIMULATED:
        if parameters.get(member):
            raise NOT_SIMULATED.broken(what=f"{member} of Converse")
    model = parameters["modelId"]
    if ":prompt/" in model:
        raise NOT_SIMULATED.broken(what="prompt resources")
    if model.rpartition("/")[2] == TITAN:
        raise CONVERSE_MODEL.broken(model=TITAN)


def _use(use: Mapping[str, Any], at: str, role: str) -> ToolUse:
    if role != "assistant":
        raise TOOL_ROLE.broken(at=at, block="toolUse", role="assistant")
    if use.get("type"):
        raise NOT_SIMULATED.broken(what="tools that AWS runs")
    if not isinstance(use["input"], dict):
        raise TOOL_JSON.broken(at=f"{at}.toolUse.input")
    return ToolUse(id=use["toolUseId"], name=use["name"], input=use["input"])


def _guard_text(block: Mapping[str, Any]) -> str:
    if "text" not in block or block["text"].get("qualifiers"):
        raise NOT_SIMULATED.broken(what="guardContent other than text without qualifiers")
    return str(block["text"]["text"])


def _system(blocks: Sequence[dict[str, Any]]) -> Iterator[str]:
    for number, block in enumerate(blocks):
        if "cachePoint" in block:
            continue
        if "text" not in block:
            raise NOT_SIMULATED.broken(what=f"{', '.join(block)} in a system prompt")
        if not block["text"].strip():
            raise CONVERSE_BLANK.broken(at=f"system.{number}")
        yield block["text"]
