"""bedrock-runtime's Converse and ConverseStream: one answer, whole or in events."""

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.conversation_parts import Conversation, Reply, Text, ToolUse, Turn
from bedrock_kb_simulator.converse_requests import conversation_of
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.embedder import ids_of
from bedrock_kb_simulator.model_endpoint import (
    EndpointBusy,
    EndpointFailed,
    EndpointSlow,
    MalformedToolUse,
    ModelEndpoint,
)
from bedrock_kb_simulator.screening import Guard, Screening, Side, assessed, reason
from bedrock_kb_simulator.scripts import Scripts
from bedrock_kb_simulator.stand_in import StandIn

# A guardrail over one conversation: what it blocks, and the trace that tells what it found.


@dataclass(frozen=True, kw_only=True)
class Guarding:
    """Without a guard nothing is blocked and nothing traced."""

    guard: Guard | None = None
    identifier: str = ""
    trace: str = "disabled"
    _traced: dict[str, Any] = field(default_factory=dict)

    def refusal(self, text: str, side: Side) -> str | None:
        """The guardrail's own message where it blocks the text."""
        if self.guard is None:
            return None
        began = time.monotonic()
        verdict = self.guard.judged(text, side)
        milliseconds = int((time.monotonic() - began) * 1000)
        found = assessed(
            verdict, text, milliseconds=milliseconds, full=self.trace == "enabled_full"
        )
        if side is Side.INPUT:
            self._traced["inputAssessment"] = {self.identifier: found}
        else:
            self._traced["outputAssessments"] = {self.identifier: [found]}
        if not verdict.blocked:
            return None
        self._traced["actionReason"] = reason(verdict)
        return verdict.message

    @property
    def told(self) -> dict[str, Any]:
        """The member of an answer that has the trace: rule converse.guardrail-trace."""
        if self.guard is None or self.trace == "disabled":
            return {}
        return {"trace": {"guardrail": self._traced}}


def guarding(screening: Screening, named: dict[str, Any]) -> Guarding:
    """By a guardrailConfig; raises ServiceError where it names none that there is."""
    if named.get("streamProcessingMode", "sync") != "sync":
        raise rules.NOT_SIMULATED.broken(what="guardrails beside a stream (streamProcessingMode)")
    identifier = named.get("guardrailIdentifier") or ""
    version = named.get("guardrailVersion") or ""
    if not identifier and not version:
        return Guarding()
    guard = screening.guard(identifier, version)
    if guard is None:
        raise rules.CONVERSE_GUARDRAIL_MISSING.broken()
    return Guarding(
        guard=guard,
        identifier=identifier.rpartition("/")[2],
        trace=named.get("trace") or "disabled",
    )


def guarded(turns: Sequence[Turn]) -> str:
    """What a guardrail looks at: rule converse.guardrail."""
    return "\n".join(
        block.text for turn in turns for block in turn.blocks if isinstance(block, Text)
    )


# An answer of Converse as ConverseStream tells it: the same, in events.

_PIECE = 40  # characters; AWS's are a few tokens each, and nothing may rest on where they end


def events_of(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Rule converse.stream."""
    message = answer["output"]["message"]
    yield {"messageStart": {"role": message["role"]}}
    for index, block in enumerate(message["content"]):
        yield from _block(block, index)
    yield {"messageStop": {"stopReason": answer["stopReason"]}}
    told = {name: answer[name] for name in ("usage", "metrics", "trace") if name in answer}
    yield {"metadata": told}


def _block(block: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
    """A text has no event for its start; an input is JSON that is whole with its last piece."""
    place = {"contentBlockIndex": index}
    if "toolUse" in block:
        use = block["toolUse"]
        named = {"toolUseId": use["toolUseId"], "name": use["name"]}
        yield {"contentBlockStart": {"start": {"toolUse": named}, **place}}
        for piece in pieces(json.dumps(use["input"])):
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": piece}}, **place}}
    else:
        for piece in pieces(block["text"]):
            yield {"contentBlockDelta": {"delta": {"text": piece}, **place}}
    yield {"contentBlockStop": place}


def paced(events: Iterable[dict[str, Any]], seconds: float) -> Iterator[dict[str, Any]]:
    for event in events:
        if seconds and "contentBlockDelta" in event:
            time.sleep(seconds)
        yield event


def pieces(text: str) -> Sequence[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


@dataclass(frozen=True, kw_only=True)
class Conversations:
    """
    Who speaks for a model: a script, if one was given for it; else a language model, if one is
    configured; else the stand-in, which extracts and says so.
    """

    screening: Screening
    scripts: Scripts
    stand_in: StandIn
    model: ModelEndpoint | None

    def answer(self, parameters: Parameters) -> Parameters:
        """Under a guardrail, if one is named: rule converse.guardrail."""
        return self._answered(parameters)[0]

    def stream(self, parameters: Parameters) -> Parameters:
        """
        The same answer: rule converse.stream. What is refused is so before it begins. A language
        model's words go out as they come, unless a guardrail has to see all of them before.
        """
        if self.model is not None and not parameters.get("guardrailConfig"):
            conversation = conversation_of(parameters)
            if not self.scripts.has(conversation):
                return {"stream": self._live(self.model, conversation)}
        answer, pace = self._answered(parameters)
        return {"stream": paced(events_of(answer), pace)}

    def _answered(self, parameters: Parameters) -> tuple[Parameters, float]:
        """And its pace."""
        began = time.monotonic()
        conversation = conversation_of(parameters)
        guard = guarding(self.screening, parameters.get("guardrailConfig") or {})
        refusal = guard.refusal(guarded(conversation.turns), Side.INPUT)
        if refusal is not None:
            return {**_response(_blocked(refusal), "", "", began), **guard.told}, 0.0
        said = self._reply(conversation)
        refusal = guard.refusal(said.text, Side.OUTPUT)
        told = said if refusal is None else _blocked(refusal)
        answer = {**_response(told, conversation.read, said.written, began), **guard.told}
        return answer, said.pace

    def _reply(self, conversation: Conversation) -> Reply:
        """Raises ServiceError."""
        scripted = self.scripts.reply(conversation)
        if scripted is not None:
            return scripted
        if self.model is None:
            return self.stand_in.reply(conversation)
        with _as_aws():
            return self.model.complete(conversation)

    def _live(self, model: ModelEndpoint, conversation: Conversation) -> Iterator[dict[str, Any]]:
        """Raises ServiceError for what fails before the first words."""
        began, parts = time.monotonic(), model.stream(conversation)
        with _as_aws():
            first = next(parts)
        return _events_of_parts(chain([first], parts), conversation.read, began)


def _events_of_parts(
    parts: Iterable[str | Reply], read: str, began: float
) -> Iterator[dict[str, Any]]:
    """Of words as they come, the events that the whole answer has."""
    place, has_words = {"contentBlockIndex": 0}, False
    for part in parts:
        if isinstance(part, str):
            if not has_words:
                yield {"messageStart": {"role": "assistant"}}
            has_words = True
            yield {"contentBlockDelta": {"delta": {"text": part}, **place}}
            continue
        events = events_of(_response(part, read, part.written, began))
        # Of its text all but the end was told.
        told = {"messageStart", "contentBlockDelta"} if has_words else set[str]()
        for event in events:
            is_text = event.get("contentBlockDelta", {}).get("contentBlockIndex") == 0
            if not (told & event.keys()) or ("contentBlockDelta" in event and not is_text):
                yield event


@contextmanager
def _as_aws() -> Iterator[None]:
    """What a model's endpoint does wrong, as AWS tells it of a model."""
    try:
        yield
    except MalformedToolUse:
        raise rules.TOOL_MALFORMED.broken() from None
    except EndpointBusy:
        raise rules.CONVERSE_THROTTLED.broken() from None
    except EndpointSlow as failure:
        raise rules.CONVERSE_TIMEOUT.broken(problem=failure) from None
    except EndpointFailed as failure:
        raise rules.CONVERSE_MODEL_ERROR.broken(problem=failure) from None


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
