"""bedrock-runtime's Converse and ConverseStream: one answer, whole or in events."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stackroom_local.simulator.dispatch import Parameters
from stackroom_local.simulator.messages import Reply, Text, ToolUse, Turn
from stackroom_local.simulator.requests import Requests
from stackroom_local.simulator.response_events import events_of
from stackroom_local.simulator.rules import CONVERSE_GUARDRAIL_MISSING, NOT_SIMULATED
from stackroom_local.simulator.screening import Guard, Screening, Side
from stackroom_local.simulator.speaking import Speaking
from stackroom_local.simulator.wordpieces import ids_of


@dataclass(frozen=True, kw_only=True)
class Conversations:
    screening: Screening
    speaking: Speaking
    requests: Requests

    def answer(self, parameters: Parameters) -> Parameters:
        """Under a guardrail, if one is named: rule converse.guardrail."""
        began = time.monotonic()
        conversation = self.requests.conversation(parameters)
        guard = self._guard(parameters.get("guardrailConfig") or {})
        asked = guard.judged(_guarded(conversation.turns), Side.INPUT) if guard else None
        if asked is not None and asked.blocked:
            return _response(_blocked(asked.message), "", "", began)
        said = self.speaking.reply(conversation)
        answered = guard.judged(said.text, Side.OUTPUT) if guard else None
        told = _blocked(answered.message) if answered is not None and answered.blocked else said
        return _response(told, conversation.read, said.written, began)

    def stream(self, parameters: Parameters) -> Parameters:
        """The same answer: rule converse.stream."""
        guardrail = parameters.get("guardrailConfig") or {}
        if guardrail.get("streamProcessingMode", "sync") != "sync":
            raise NOT_SIMULATED.broken(what="guardrails beside a stream (streamProcessingMode)")
        return {"stream": list(events_of(self.answer(parameters)))}

    def _guard(self, named: dict[str, Any]) -> Guard | None:
        identifier, version = named.get("guardrailIdentifier"), named.get("guardrailVersion")
        if not identifier and not version:
            return None
        if named.get("trace", "disabled") != "disabled":
            raise NOT_SIMULATED.broken(what="traces of guardrails")
        guard = self.screening.guard(identifier or "", version or "")
        if guard is None:
            raise CONVERSE_GUARDRAIL_MISSING.broken()
        return guard


def _guarded(turns: Sequence[Turn]) -> str:
    """What a guardrail looks at: rule converse.guardrail."""
    blocks = [block for turn in turns for block in turn.blocks if isinstance(block, Text)]
    chosen = [block for block in blocks if block.is_guarded] or blocks
    return "\n".join(block.text for block in chosen)


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
