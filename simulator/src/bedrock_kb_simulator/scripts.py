"""
What a model is to say, by the order of a test or of a developer.

A script has the model's turns, one after the other. Which of them is next follows from the request
alone: it is the one after as many as the conversation already has of the model's. So conversations
don't disturb each other, and who asks the same again is told the same. Scripts are kept in memory:
a restart forgets them.
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
_Filled = Annotated[str, Field(min_length=1)]


class ScriptedUse(BaseModel):
    model_config = _STRICT

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]  # as AWS has tools' names
    input: dict[str, Any] = {}


class ScriptedTurn(BaseModel):
    """
    A text, uses of tools, or both. `{{name}}` in the text, or in a text of an input, is replaced by
    what the pattern `quotes[name]` finds in the tools' results; `{{question}}` by the user's words.
    In a stream `pace` seconds pass before each piece of it.
    """

    model_config = _STRICT

    text: str = ""
    uses: Sequence[ScriptedUse] = ()
    quotes: Mapping[str, _Filled] = {}
    stop: Literal["", "max_tokens", "stop_sequence", "content_filtered"] = ""
    pace: Annotated[float, Field(ge=0, le=10)] = 0.0

    @model_validator(mode="after")
    def _can_be_spoken(self) -> "ScriptedTurn":
        if not self.text.strip() and not self.uses:
            raise ValueError("a turn has a text, or uses of tools")
        for pattern in self.quotes.values():
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"no regular expression: {pattern!r}: {error}") from None
        texts = json.dumps([self.text, *(use.input for use in self.uses)])
        named = set(_PLACEHOLDER.findall(texts)) - {_QUESTION, *self.quotes}
        if named:
            raise ValueError(f"quotes has no pattern for {', '.join(sorted(named))}")
        return self


class Script(BaseModel):
    """Of the model with this id; `where` must stand in the prompt or the messages."""

    model_config = _STRICT

    model: _Filled
    turns: Annotated[Sequence[ScriptedTurn], Field(min_length=1)]
    where: str = ""

    def fits(self, conversation: Conversation) -> bool:
        names = {conversation.model, conversation.model.rpartition("/")[2]}
        return self.model in names and self.where in conversation.read


class Scripts:
    """The latest that fits a conversation is the one that counts."""

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
        """Each, and how many of its turns were spoken, repeated ones counted again."""
        with self._lock:
            given = [
                {"model": each.model, "where": each.where, "turns": len(each.turns), "spoken": told}
                for each, told in zip(self._given, self._played, strict=True)
            ]
        return {"scripts": given}

    def has(self, conversation: Conversation) -> bool:
        with self._lock:
            return any(script.fits(conversation) for script in self._given)

    def reply(self, conversation: Conversation) -> Reply | None:
        """None where no script fits; raises ServiceError where the one that fits can't go on."""
        with self._lock:
            fitting = [n for n, script in enumerate(self._given) if script.fits(conversation)]
            if not fitting:
                return None
            script = self._given[fitting[-1]]
            self._played[fitting[-1]] += 1
        return _spoken(script, conversation)


def _spoken(script: Script, conversation: Conversation) -> Reply:
    number = conversation.answers
    if number >= len(script.turns):
        raise rules.SCRIPT_EXHAUSTED.broken(
            model=script.model, count=len(script.turns), number=number + 1
        )
    turn = script.turns[number]
    _check(turn, conversation)
    blocks: list[Text | ToolUse] = []
    if turn.text:
        blocks.append(Text(text=_filled(turn.text, turn, conversation)))
    for place, use in enumerate(turn.uses):
        given = _filled_in(use.input, turn, conversation)
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


def _filled_in(value: Any, turn: ScriptedTurn, conversation: Conversation) -> Any:
    match value:
        case str():
            return _filled(value, turn, conversation)
        case Mapping():
            return {name: _filled_in(each, turn, conversation) for name, each in value.items()}
        case list() | tuple():
            return [_filled_in(each, turn, conversation) for each in value]
        case _:
            return value


def _filled(text: str, turn: ScriptedTurn, conversation: Conversation) -> str:
    def quoted(match: re.Match[str]) -> str:
        name = match[1]
        if name == _QUESTION:
            return conversation.question
        return _found(name, turn.quotes[name], conversation)

    return _PLACEHOLDER.sub(quoted, text)


def _found(name: str, pattern: str, conversation: Conversation) -> str:
    """Its first group, or all of it; the latest results are searched first."""
    for result in reversed(conversation.results):
        if match := re.search(pattern, result.text):
            return match[1] if match.re.groups else match[0]
    raise rules.SCRIPT_QUOTE.broken(name=name, pattern=pattern)


# Scripts for models over HTTP, at a path that no AWS service has.
#
#     GET     /_simulator/scripts   those that were given, each with how many turns were spoken
#     POST    /_simulator/scripts   {"scripts": [{"model": "anthropic.claude-3-haiku-20240307-v1:0",
#                                   "turns": [{"uses": [{"name": "search", "input": {"query":
#                                   "{{question}}"}}]}, {"text": "Every {{hours}} hours.",
#                                   "quotes": {"hours": "every (\\d+) hours"}}]}]}
#     DELETE  /_simulator/scripts   what GET says, and then none

PATH = "/_simulator/scripts"


class ScriptOrders(BaseModel):
    model_config = _STRICT

    scripts: Annotated[Sequence[Script], Field(min_length=1)]


def order(endpoint: str, *scripts: Mapping[str, Any], key: AccessKey | None = None) -> None:
    """Give the simulator at `endpoint` these; raises urllib.error.HTTPError for what is none."""
    orders.send(endpoint + PATH, {"scripts": scripts}, key)


def served(scripts: Scripts, scope: orders.Message, body: bytes) -> orders.Response:
    def take(body: bytes) -> None:
        scripts.give(*ScriptOrders.model_validate_json(body).scripts)

    return orders.served(scope, body, report=scripts.report, clear=scripts.clear, take=take)
