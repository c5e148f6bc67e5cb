"""
bedrock-runtime's Converse, of text alone.

A language model answers if one is configured (`model_endpoint`), otherwise the answer is extracted
from the numbered passages in the prompt (`extraction`), and says so.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from stackroom_local.simulator.dispatch import Parameters
from stackroom_local.simulator.extraction import Extraction
from stackroom_local.simulator.model_endpoint import (
    Completion,
    EndpointBusy,
    EndpointFailed,
    EndpointSlow,
    ModelEndpoint,
)
from stackroom_local.simulator.models import TITAN
from stackroom_local.simulator.rules import (
    CONVERSE_BLANK,
    CONVERSE_GUARDRAIL_MISSING,
    CONVERSE_MODEL,
    CONVERSE_MODEL_ERROR,
    CONVERSE_START,
    CONVERSE_THROTTLED,
    CONVERSE_TIMEOUT,
    CONVERSE_TURNS,
    NOT_SIMULATED,
)
from stackroom_local.simulator.screening import Guard, Screening, Side
from stackroom_local.simulator.wordpieces import ids_of

_UNSIMULATED = (
    "additionalModelRequestFields",
    "additionalModelResponseFieldPaths",
    "outputConfig",
    "performanceConfig",
    "promptVariables",
    "requestMetadata",
    "serviceTier",
    "toolConfig",
)


@dataclass(frozen=True, kw_only=True)
class _Block:
    text: str
    is_guarded: bool = False


@dataclass(frozen=True, kw_only=True)
class _Turn:
    role: str
    blocks: Sequence[_Block]

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks)


@dataclass(frozen=True, kw_only=True)
class Conversations:
    screening: Screening
    extraction: Extraction
    model: ModelEndpoint | None

    def answer(self, parameters: Parameters) -> Parameters:
        """Under a guardrail, if one is named: rule converse.guardrail."""
        began = time.monotonic()
        _refuse_unsimulated(parameters)
        turns = _turns(parameters.get("messages") or [])
        prompt = "\n".join(_system(parameters.get("system") or []))
        guard = self._guard(parameters.get("guardrailConfig") or {})
        asked = guard.judged(_guarded(turns), Side.INPUT) if guard else None
        if asked is not None and asked.blocked:
            return _response(asked.message, "guardrail_intervened", began)
        said = self._completion(prompt, turns, parameters.get("inferenceConfig") or {})
        read = "\n".join([prompt, *(turn.text for turn in turns)])
        answered = guard.judged(said.text, Side.OUTPUT) if guard else None
        if answered is not None and answered.blocked:
            return _response(answered.message, "guardrail_intervened", began, read, said.text)
        reason = "max_tokens" if said.is_cut else "end_turn"  # rule converse.stop-reason
        return _response(said.text, reason, began, read, said.text)

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

    def _completion(
        self, prompt: str, turns: Sequence[_Turn], inference: dict[str, Any]
    ) -> Completion:
        if self.model is None:
            everything = "\n".join([prompt, *(turn.text for turn in turns)])
            text = self.extraction.completion(turns[-1].text, everything)
            return Completion(text=text, is_cut=False)
        try:
            return self.model.complete(
                prompt, [(turn.role, turn.text) for turn in turns], inference
            )
        except EndpointBusy:
            raise CONVERSE_THROTTLED.broken() from None
        except EndpointSlow as failure:
            raise CONVERSE_TIMEOUT.broken(problem=failure) from None
        except EndpointFailed as failure:
            raise CONVERSE_MODEL_ERROR.broken(problem=failure) from None


def _refuse_unsimulated(parameters: Parameters) -> None:
    for member in _UNSIMULATED:
        if parameters.get(member):
            raise NOT_SIMULATED.broken(what=f"{member} of Converse")
    model = parameters["modelId"]
    if ":prompt/" in model:
        raise NOT_SIMULATED.broken(what="prompt resources")
    if model.rpartition("/")[2] == TITAN:
        raise CONVERSE_MODEL.broken(model=TITAN)


def _turns(messages: Sequence[dict[str, Any]]) -> list[_Turn]:
    """Of the user and the assistant, one after the other; the last one is the user's."""
    if not messages or messages[0]["role"] == "assistant":
        raise CONVERSE_START.broken()
    turns = [
        _Turn(role=message["role"], blocks=_blocks(message["content"], f"messages.{number}"))
        for number, message in enumerate(messages)
    ]
    roles = [turn.role for turn in turns]
    if "system" in roles:
        raise NOT_SIMULATED.broken(what="messages of the role system")
    if any(role == after for role, after in pairwise(roles)):
        raise CONVERSE_TURNS.broken()
    if roles[-1] == "assistant":
        raise NOT_SIMULATED.broken(what="an answer that the caller begins")
    return turns


def _blocks(content: Sequence[dict[str, Any]], at: str) -> list[_Block]:
    if not content:
        raise CONVERSE_BLANK.broken(at=f"{at}.content")
    blocks = []
    for number, block in enumerate(content):
        if "guardContent" in block:
            made = _Block(text=_guard_text(block["guardContent"]), is_guarded=True)
        elif "text" in block:
            made = _Block(text=block["text"])
        else:
            raise NOT_SIMULATED.broken(what=f"{', '.join(block)} in a message")
        if not made.text.strip():
            raise CONVERSE_BLANK.broken(at=f"{at}.content.{number}")
        blocks.append(made)
    return blocks


def _guard_text(block: dict[str, Any]) -> str:
    if "text" not in block or block["text"].get("qualifiers"):
        raise NOT_SIMULATED.broken(what="guardContent other than text without qualifiers")
    return str(block["text"]["text"])


def _system(blocks: Sequence[dict[str, Any]]) -> Iterator[str]:
    for number, block in enumerate(blocks):
        if "text" not in block:
            raise NOT_SIMULATED.broken(what=f"{', '.join(block)} in a system prompt")
        if not block["text"].strip():
            raise CONVERSE_BLANK.broken(at=f"system.{number}")
        yield block["text"]


def _guarded(turns: Sequence[_Turn]) -> str:
    """What a guardrail looks at: rule converse.guardrail."""
    blocks = [block for turn in turns for block in turn.blocks]
    chosen = [block for block in blocks if block.is_guarded] or blocks
    return "\n".join(block.text for block in chosen)


def _response(text: str, reason: str, began: float, read: str = "", said: str = "") -> Parameters:
    """Usage is that of what a model read and said, whatever of it is told: rule converse.usage."""
    tokens = {"inputTokens": len(ids_of(read)), "outputTokens": len(ids_of(said))}
    if not read:
        tokens = dict.fromkeys(tokens, 0)
    return {
        "output": {"message": {"role": "assistant", "content": [{"text": text}]}},
        "stopReason": reason,
        "usage": {**tokens, "totalTokens": sum(tokens.values())},
        "metrics": {"latencyMs": int((time.monotonic() - began) * 1000)},
    }
