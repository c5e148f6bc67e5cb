"""
Scripted models: tests and developers order what a model answers.

A script has the model's turns in order. The number of the model's turns in the conversation selects
the next one, so conversations don't disturb each other and a repeated request gets the same answer.
Scripts are in memory: a restart removes them.
"""

import json
import re
import threading
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from bedrock_kb_simulator import orders, rules
from bedrock_kb_simulator.access_keys import AccessKey
from bedrock_kb_simulator.conversation_parts import Conversation, Reply, Text, ToolUse, use_id

_QUESTION = "question"
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_STRICT = ConfigDict(frozen=True, extra="forbid")
_NonEmpty = Annotated[str, Field(min_length=1)]


class ScriptedUse(BaseModel):
    model_config = _STRICT

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]  # as AWS has tools' names
    input: dict[str, Any] = {}


class ScriptedTurn(BaseModel):
    """
    A turn with a text, tool uses, or both.

    `{{name}}` in a text or input is replaced by what the pattern `quotes[name]` finds in tool
    results, `{{question}}` by the user's last text. In a stream, `pace` seconds pass before each
    piece.
    """

    model_config = _STRICT

    text: str = ""
    uses: Sequence[ScriptedUse] = ()
    quotes: Mapping[str, _NonEmpty] = {}
    stop: Literal["", "max_tokens", "stop_sequence", "content_filtered"] = ""
    pace: Annotated[float, Field(ge=0, le=10)] = 0.0

    @model_validator(mode="after")
    def _can_be_spoken(self) -> "ScriptedTurn":
        if not self.text.strip() and not self.uses:
            raise ValueError("a turn needs a text or uses of tools")
        for pattern in self.quotes.values():
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"invalid regular expression {pattern!r}: {error}") from None
        texts = json.dumps([self.text, *(use.input for use in self.uses)])
        named = set(_PLACEHOLDER.findall(texts)) - {_QUESTION, *self.quotes}
        if named:
            raise ValueError(f"quotes has no pattern for {', '.join(sorted(named))}")
        return self


class Script(BaseModel):
    """A script for the model with this id; `where` must occur in the prompt or messages."""

    model_config = _STRICT

    model: _NonEmpty
    turns: Annotated[Sequence[ScriptedTurn], Field(min_length=1)]
    where: str = ""

    def fits(self, conversation: Conversation) -> bool:
        names = {conversation.model, conversation.model.rpartition("/")[2]}
        return self.model in names and self.where in conversation.read


class Scripts:
    """All scripts; the latest one that matches a conversation applies."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._given: list[Script] = []
        self._played: list[int] = []

    def give(self, *scripts: Script) -> None:
        with self._lock:
            self._given.extend(scripts)
            self._played.extend(0 for _ in scripts)

    def clear(self) -> None:
        with self._lock:
            self._given.clear()
            self._played.clear()

    def report(self) -> dict[str, Any]:
        """Return each script with the number of turns given, including repeated ones."""
        with self._lock:
            given = [
                {
                    "model": each.model,
                    "where": each.where,
                    "turns": len(each.turns),
                    "spoken": spoken,
                }
                for each, spoken in zip(self._given, self._played, strict=True)
            ]
        return {"scripts": given}

    def has(self, conversation: Conversation) -> bool:
        with self._lock:
            return any(script.fits(conversation) for script in self._given)

    def reply(self, conversation: Conversation) -> Reply | None:
        """Return the scripted turn, or None without a matching script. Raises ServiceError."""
        with self._lock:
            fitting = [n for n, script in enumerate(self._given) if script.fits(conversation)]
            if not fitting:
                return None
            script = self._given[fitting[-1]]
            self._played[fitting[-1]] += 1
        return _turn(script, conversation)


def _turn(script: Script, conversation: Conversation) -> Reply:
    number = conversation.answers
    if number >= len(script.turns):
        raise rules.SCRIPT_EXHAUSTED.broken(
            model=script.model, count=len(script.turns), number=number + 1
        )
    turn = script.turns[number]
    _check(turn, conversation)
    blocks: list[Text | ToolUse] = []
    if turn.text:
        blocks.append(Text(text=_fill(turn.text, turn, conversation)))
    for place, use in enumerate(turn.uses):
        given = _fill_value(use.input, turn, conversation)
        identifier = use_id(conversation, place, use.name, given)
        blocks.append(ToolUse(id=identifier, name=use.name, input=given))
    stop = turn.stop or ("tool_use" if turn.uses else "end_turn")
    return Reply(blocks=blocks, stop=stop, pace=turn.pace)


def _check(turn: ScriptedTurn, conversation: Conversation) -> None:
    offer = conversation.offer
    offered = ", ".join(tool.name for tool in offer.tools) or "none"
    for use in turn.uses:
        if offer.tool(use.name) is None:
            raise rules.SCRIPT_TOOL.broken(name=use.name, offered=offered)
    is_met = any(offer.demanded in ("", use.name) for use in turn.uses)
    if offer.must_use and not is_met:
        raise rules.SCRIPT_TOOL_DEMANDED.broken(name=offer.demanded or "one of the tools")


def _fill_value(value: Any, turn: ScriptedTurn, conversation: Conversation) -> Any:
    match value:
        case str():
            return _fill(value, turn, conversation)
        case Mapping():
            return {name: _fill_value(each, turn, conversation) for name, each in value.items()}
        case list() | tuple():
            return [_fill_value(each, turn, conversation) for each in value]
        case _:
            return value


def _fill(text: str, turn: ScriptedTurn, conversation: Conversation) -> str:
    def quoted(match: re.Match[str]) -> str:
        name = match[1]
        if name == _QUESTION:
            return conversation.question
        return _quotation(name, turn.quotes[name], conversation)

    return _PLACEHOLDER.sub(quoted, text)


def _quotation(name: str, pattern: str, conversation: Conversation) -> str:
    """Return the pattern's first group, or its match, in the latest result that has it."""
    for result in reversed(conversation.results):
        if match := re.search(pattern, result.text):
            return match[1] if match.re.groups else match[0]
    raise rules.SCRIPT_QUOTE.broken(name=name, pattern=pattern)


# Scripts over HTTP, at a path that no AWS service has.
#
#     GET     /_simulator/scripts   all scripts, with the number of turns given
#     POST    /_simulator/scripts   {"scripts": [{"model": "anthropic.claude-3-haiku-20240307-v1:0",
#                                   "turns": [{"uses": [{"name": "search", "input": {"query":
#                                   "{{question}}"}}]}, {"text": "Every {{hours}} hours.",
#                                   "quotes": {"hours": "every (\\d+) hours"}}]}]}
#     DELETE  /_simulator/scripts   report as GET does, then remove all

PATH = "/_simulator/scripts"


class ScriptOrders(BaseModel):
    model_config = _STRICT

    scripts: Annotated[Sequence[Script], Field(min_length=1)]


def order(endpoint: str, *scripts: Mapping[str, Any], key: AccessKey | None = None) -> None:
    """Post scripts to the simulator at `endpoint`; raises HTTPError for an invalid one."""
    orders.send(endpoint + PATH, {"scripts": scripts}, key)


def respond(scripts: Scripts, scope: orders.Message, body: bytes) -> orders.Response:
    def take(body: bytes) -> None:
        scripts.give(*ScriptOrders.model_validate_json(body).scripts)

    return orders.respond(scope, body, report=scripts.report, clear=scripts.clear, take=take)
