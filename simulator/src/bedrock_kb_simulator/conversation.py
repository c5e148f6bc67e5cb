"""bedrock-runtime's Converse and ConverseStream: one answer, whole or in events."""

import time
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.guarding import guarded, guarding
from bedrock_kb_simulator.messages import Reply, Text, ToolUse
from bedrock_kb_simulator.requests import Requests
from bedrock_kb_simulator.response_events import events_of
from bedrock_kb_simulator.screening import Screening, Side
from bedrock_kb_simulator.speaking import Speaking
from bedrock_kb_simulator.wordpieces import ids_of


@dataclass(frozen=True, kw_only=True)
class Conversations:
    screening: Screening
    speaking: Speaking
    requests: Requests

    def answer(self, parameters: Parameters) -> Parameters:
        """Under a guardrail, if one is named: rule converse.guardrail."""
        began = time.monotonic()
        conversation = self.requests.conversation(parameters)
        guard = guarding(self.screening, parameters.get("guardrailConfig") or {})
        refusal = guard.refusal(guarded(conversation.turns), Side.INPUT)
        if refusal is not None:
            return {**_response(_blocked(refusal), "", "", began), **guard.told}
        said = self.speaking.reply(conversation)
        refusal = guard.refusal(said.text, Side.OUTPUT)
        told = said if refusal is None else _blocked(refusal)
        return {**_response(told, conversation.read, said.written, began), **guard.told}

    def stream(self, parameters: Parameters) -> Parameters:
        """The same answer: rule converse.stream."""
        return {"stream": list(events_of(self.answer(parameters)))}


def _blocked(message: str) -> Reply:
    return Reply(blocks=[Text(text=message)], stop="guardrail_intervened")


def _response(told: Reply, read: str, said: str, began: float) -> Parameters:
    """Usage is that of what a model read and said, whatever of it is told: rule converse.usage."""
    tokens = {"inputTokens": len(ids_of(read)), "outputTokens": len(ids_of(said))}
    if not read:
        tokens = dict.fromkeys(tokens, 0)
    return {
        "output": {"message": {"role": "assistant", "content": [_told(b) for b in told.blocks]}},
        "stopReason": told.stop,
        "usage": {
            **tokens,
            "totalTokens": sum(tokens.values()),
            "cacheReadInputTokens": 0,  # rule converse.cache
            "cacheWriteInputTokens": 0,
        },
        "metrics": {"latencyMs": int((time.monotonic() - began) * 1000)},
    }


def _told(block: Text | ToolUse) -> dict[str, Any]:
    match block:
        case Text():
            return {"text": block.text}
        case ToolUse():
            return {
                "toolUse": {"toolUseId": block.id, "name": block.name, "input": dict(block.input)}
            }
