"""bedrock-runtime's Converse and ConverseStream: the same answer, whole or as events."""

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
    EndpointFailed,
    MalformedToolUse,
    ModelEndpoint,
)
from bedrock_kb_simulator.screening import Guard, Screening, Side, action_reason, assessment
from bedrock_kb_simulator.scripts import Scripts
from bedrock_kb_simulator.stand_in import StandIn

# A guardrail over one conversation, and its trace.


@dataclass(frozen=True, kw_only=True)
class ConversationGuard:
    """The guardrail of a conversation; without a guard it blocks and traces nothing."""

    guard: Guard | None = None
    identifier: str = ""
    trace: str = "disabled"
    _traced: dict[str, Any] = field(default_factory=dict)

    def refusal(self, text: str, side: Side) -> str | None:
        """Return the guardrail's message if it blocks the text, else None."""
        if self.guard is None:
            return None
        began = time.monotonic()
        verdict = self.guard.judge(text, side)
        milliseconds = int((time.monotonic() - began) * 1000)
        found = assessment(verdict, text, milliseconds=milliseconds)
        if side is Side.INPUT:
            self._traced["inputAssessment"] = {self.identifier: found}
        else:
            self._traced["outputAssessments"] = {self.identifier: [found]}
        if not verdict.blocked:
            return None
        self._traced["actionReason"] = action_reason(verdict)
        return verdict.message

    @property
    def trace_member(self) -> dict[str, Any]:
        """Return the trace as a response member: rule converse.guardrail-trace."""
        if self.guard is None or self.trace == "disabled":
            return {}
        return {"trace": {"guardrail": self._traced}}


def conversation_guard(screening: Screening, named: dict[str, Any]) -> ConversationGuard:
    """Return the guard of a guardrailConfig; raises ServiceError for a missing guardrail."""
    if named.get("streamProcessingMode", "sync") != "sync":
        raise rules.NOT_SIMULATED.broken(what="guardrails beside a stream (streamProcessingMode)")
    if named.get("trace") == "enabled_full":
        raise rules.NOT_SIMULATED.broken(what="the trace enabled_full of a guardrail")
    identifier = named.get("guardrailIdentifier") or ""
    version = named.get("guardrailVersion") or ""
    if not identifier and not version:
        return ConversationGuard()
    guard = screening.guard(identifier, version)
    if guard is None:
        raise rules.GUARDRAIL_MISSING.broken()
    return ConversationGuard(
        guard=guard,
        identifier=identifier.rpartition("/")[2],
        trace=named.get("trace") or "disabled",
    )


def guarded_text(turns: Sequence[Turn]) -> str:
    """Return the text that a guardrail examines: rule converse.guardrail."""
    return "\n".join(
        block.text for turn in turns for block in turn.blocks if isinstance(block, Text)
    )


# An answer of Converse as events of ConverseStream.

_PIECE = 40  # characters; AWS's pieces are a few tokens each, and clients can't rely on their ends


def events_of(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of an answer: rule converse.stream."""
    message = answer["output"]["message"]
    yield {"messageStart": {"role": message["role"]}}
    for index, block in enumerate(message["content"]):
        yield from _block(block, index)
    yield {"messageStop": {"stopReason": answer["stopReason"]}}
    metadata = {name: answer[name] for name in ("usage", "metrics", "trace") if name in answer}
    yield {"metadata": metadata}


def _block(block: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
    """Yield the events of a block; a text has no start event, an input comes as pieces of JSON."""
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


def pace_events(events: Iterable[dict[str, Any]], seconds: float) -> Iterator[dict[str, Any]]:
    for event in events:
        if seconds and "contentBlockDelta" in event:
            time.sleep(seconds)
        yield event


def pieces(text: str) -> Sequence[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


@dataclass(frozen=True, kw_only=True)
class Conversations:
    """
    Answers conversations.

    A script for the model answers first, then the language model if one is configured, else the
    stand-in, which extracts its answer and says so.
    """

    screening: Screening
    scripts: Scripts
    stand_in: StandIn
    model: ModelEndpoint | None

    def answer(self, parameters: Parameters) -> Parameters:
        """Answer Converse, under a guardrail if one is named: rule converse.guardrail."""
        return self._answer_and_pace(parameters)[0]

    def stream(self, parameters: Parameters) -> Parameters:
        """
        Answer ConverseStream: rule converse.stream.

        Errors come before the stream begins. A language model's words are sent as they arrive,
        unless a guardrail has to examine them first.
        """
        if self.model is not None and not parameters.get("guardrailConfig"):
            conversation = conversation_of(parameters)
            if not self.scripts.has(conversation):
                return {"stream": self._live(self.model, conversation)}
        answer, pace = self._answer_and_pace(parameters)
        return {"stream": pace_events(events_of(answer), pace)}

    def _answer_and_pace(self, parameters: Parameters) -> tuple[Parameters, float]:
        """Return the answer and its pace in seconds."""
        began = time.monotonic()
        conversation = conversation_of(parameters)
        guard = conversation_guard(self.screening, parameters.get("guardrailConfig") or {})
        refusal = guard.refusal(guarded_text(conversation.turns), Side.INPUT)
        if refusal is not None:
            return {**_response(_blocked_reply(refusal), "", "", began), **guard.trace_member}, 0.0
        reply = self._reply(conversation)
        refusal = guard.refusal(reply.text, Side.OUTPUT)
        shown = reply if refusal is None else _blocked_reply(refusal)
        answer = {**_response(shown, conversation.read, reply.written, began), **guard.trace_member}
        return answer, reply.pace

    def _reply(self, conversation: Conversation) -> Reply:
        """Return the reply of script, model or stand-in. Raises ServiceError."""
        scripted = self.scripts.reply(conversation)
        if scripted is not None:
            return scripted
        if self.model is None:
            return self.stand_in.reply(conversation)
        with _aws_errors():
            return self.model.complete(conversation)

    def _live(self, model: ModelEndpoint, conversation: Conversation) -> Iterator[dict[str, Any]]:
        """Stream a model's reply. Raises ServiceError for a failure before the first words."""
        began, parts = time.monotonic(), model.stream(conversation)
        with _aws_errors():
            first = next(parts)
        return _events_of_parts(chain([first], parts), conversation.read, began)


def _events_of_parts(
    parts: Iterable[str | Reply], read: str, began: float
) -> Iterator[dict[str, Any]]:
    """Turn words into events as they arrive, the same as of the whole answer."""
    place, has_words = {"contentBlockIndex": 0}, False
    for part in parts:
        if isinstance(part, str):
            if not has_words:
                yield {"messageStart": {"role": "assistant"}}
            has_words = True
            yield {"contentBlockDelta": {"delta": {"text": part}, **place}}
            continue
        events = events_of(_response(part, read, part.written, began))
        # All events of its text but the last were sent already.
        sent = {"messageStart", "contentBlockDelta"} if has_words else set[str]()
        for event in events:
            is_text = event.get("contentBlockDelta", {}).get("contentBlockIndex") == 0
            if not (sent & event.keys()) or ("contentBlockDelta" in event and not is_text):
                yield event


@contextmanager
def _aws_errors() -> Iterator[None]:
    """Translate failures of a model's endpoint to AWS's errors of models."""
    try:
        yield
    except MalformedToolUse:
        raise rules.TOOL_MALFORMED.broken() from None
    except EndpointFailed as failure:
        raise failure.rule.broken(problem=failure) from None


def _blocked_reply(message: str) -> Reply:
    return Reply(blocks=[Text(text=message)], stop="guardrail_intervened")


def _response(shown: Reply, read: str, written: str, began: float) -> Parameters:
    """Return the response; usage counts what the model read and wrote: rule converse.usage."""
    tokens = {"inputTokens": len(ids_of(read)), "outputTokens": len(ids_of(written))}
    if not read:
        tokens = dict.fromkeys(tokens, 0)
    return {
        "output": {"message": {"role": "assistant", "content": [_member(b) for b in shown.blocks]}},
        "stopReason": shown.stop,
        "usage": {
            **tokens,
            "totalTokens": sum(tokens.values()),
            "cacheReadInputTokens": 0,  # rule converse.cache
            "cacheWriteInputTokens": 0,
        },
        "metrics": {"latencyMs": int((time.monotonic() - began) * 1000)},
    }


def _member(block: Text | ToolUse) -> dict[str, Any]:
    match block:
        case Text():
            return {"text": block.text}
        case ToolUse():
            return {
                "toolUse": {"toolUseId": block.id, "name": block.name, "input": dict(block.input)}
            }
